"""Ends non-zero unless the newest Inspect log of a folder is of a run in which every sample was played and scored.

`inspect eval` itself ends with status 0 whatever came of the run. Usage: python played.py FOLDER
"""

import sys

from inspect_ai.log import list_eval_logs, read_eval_log

logs = list_eval_logs(sys.argv[1])
if not logs:
    sys.exit(f"No log was written to {sys.argv[1]}.")
log = read_eval_log(logs[0], header_only=True)
results = log.results
if log.status != "success" or results is None or not 0 < results.total_samples == results.completed_samples:
    sys.exit(f"The run ended with status {log.status!r}: see {log.location}")
