"""Private parts of Inspect that the dinner needs.

Importing them by name fails loudly if they ever move, unlike a seat that silently loses the run's temperature.
"""

from inspect_ai.approval._apply import have_tool_approval
from inspect_ai.event import InfoEvent
from inspect_ai.log import transcript
from inspect_ai.model._generate_config import active_generate_config

__all__ = ["Card", "active_generate_config", "have_tool_approval"]


class Card:
    """A card in the transcript that can be rewritten, so that the first one can say how the game ended.

    Inspect updates a model's event the same way when its reply arrives.
    """

    def __init__(self, text: str, source: str) -> None:
        """Inserts the card at the current position of the transcript.

        Args:
            text: The text, in Markdown.
            source: The source named by the event.
        """
        self._event = InfoEvent(source=source, data=text)
        transcript()._event(self._event)

    def rewrite(self, text: str) -> None:
        """Replaces the text."""
        self._event.data = text
        transcript()._event_updated(self._event)
