"""What noisy counts say of the cells of a feature: their share of the rows and their class rates.

Post-processing of released counts. A cell's class rates are drawn towards those of what it is part
of (neighbouring cells for ordered features, all rows for others), the more so the less its own
counts stand out of the noise.

Model      rate of a part = rate of the whole + deviation with variance spread * p (1 - p);
           its noisy estimate has variance p (1 - p) / N + noise / N^2 (empirical Bayes).
Units      counts and noise in rows; sigma is the noise of one (cell, class) count.
"""

from dataclasses import dataclass

import numpy as np

ODDS_VARIANCE = 0.24  # of the log odds of parts about those of the whole
FALSE_ROWS = 0.02  # rows that noise may put into empty cells, as a share of all rows
LEAST_ANYWHERE = 1e-4  # smallest rate of a class at all
LEAST_RATE = 0.02  # smallest rate of a class, as a share of its rate in the whole


@dataclass(frozen=True, eq=False)
class CellEstimate:
    """Estimates for the cells of one feature.

    Attributes:
        rows: float64[n], estimated rows of each cell, >= 0.
        rates: float64[n, n_classes], estimated class shares within each cell, positive.
    """

    rows: np.ndarray
    rates: np.ndarray


def class_totals(counts: list[np.ndarray], sigmas: np.ndarray) -> np.ndarray:
    """Rows of each class: float64[n_classes], >= 1, from the counts of all features.

    Each feature's sum over its cells is one estimate; they are weighted by their precision.
    """
    sums = np.stack([table.sum(axis=0) for table in counts])
    weights = 1 / (np.array([len(table) for table in counts]) * sigmas**2)
    # One noise deviation each: classes are taken as equally frequent where nothing is known.
    deviation = 1 / np.sqrt(weights.sum())
    totals: np.ndarray = np.maximum(weights @ sums / weights.sum(), 1.0) + deviation
    return totals


def estimate_ordered(
    counts: np.ndarray, widths: np.ndarray, sigma: float, totals: np.ndarray
) -> CellEstimate:
    """Cells with an order, in which neighbours are alike.

    Args:
        counts: float64[n, n_classes], noisy counts.
        widths: float64[n], how to spread rows over cells that cannot be told apart.
        sigma: noise of one count.
        totals: float64[n_classes], rows of each class, from all features.
    """
    widths = widths / widths.sum()
    rows = _located_rows(counts.sum(axis=1), widths, sigma * np.sqrt(counts.shape[1]), totals.sum())
    if not rows.any():
        rows = totals.sum() * widths
    seen = rows > 0
    levels = [(counts * seen[:, None], seen.astype(np.float64))]
    while len(levels[-1][0]) > 1:
        counts, cells = levels[-1]
        levels.append((pairs_of(counts), pairs_of(cells)))
    rates = (totals / totals.sum())[None]
    spread = spread_of_odds(rates[0])
    for part, cells in levels[-2::-1]:
        parents = np.repeat(rates, 2, axis=0)[: len(part)]
        # A part without neighbour is its parent, whose rates have used its counts already.
        told = (np.arange(len(part)) < len(part) // 2 * 2) & (cells > 0)
        rates = parents.copy()
        rates[told] = shrunk_rates(part[told], parents[told], sigma, cells[told], spread)
    return CellEstimate(rows, rates)


def _located_rows(counts: np.ndarray, widths: np.ndarray, noise: float, total: float) -> np.ndarray:
    """Rows of each cell, float64[n] >= 0: 0 where nothing stands out of the noise.

    From single cells to ever longer stretches: cells that stand out of the noise are taken at
    their count; those that do not are looked at together with their neighbours, and a stretch that
    stands out is spread over its cells by width. So single values in a wide range are found, and
    smooth densities too.

    Args:
        counts: float64[n].
        widths: float64[n].
        noise: standard deviation of one count.
        total: rows of the table.
    """
    rows, free = np.zeros(len(counts)), np.ones(len(counts), np.bool_)
    stretch = np.arange(len(counts))
    while True:
        n = stretch[-1] + 1
        sums = np.bincount(stretch, counts * free, n)
        deviations = noise * np.sqrt(np.bincount(stretch, free, n))
        limit = _limit_of_false_rows(deviations.sum(), total)
        found = (sums > limit * deviations) & (deviations > 0)
        taken = found[stretch] & free
        rows_a_width = sums / np.maximum(np.bincount(stretch, widths * free, n), 1e-300)
        rows[taken] = (rows_a_width[stretch] * widths)[taken]
        free &= ~taken
        if n == 1:
            return rows
        stretch = stretch // 2


def pairs_of(part: np.ndarray) -> np.ndarray:
    """Sums of neighbours along the first axis; a last one without neighbour stays itself."""
    even = part[::2].copy()
    even[: len(part) // 2] += part[1::2]
    return even


def estimate_unordered(counts: np.ndarray, sigma: float, totals: np.ndarray) -> CellEstimate:
    """Cells without an order; those that drown in noise share their rows and rates.

    Arguments as in estimate_ordered.
    """
    shares = totals / totals.sum()
    n, n_classes = counts.shape
    rows = counts.sum(axis=1)
    noise = sigma * np.sqrt(n_classes)
    limit = noise * _limit_of_false_rows(n * noise, float(totals.sum()))
    everywhere = np.broadcast_to(shares, counts.shape)
    one = np.ones(n)
    spread = spread_of_odds(shares)
    rates = shrunk_rates(counts, everywhere, sigma, one, spread)
    weak = rows <= limit
    if weak.any():
        pooled = counts[weak].sum(axis=0, keepdims=True)
        n_weak = np.array([weak.sum()], np.float64)
        rows = np.where(weak, max(pooled.sum(), 0.0) / n_weak, rows)
        rates[weak] = shrunk_rates(pooled, everywhere[:1], sigma, n_weak, spread)
    return CellEstimate(rows, rates)


def _limit_of_false_rows(total_noise: float, total_rows: float) -> float:
    """Least limit, in noise deviations, above which empty cells seem to hold FALSE_ROWS at most."""
    limits = np.arange(0, 5.25, 0.25)
    # The mean of a standard normal where it is above z, zero elsewhere, is its density at z.
    false_rows = total_noise * np.exp(-(limits**2) / 2) / np.sqrt(2 * np.pi)
    return float(limits[np.argmax(np.append(false_rows[:-1] <= FALSE_ROWS * total_rows, True))])


def shrunk_rates(
    counts: np.ndarray,
    prior: np.ndarray,
    sigma: float,
    cells: np.ndarray,
    spread: float,
) -> np.ndarray:
    """Class rates of parts, drawn towards prior: float64[n, n_classes], positive.

    Args:
        counts: float64[n, n_classes], noisy counts of parts made of cells[i] cells each.
        prior: float64[n, n_classes], rates of what each is part of.
        sigma: noise of one count of one cell.
        cells: float64[n].
        spread: variance of the rates of parts, as a share of p (1 - p).
    """
    n_classes = counts.shape[1]
    rows = counts.sum(axis=1)
    noise = sigma**2 * cells
    trusted = np.maximum(rows, np.sqrt(n_classes * noise))
    variety = 1 - (prior**2).sum(axis=1)
    # Variance of (count_k - prior_k * rows), summed over the classes.
    of_noise = noise * ((1 - prior) ** 2 + (n_classes - 1) * prior**2).sum(axis=1)
    weight = 1 / (1 + 1 / (spread * trusted) + of_noise / (spread * variety * trusted**2))
    raw = (counts - prior * rows[:, None]) / trusted[:, None]
    seen = rows > np.sqrt(n_classes * noise)
    rates = np.where(seen[:, None], prior + weight[:, None] * raw, prior)
    return proper_rates(rates, prior)


def spread_of_odds(shares: np.ndarray, variance: float = ODDS_VARIANCE) -> float:
    """What rates of parts vary by when their log odds vary by this: a share of p (1 - p).

    The slope of p in its log odds is p (1 - p), so rare classes vary less.
    """
    return variance * float(1 - (shares**2).sum()) / 2


def proper_rates(rates: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Positive rates that sum to 1."""
    rates = np.maximum(rates, np.maximum(LEAST_RATE * prior, LEAST_ANYWHERE))
    proper: np.ndarray = rates / rates.sum(axis=1, keepdims=True)
    return proper
