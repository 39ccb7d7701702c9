"""Slow, obvious twins of the privacy game: no grid, no outline, no padding."""

import math
from itertools import pairwise

import numpy as np


def hockey_stick(ratio, favoured, other):
    """sup_S P(S) - l Q(S) of two probability vectors."""
    return float(np.maximum(np.asarray(favoured) - ratio * np.asarray(other), 0.0).sum())


def value(ratio, pairs, steps, last):
    """W_steps(l) by recursion: pairs of (P, 1 - P, Q, 1 - Q), last(l) is W_0."""
    if steps == 0:
        return last(ratio)
    best = value(ratio, pairs, steps - 1, last)
    for high, high_rest, low, low_rest in pairs:
        total = 0.0
        for mass, other in ((high, low), (high_rest, low_rest)):
            if mass > 0:
                total += mass * value(ratio * other / mass, pairs, steps - 1, last)
        best = max(best, total)
    return best


def pairs_of(table, direction):
    """All pairs of a bit table as (P, 1 - P, Q, 1 - Q), from exact integers."""
    words = [0, *(int(word) for word in table.weights), 2**64]
    pairs = []
    for low, high in pairwise(words):
        add = (high / 2**64, (2**64 - high) / 2**64, low / 2**64, (2**64 - low) / 2**64)
        pairs.append(add if direction == "add" else (*add[2:], *add[:2]))
    return pairs


def nothing_left(ratio):
    """W_0 of an empty last stage."""
    return max(0.0, 1.0 - ratio)


def discrete_gaussian_delta(ratio, sigma, draws):
    """W of `draws` discrete Gaussian values that all move by 1, over their joint law."""
    reach = math.ceil(14 * sigma)
    support = np.arange(-reach, reach + draws + 1)
    base = np.exp(-(support**2) / (2 * sigma**2))
    base /= base.sum()
    moved = np.exp(-((support - 1) ** 2) / (2 * sigma**2))
    moved /= moved.sum()
    favoured, other = np.ones(1), np.ones(1)
    for _ in range(draws):
        favoured, other = np.outer(favoured, moved).ravel(), np.outer(other, base).ravel()
    return hockey_stick(ratio, favoured, other)
