"""What the dinner needs of Inspect and that Inspect does not export.

Importing names fails loudly if they ever move; a seat that silently lost the run's temperature would not.
"""

from inspect_ai.approval._apply import have_tool_approval
from inspect_ai.event import InfoEvent
from inspect_ai.log import transcript
from inspect_ai.model._generate_config import active_generate_config

__all__ = ["Card", "active_generate_config", "have_tool_approval"]


class Card:
    """A card in the transcript that can be rewritten, so that the first one can tell how the game ended.

    Inspect updates a model's event in this way when its reply arrives.
    """

    def __init__(self, text: str, source: str) -> None:
        """Puts the card where the transcript is now.

        Args:
            text: Its Markdown.
            source: The source that the event names.
        """
        self._event = InfoEvent(source=source, data=text)
        transcript()._event(self._event)

    def rewrite(self, text: str) -> None:
        """Replaces its text."""
        self._event.data = text
        transcript()._event_updated(self._event)
