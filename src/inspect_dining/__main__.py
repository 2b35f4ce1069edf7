"""`python -m inspect_dining`."""

from inspect_dining.cli.main import main

if __name__ == "__main__":
    main(prog_name="python -m inspect_dining")
