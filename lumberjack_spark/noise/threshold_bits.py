"""The bits of threshold queries: one word and one comparison of integers each.

A node with count q answers 1 iff its word is below the weight of q, P(bit = 1 | q) in units of
2^-64.  Counts up to the minimum give 0 and counts beyond the table give 1 by rule.
Error      none: the accountant is fed the very weights that are compared here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.noise.stream import WordStream
from lumberjack_spark.privacy.plan import BitTable


def draw_bits(stream: WordStream, counts: NDArray[np.int64], table: BitTable) -> NDArray[np.bool_]:
    """Draw one bit for each count.

    Args:
        stream: source of words, one for each count, drawn whether or not the bit is certain.
        counts: int64[n], exact counts, >= 0.
        table: the bit table of the plan.

    Returns:
        bool[n].
    """
    size = table.weights.size
    words = stream.take(counts.size)
    place = np.clip(counts - (table.minimum_count + 1), -1, size)
    # Place -1 (never 1) and place size (always 1) are rules, not comparisons.
    padded = np.append(table.weights, [np.uint64(0), np.uint64(0)])
    bits: NDArray[np.bool_] = (words < padded[place]) | (place == size)
    return bits
