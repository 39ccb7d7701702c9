"""Faults that the audit must catch, planted one at a time."""

from dataclasses import replace

import numpy as np

from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable, GaussianLeaves, NoisePlan


def with_less_leaf_noise(plan: NoisePlan, factor: float) -> NoisePlan:
    """Leaf noise of a smaller scale than the plan says."""
    return replace(plan, leaves=GaussianLeaves(factor * plan.leaves.sigma))


def with_late_bits(plan: NoisePlan, rows: int) -> NoisePlan:
    """The same threshold, but bits start so many rows late: the foot of the table is cut off."""
    bits = plan.bits
    late = BitTable(bits.minimum_count + rows, bits.weights[rows:])
    assert late.threshold == bits.threshold
    return replace(plan, bits=late)


def with_bits_of_a_third(plan: NoisePlan) -> NoisePlan:
    """A table three times as steep about the same middle."""
    bits = plan.bits
    middle = (bits.weights.size - 1) / 2
    kept = [i for i in range(bits.weights.size) if float((i - middle) / 3).is_integer()]
    if not kept:  # the middle lies between two entries
        kept = [i for i in range(bits.weights.size) if float((i - middle) / 3 - 0.5).is_integer()]
    first = round(middle - (len(kept) - 1) / 2)
    return replace(plan, bits=BitTable(bits.minimum_count + first, bits.weights[kept]))


class EachKeyTwice:
    """Gives each fresh key to two fits, one after the other."""

    def __init__(self) -> None:
        self._waiting: NoiseKey | None = None

    def __call__(self) -> NoiseKey:
        if self._waiting is None:
            self._waiting = NoiseKey.fresh()
            return self._waiting
        key, self._waiting = self._waiting, None
        return key


def exact_for_one_class(with_noise, label):
    """A replacement of the leaf noise step that leaves one class without any."""

    def faulty(exact, plan, key, tree):
        noisy = with_noise(exact, plan, key, tree)
        noisy[:, label] = exact[:, label]
        return noisy

    return faulty


def exact_marginals(exact, bins, sigma, key):
    """A replacement of the release of marginals that adds no noise."""
    return exact.reshape(-1, bins.n_classes).astype(np.float64)
