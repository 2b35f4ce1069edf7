"""`python -m inspect_dining VERB`: each verb is imported only when it is used."""

from importlib import import_module
from typing import NamedTuple

import click

from inspect_dining.errors import BadInput


class Verb(NamedTuple):
    """The module and function of a verb, and its one-line help (so that the help imports no room)."""

    module: str
    name: str
    help: str


VERBS = {
    "check": Verb("inspect_dining.cli.check", "check_command", "Is this model ready for a run?"),
    "audit": Verb("inspect_dining.cli.audit", "audit_command", "Is this reward worth optimising?"),
    "ladder": Verb("inspect_dining.cli.ladder", "ladder_command", "What every scripted player scores."),
    "crossplay": Verb("inspect_dining.cli.crossplay", "crossplay_command", "Who can dine with whom?"),
    "compare": Verb("inspect_dining.cli.compare", "compare", "Compare models over their logs."),
    "talk": Verb("inspect_dining.cli.talk", "talk_command", "What talk costs and gains beside silent play."),
    "export": Verb("inspect_dining.cli.export", "export_command", "Write games as one table: CSV or parquet."),
    "report": Verb("inspect_dining.cli.report", "report", "Write one HTML file about some logs."),
    "replay": Verb("inspect_dining.cli.replay", "replay", "Show a game round by round."),
    "plan": Verb("inspect_dining.cli.plan", "plan_command", "How many episodes, calls, tokens, and at what cost."),
    "dpbench": Verb("inspect_dining.cli.dpbench", "dpbench_command", "Score DPBench's results again, beside ours."),
    "models": Verb("inspect_dining.cli.models", "models_command", "How to run each system of the paper."),
}
"""Every verb."""


class Rooms(click.Group):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the table above."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, imported from its room."""
        if cmd_name not in VERBS:
            return None
        verb = VERBS[cmd_name]
        command = getattr(import_module(verb.module), verb.name)
        assert isinstance(command, click.Command), verb
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the verbs in the help without importing their rooms."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Runs a verb; rejected input becomes one sentence and a non-zero exit status."""
        try:
            return super().invoke(ctx)
        except click.ClickException:
            raise
        except ModuleNotFoundError as error:
            raise BadInput(
                f"This verb needs {error.name}, which is not installed: pip install 'inspect-dining[analysis]'."
            ) from error
        except (ValueError, OSError) as error:
            raise BadInput(str(error)) from error


@click.group(cls=Rooms, subcommand_metavar="VERB [ARGS]...", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="inspect-dining")
def main() -> None:
    """A coordination laboratory for LLM agents: audit rewards, read scores, compare models.

    Play with `inspect eval inspect_dining/philosophers`; train with `python -m inspect_dining.training`.
    """
