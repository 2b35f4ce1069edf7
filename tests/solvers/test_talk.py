"""Talk, sight and prompts under Inspect: what a model is asked and what the log shows; the game is that of `play`."""

from pathlib import Path

import pytest
from inspect_ai import eval, task_with
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, GenerateConfig, ModelOutput, get_model

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import PROMPTS, prompt_hash, read_prompt, system_prompt
from inspect_dining.table import Rules, View, episode_seed, play
from inspect_dining.table.game import retrace
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, counted, record_of, run, run_all, samples, says

PROTOCOLS: list[tuple[str, dict[str, str | int]]] = [
    ("announce_yield", {"talk": 2}),
    ("leader_election", {"talk": 3, "seat": "hidden", "hint": "coin"}),
    ("turn_taking", {"talk": 1, "order": "sequential"}),
    ("announce_yield", {"talk": 1, "talk_control": "shuffled"}),
    ("lehmann_rabin", {"hint": "coin", "seat": "hidden", "sight": "neighbours"}),
]


@pytest.mark.slow
def test_talkers_play_under_inspect_the_game_they_play_without(tmp_path: Path) -> None:
    """A message that was lost, bent or late, or a coin keyed by arrival, would part the two."""
    tasks = [
        task_with(philosophers(n=4, episodes=1, rounds=6, **options), model=get_model(f"dining/{name}"))  # type: ignore[arg-type]
        for name, options in PROTOCOLS
    ]
    logs = eval(tasks, display="none", log_dir=str(tmp_path))
    for (name, options), log in zip(PROTOCOLS, logs, strict=True):
        for sample in samples(log):
            rules = Rules(4, 6, **options)  # type: ignore[arg-type]
            assert record_of(sample) == play(rules, name, episode_seed("test", str(sample.id)))


def chatty(view: View, _: GenerateConfig) -> ModelOutput:
    """Says something of every kind, and then takes its left fork or thinks."""
    if view.talk is None or view.talk.number == 0:
        return calls("pick_up_left" if view.round == 1 and view.seat == 0 else "think")
    if view.seat == 1:
        return says(f"<think>they must not know</think>I am *hungry*\n|in| <b>round</b> {view.round} " + "x" * 300)
    if view.seat == 2:
        return calls("eat", text="I eat." if view.round == 2 else "")
    return says("")


def test_a_reply_to_a_request_for_a_message_is_its_text_and_never_an_action(tmp_path: Path) -> None:
    """A call in a message must not move the table, and reasoning is nobody else's to hear."""
    talker = Talker(chatty)
    log = run(philosophers(n=3, episodes=1, rounds=3, talk=1, memory="chat"), talker.model(), tmp_path)
    (sample,) = samples(log)
    record = record_of(sample)
    heard = f"I am *hungry* |in| <b>round</b> 1 {'x' * 300}"[:200]
    assert record.messages[0] == (("", heard, ""),)
    assert record.messages[1][0][2] == "I eat."
    assert [len(tools) for tools in talker.tools] == [6] * len(talker.tools)
    views = [(seat, view) for seat, view, _ in retrace(record)]
    assert sorted(talker.views(), key=str) == sorted((view for _, view in views), key=str)
    for messages in talker.asked:
        open_calls: set[str] = set()
        for message in messages:
            if isinstance(message, ChatMessageTool):
                open_calls.remove(message.tool_call_id or "")
            else:
                assert not open_calls
            if isinstance(message, ChatMessageAssistant):
                assert message.text or message.tool_calls
                open_calls = {call.id for call in message.tool_calls or []}
    cards = [text for text in sample.attachments.values() if "says (1)" in text]
    assert len(cards) == 3
    assert r"I am \*hungry\* \|in\| &lt;b&gt;round&lt;/b&gt; 1 xxx" in cards[0]


def test_without_a_kept_conversation_a_message_is_asked_for_without_tools(tmp_path: Path) -> None:
    """A model that sees tools calls them; memory shows what was said in the turns before."""
    talker = Talker(chatty)
    run(philosophers(n=3, episodes=1, rounds=3, talk=2, memory=1, sight="neighbours"), talker.model(), tmp_path)
    for view, tools, messages in zip(talker.views(), talker.tools, talker.asked, strict=True):
        assert view.talk is not None
        assert len(tools) == (0 if view.talk.number else 6)
        assert len(messages) == 2
        assert messages[1].metadata == {
            "episode": "n03-s0-e000", "epoch": 1, "seat": view.seat, "round": view.round,
        }  # fmt: skip
        assert ("Your turns before:" in messages[1].text) == (view.round > 1)
        assert ('you said "I am *hungry*' in messages[1].text) == (view.round > 1 and view.seat == 1)
        assert "Your left neighbour holds no fork." in messages[1].text or view.seat == 1 or view.round == 1


@pytest.mark.slow
@pytest.mark.parametrize("talk_control", ["none", "shuffled"])
def test_a_game_cut_while_they_talk_leaves_the_account_of_its_whole_rounds(tmp_path: Path, talk_control: str) -> None:
    """An error in a message is an error of the episode and never silence."""

    def broken(view: View, config: GenerateConfig) -> ModelOutput:
        if view.round == 2 and view.seat == 1 and view.talk and view.talk.number == 1:
            raise ConnectionError("gone")
        return counted(chatty(view, config))

    task = philosophers(n=3, episodes=1, rounds=3, talk=1, talk_control=talk_control)  # type: ignore[arg-type]
    log = run(task, Talker(broken).model(), tmp_path, fail_on_error=False)
    (sample,) = samples(log)
    record = record_of(sample)
    assert sample.error is not None
    assert record.ended == "cut: error (ConnectionError)"
    assert len(record.rounds) == (1 if talk_control == "none" else 0)


def test_what_a_run_costs_counts_messages_and_the_other_game(capsys: pytest.CaptureFixture[str]) -> None:
    philosophers(n=5, episodes=10, talk=2)
    assert "at most 4,500 model calls" in capsys.readouterr().err
    philosophers(n=5, episodes=10, talk=2, talk_control="shuffled")
    assert "at most 9,000 model calls" in capsys.readouterr().err


@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_strategy_has_a_prompt_and_a_hash_of_its_own(prompt: str) -> None:
    """Runs with unlike prompts must never be pooled."""
    rules = Rules(5)
    others = [name for name in PROMPTS if name != prompt]
    assert prompt_hash(rules, prompt) not in {prompt_hash(rules, name) for name in others}
    assert ("deadlock" in system_prompt(rules, prompt)) == (prompt != "minimal")
    assert "call a tool" in system_prompt(Rules(5, talk=1), prompt)
    assert "cannot talk" in system_prompt(rules, prompt)


def test_a_prompt_file_is_the_system_prompt_with_the_rules_in_place(tmp_path: Path) -> None:
    """Braces in a prompt broke `str.format` elsewhere."""
    file = tmp_path / "mine.txt"
    file.write_text("Be kind. {rules} {not a field} Call one tool.", encoding="utf-8")
    talker = Talker(chatty)
    tasks = [philosophers(n=3, episodes=1, rounds=3, prompt=prompt) for prompt in (str(file), "minimal")]
    logs = run_all(tasks, talker.model(), tmp_path)
    for log, text in zip(logs, (read_prompt(str(file), []), "minimal"), strict=True):
        assert log.eval.metadata is not None
        assert log.eval.metadata["prompt"] == [prompt_hash(Rules(3, 3), text)]
    system = talker.asked[0][0].text
    assert system.startswith("Be kind. You are a philosopher at a round table.")
    assert system.endswith("{not a field} Call one tool.")
    assert talker.asked[-1][0].text == system_prompt(Rules(3, 3), "minimal")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"prompt": "minmal"}, "Did you mean minimal?"),
        ({"prompt": 3}, "prompt=3 is not accepted"),
        ({"prompt": "EMPTY"}, "holds 0 characters"),
        ({"prompt": "BYTES"}, "cannot be read as UTF-8 text"),
        ({"prompt": "odd_even", "seat": "hidden"}, "refers to the seat number, which seat='hidden' hides"),
        ({"prompt": "resource_order", "seat": "hidden", "hint": "parity"}, "refers to the seat number"),
        ({"talk": -1}, "talk=-1 is not accepted"),
        ({"talk": "much"}, "talk='much' is not accepted"),
        ({"talk_control": "shuffled"}, "needs talk=1 or more"),
        ({"sight": "far"}, "sight='far' is not known; accepted: local, neighbours"),
        ({"seat": 2}, "seat=2 is not known; accepted: shown, hidden"),
        ({"hint": "dice"}, "hint='dice' is not known; accepted: none, parity, coin"),
    ],
)
def test_a_wrong_protocol_gets_one_sentence(arguments: dict[str, object], said: str, tmp_path: Path) -> None:
    (tmp_path / "EMPTY").write_text(" \n", encoding="utf-8")
    (tmp_path / "BYTES").write_bytes(b"\xff\xfe\xfa")
    if arguments.get("prompt") in ("EMPTY", "BYTES"):
        arguments = {"prompt": str(tmp_path / str(arguments["prompt"]))}
    with pytest.raises(BadInput) as refused:
        philosophers(n=3, **arguments)  # type: ignore[arg-type]
    assert said in str(refused.value)
    assert str(refused.value).endswith((".", "?"))
