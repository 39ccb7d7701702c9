"""Algorithm 1, round by round over sorted arrays.

A node is Heavy if its own bit or that of a node below it was asked and is 1.  For a part of levels
low..high-1 the algorithm asks about the nodes of its middle level whose ancestor at level low-1 is
Heavy and that are not Heavy already; 1 marks the node and its ancestors Heavy, 0 marks the node and
all below it Light.  Here that is one formula per level,

    heavy[middle] = {asked nodes whose bit is 1} | {ancestors of heavy[high]},

since all Heavy nodes below the part hang on level `high`, which an earlier round has settled, and
no later round adds a Heavy node to a settled level.  Light is whatever is not Heavy.
Bits are independent, so a bit drawn for a node that is never asked about is a word nobody read.
Source     Algorithm 1 and Appendix J of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.heavy_hitters import prefixes
from lumberjack_spark.heavy_hitters.prefixes import Keys
from lumberjack_spark.heavy_hitters.schedule import Part, levels_of_rounds

AskPart = Callable[[Part, Keys | None], Keys]


def mark_heavy_hitters(ones: Sequence[NDArray[np.uint64]], height: int) -> list[NDArray[np.uint64]]:
    """Mark the heavy nodes of one tree, given the nodes whose bit is 1.

    Args:
        ones: for each level 0..height-1, the prefixes of the nodes whose bit is 1: uint64[n, W],
            left-aligned, zeros after the first `level` bits, strictly ascending; W = 1 or 2 words,
            the most significant first, height - 1 <= 64 W.  Nodes left out have bit 0.
        height: number of levels of the tree, 1..126.

    Returns:
        For each level the prefixes of the Heavy nodes, in the same form.

    Raises:
        ValueError: height is outside its range, or ones does not have the form above.
    """
    keys = _checked_keys(ones, height)

    def keep_asked(part: Part, parents: Keys | None) -> Keys:
        """Return the 1-bits of the middle level that the algorithm asks about."""
        candidates = keys[part.middle]
        if parents is None:
            return candidates
        heads = prefixes.first_bits(candidates, part.low - 1)
        return candidates[prefixes.contains(parents, heads)]

    return [prefixes.to_codes(level) for level in run_rounds(height, keep_asked)]


def run_rounds(height: int, ask: AskPart) -> list[Keys]:
    """Run Algorithm 1 on one tree.

    Args:
        height: number of levels of the tree, 1..126.
        ask: given a part and the Heavy nodes of level part.low - 1 (None: the part starts at the
            root), the sorted nodes of the middle level below them whose bit is 1.

    Returns:
        For each level the sorted keys of the Heavy nodes.
    """
    heavy: dict[int, Keys] = {}
    for parts in levels_of_rounds(height):
        for part in parts:
            found = ask(part, heavy[part.low - 1] if part.low else None)
            if part.high < height:
                known = prefixes.ancestors(heavy[part.high], part.middle)
                found = prefixes.union(found, known)
            heavy[part.middle] = found
    return [heavy[level] for level in range(height)]


def _checked_keys(ones: Sequence[NDArray[np.uint64]], height: int) -> list[Keys]:
    """Check the form of ones and turn it into keys."""
    if len(ones) != height:
        raise ValueError(f"ones must have {height} levels, got {len(ones)}")
    words = {level.shape[1] if level.ndim == 2 else 0 for level in ones}
    if any(level.dtype != np.uint64 for level in ones) or not (words == {1} or words == {2}):
        raise ValueError("ones must be uint64[n, W] at every level, with the same W of 1 or 2")
    if height - 1 > prefixes.WORD_BITS * min(words):
        raise ValueError(f"ones must have two words per prefix at height {height}, got one")
    keys = [prefixes.to_keys(level) for level in ones]
    if any(not (level[1:] > level[:-1]).all() for level in keys):
        raise ValueError("ones must be strictly ascending at every level")
    return keys
