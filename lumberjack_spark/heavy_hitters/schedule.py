"""Which levels Algorithm 1 asks about, and when: a fixed schedule that no data can change.

The algorithm asks about the middle level of a tree, then does the same with the part below and with
the part above, so the levels 0..height-1 form a binary search tree.  Its depth, 1 + floor(log2
height), bounds the questions that contain any one row.
Source     Algorithm 1 and Lemma 3 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

LARGEST_HEIGHT = 126


class Part(NamedTuple):
    """A band of levels low..high-1 and the level in it that is asked about."""

    low: int
    middle: int
    high: int


def levels_of_rounds(height: int) -> tuple[tuple[Part, ...], ...]:
    """Return the parts of each round; all parts of a round may be asked at once.

    Args:
        height: number of levels of the tree, 1..126.

    Returns:
        1 + floor(log2 height) rounds of parts, which have each level as the middle of one part.

    Raises:
        ValueError: height is outside its range.

    >>> [[part.middle for part in parts] for parts in levels_of_rounds(6)]
    [[3], [1, 5], [0, 2, 4]]
    """
    if not 1 <= height <= LARGEST_HEIGHT:
        raise ValueError(f"height must be in 1..{LARGEST_HEIGHT}, got {height!r}")
    rounds = []
    bands = [(0, height)]
    while bands:
        # Height h of a band: the middle is its level floor(h / 2), as in line 1 of Algorithm 1.
        parts = tuple(Part(low, low + (high - low) // 2, high) for low, high in bands)
        rounds.append(parts)
        halves = [half for low, mid, high in parts for half in ((low, mid), (mid + 1, high))]
        bands = [(low, high) for low, high in halves if low < high]
    return tuple(rounds)
