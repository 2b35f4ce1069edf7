"""`python -m inspect_dining`."""

from inspect_dining.cli import main

if __name__ == "__main__":
    main(prog_name="python -m inspect_dining")
