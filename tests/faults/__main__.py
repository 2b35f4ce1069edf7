"""The experiments with faults in full: `python -m tests.faults kills 60`, `python -m tests.faults altered 200`."""

import sys

from tests.faults import altered, kills

if __name__ == "__main__":
    what, times = sys.argv[1], int(sys.argv[2])
    if what == "kills":
        sys.stdout.write(f"{dict(kills.kill(times))}\n")
    else:
        sys.exit(bool(altered.main(times)))
