"""Pairs of prompt and reply packed as trees, in which every distinct token is computed once; pure, without torch.

Most of a prompt is text that other prompts begin with too: rules and tools, then the lines of the observation. Sorted
by their ids, the pairs of an update form a trie. The common beginning of all prompts is its prefix. The rest is cut
into rows; a row that begins in the middle of the trie repeats the path to that point. If a row is computed with a mask
that shows each token the prefix, its own ancestors and itself, and with depths as positions, every token gets the same
result as in a separate row (tree attention: Miao et al. 2024, "SpecInfer"; for GRPO: Liu et al. 2025, "Prefix
Grouper").
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from inspect_dining.philosophers.tokens import Ids


@dataclass(slots=True)
class TreeRow:
    """A part of the trie that is computed as one row.

    Attributes:
        ids: The token of every node, depth first.
        depths: The position of every node in its pairs.
        ends: For every node, the index of the first later node that is not below it.
        asked: For every id of a reply in this row: the node that predicts it, the id, and the id's number among all ids
            of all replies, pair by pair.
    """

    ids: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    asked: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tree:
    """Packed pairs.

    Attributes:
        prefix: The common beginning of all prompts; it ends before the last id of any prompt.
        rows: The rows after it.
    """

    prefix: Ids
    rows: tuple[TreeRow, ...]

    @property
    def tokens(self) -> int:
        """The tokens that are computed, without padding."""
        return len(self.prefix) + sum(len(row.ids) for row in self.rows)


def pack(pairs: Sequence[tuple[Ids, Ids]], longest: int) -> Tree:
    """Packs pairs; their order does not matter.

    Args:
        pairs: Prompts and replies, none of them empty.
        longest: The maximum nodes of a row; a single pair with more gets a longer row.
    """
    if not pairs:
        return Tree((), ())
    # The last id of a reply is predicted but never read.
    whole = [prompt + reply[:-1] for prompt, reply in pairs]
    order = sorted(range(len(pairs)), key=lambda number: (whole[number], pairs[number]))
    start = min(_common(whole[order[0]], whole[order[-1]], 0), min(len(prompt) for prompt, _ in pairs) - 1)
    offsets = [0]
    for _, reply in pairs:
        offsets.append(offsets[-1] + len(reply))
    rows: list[TreeRow] = []
    path: list[int] = []
    before: Ids = ()
    for number in order:
        ids, (prompt, reply) = whole[number], pairs[number]
        shared = _common(before, ids, start) if rows else start
        if not rows or len(rows[-1].ids) + len(ids) - shared > longest:
            if rows:
                _leave(rows[-1], path, 0)
            rows.append(TreeRow())
            shared = start
        row = rows[-1]
        _leave(row, path, shared - start)
        for depth in range(shared, len(ids)):
            path.append(len(row.ids))
            row.ids.append(ids[depth])
            row.depths.append(depth)
            row.ends.append(0)
        first = len(prompt) - 1 - start
        row.asked += [(path[first + i], token, offsets[number] + i) for i, token in enumerate(reply)]
        before = ids
    _leave(rows[-1], path, 0)
    return Tree(whole[order[0]][:start], tuple(rows))


def _common(one: Ids, two: Ids, start: int) -> int:
    """The length of the common beginning of two sequences, at least `start`, which is already known."""
    end = min(len(one), len(two))
    while start < end and one[start] == two[start]:
        start += 1
    return start


def _leave(row: TreeRow, path: list[int], depth: int) -> None:
    """Closes the nodes of a path from a depth on."""
    for node in path[depth:]:
        row.ends[node] = len(row.ids)
    del path[depth:]


def batches(rows: Sequence[TreeRow], most: int, most_asked: int) -> list[list[TreeRow]]:
    """Batches of rows of similar length.

    Args:
        rows: The rows.
        most: The maximum tokens of a batch, padding included; a row is never cut.
        most_asked: The maximum nodes of a batch that predict an id of a reply, padding included.
    """
    made: list[list[TreeRow]] = []
    asked = 0
    for row in sorted(rows, key=lambda row: (-len(row.ids), row.ids)):
        here = len({node for node, _, _ in row.asked})
        width = max(asked, here)
        full = made and ((len(made[-1]) + 1) * len(made[-1][0].ids) > most or (len(made[-1]) + 1) * width > most_asked)
        if not made or full:
            made.append([])
            width = here
        made[-1].append(row)
        asked = width
    return made
