"""What all tests share: the gate for slow tests, cheap evaluations, one thread, hypothesis without a clock."""

import os
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

settings.register_profile("no_clock", deadline=None)
settings.load_profile("no_clock")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds `--runslow`, except where the plugin pytest-inspect-evals is installed, which adds the very same."""
    if not pluginmanager.hasplugin("pytest_inspect_evals"):
        parser.addoption("--runslow", action="store_true", default=False, help="run tests marked slow")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line("markers", "slow: takes long; runs only with --runslow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips slow tests unless they are asked for."""
    if not config.getoption("--runslow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow; runs with --runslow"))
