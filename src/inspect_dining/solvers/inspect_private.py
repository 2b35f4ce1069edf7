"""The two things that the dinner needs of Inspect and that Inspect does not export.

Importing them by name fails loudly if they ever move; a seat that silently lost the run's temperature would not.
"""

from inspect_ai.approval._apply import have_tool_approval
from inspect_ai.model._generate_config import active_generate_config

__all__ = ["active_generate_config", "have_tool_approval"]
