"""The encoder made from released marginals.

Each feature has the codes that its marginals give it. Beside the features stand joint columns:

Scores  sums over features of what each says of a class; see scores
Pairs   what two features say together only; see interactions
Post-processing of released counts: nothing here sees data.
"""

from collections.abc import Sequence

import numpy as np

from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.encoding.joint import PairCodes, ScoreCodes
from lumberjack_spark.encoding.marginals import Marginals
from lumberjack_spark.encoding.places import TOP_CODE
from lumberjack_spark.encoding.scores import score_codes

MOST_SCORES = 5  # one over all features, the others over random parts of them
# Of the score over all features: no scores up to the first, all of them from the second on.
SEPARATION = (0.88, 0.94)
SUBSET_SHARE = 0.6


def private_encoder(marginals: Marginals, pairs: Sequence[PairCodes] = ()) -> FeatureEncoder:
    """Encoder made from released knowledge of the features and of pairs of them."""
    scores = _scores(marginals)
    return FeatureEncoder(marginals.features, (*scores, *pairs), marginals.shares)


def _scores(marginals: Marginals) -> tuple[ScoreCodes, ...]:
    """Score columns; none for one feature, whose own codes say all there is.

    Where the scores say little, what there is to know lies in how features act together, and more
    scores would only crowd the features out of the splits.
    """
    estimates, codes, shares = marginals.estimates, marginals.codes, marginals.shares
    d = len(estimates)
    if d < 2:
        return ()
    every = np.ones(d, np.bool_)
    labels = [1] if len(shares) == 2 else [int(k) for k in np.argsort(-shares, kind="stable")]
    first = score_codes(estimates, codes, shares, label=labels[0], use=every, top=TOP_CODE)
    low, high = SEPARATION
    wanted = round(MOST_SCORES * min(max((first.separation - low) / (high - low), 0.0), 1.0))
    if wanted == 0:
        return ()
    if len(labels) == 1:
        rest = [(1, _subset(d, index)) for index in range(wanted - 1)]
    else:
        rest = [(label, every) for label in labels[1:wanted]]
    return first, *(
        score_codes(estimates, codes, shares, label=label, use=use, top=TOP_CODE)
        for label, use in rest
    )


def _subset(d: int, index: int) -> np.ndarray:
    """A fixed part of the features that looks random: bool[d], never empty."""
    mixed = (np.arange(d) + 1) * 0x9E3779B1 * (2 * index + 3) % 2**32
    use: np.ndarray = mixed < SUBSET_SHARE * 2**32
    return use if use.any() else np.ones(d, np.bool_)
