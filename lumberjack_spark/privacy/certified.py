"""A release with the delta that the game found for it, on its way to a plan.

Units      counts in rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.privacy.plan import BitTable, NoisePlan
from lumberjack_spark.privacy.release import Release
from lumberjack_spark.privacy.request import PlanRequest

# Stands for the bits where only the noise of the other stages is looked at.
NO_BITS = BitTable(0, np.empty(0, np.uint64))


@dataclass(frozen=True, eq=False)
class CertifiedRelease:
    """A release, the delta that was evaluated for it, and the parameters it was made from."""

    release: Release
    delta: float
    notes: Mapping[str, float | str]

    def to_plan(self, request: PlanRequest) -> NoisePlan:
        """The plan that answers the request.

        Raises:
            ValueError: the certified delta is above the requested one.
        """
        if self.release.leaves is None:
            raise ValueError("leaves must be planned, got none")
        bits = self.release.bits
        facts: dict[str, float | str] = {
            "leaf_share": request.leaf_share,
            "kept_for_certain": bits.certain_count,
            "largest_num_classes": request.num_classes,
            "proof": "lumberjack_spark/privacy/PROOF.md",
        }
        return NoisePlan(
            bits=bits,
            leaves=self.release.leaves,
            marginals=self.release.marginals,
            guarantee=request.guarantee,
            certified_delta=self.delta,
            accountant=request.accountant,
            num_trees=request.num_trees,
            max_depth=request.max_depth,
            questions=request.questions,
            notes={**facts, **self.notes},
        )
