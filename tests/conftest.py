"""What all tests share: the gate for slow tests, cheap evaluations, one thread, hypothesis without a clock."""

import os
from collections import Counter
from functools import cache

import pytest
from hypothesis import settings
from inspect_ai._display.core import active
from inspect_ai._display.log.display import LogDisplay
from inspect_ai._util import package

# Before torch is imported, and for child processes too. With a thread a core in every worker, the threads of one worker
# wait for those of the other in busy loops: a test of three seconds once took six minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Inspect looks through all installed packages for every task of every evaluation, and draws its live table also where
# nobody sees it (`--display none`): three quarters of a small evaluation's time.
package.packages_distributions = cache(package.packages_distributions)  # type: ignore[attr-defined]  # not exported
active._active_display = LogDisplay()

# No property depends on a clock. `make test-real` tries each on ten times as many examples.
settings.register_profile("fast", deadline=None, max_examples=20)
settings.register_profile("whole", deadline=None, max_examples=200)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds `--runslow`, except where the plugin pytest-inspect-evals is installed, which adds the very same."""
    if not pluginmanager.hasplugin("pytest_inspect_evals"):
        parser.addoption("--runslow", action="store_true", default=False, help="run tests marked slow")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the markers known, and chooses how many examples a property is tried on."""
    config.addinivalue_line("markers", "slow: takes more than a second of CPU; runs only with --runslow")
    config.addinivalue_line("markers", "sampled(count): of its cases only the first `count` are fast, the others slow")
    settings.load_profile("whole" if config.getoption("--runslow") else "fast")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks as slow the cases beyond the sample, and skips slow tests unless they are asked for."""
    seen = Counter[str]()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            function = item.nodeid.split("[")[0]
            seen[function] += 1
            if seen[function] > sampled.args[0]:
                item.add_marker(pytest.mark.slow)
        if "slow" in item.keywords and not config.getoption("--runslow"):
            item.add_marker(pytest.mark.skip(reason="slow; runs with --runslow"))
