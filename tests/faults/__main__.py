"""The experiments with faults in full.

python -m tests.faults kills 60
python -m tests.faults trainings 40
python -m tests.faults altered 200
"""

import sys

if __name__ == "__main__":
    what, times = sys.argv[1], int(sys.argv[2])
    if what == "kills":
        from tests.faults import kills

        sys.stdout.write(f"{dict(kills.kill(times))}\n")
    elif what == "trainings":
        from tests.faults import trainings

        sys.stdout.write(f"{dict(trainings.kill(times))}\n")
    else:
        from tests.faults import altered

        sys.exit(bool(altered.main(times)))
