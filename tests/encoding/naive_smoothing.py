"""Slow, obvious twins of lumberjack_spark.encoding.smoothing."""

import math


def shrunk(counts, prior, sigma, cells, spread):
    """Class rates of one part, drawn towards prior, as the model in the header says."""
    classes = range(len(counts))
    rows = sum(counts)
    noise = sigma**2 * cells
    if rows <= math.sqrt(len(counts) * noise):
        return list(prior)
    # rows is above the noise here, so it is trusted as it is.
    variety = sum(p * (1 - p) for p in prior)
    of_rates = spread * variety
    of_sampling = variety / rows
    of_noise = sum(noise * ((1 - p) ** 2 + (len(counts) - 1) * p**2) for p in prior) / rows**2
    weight = of_rates / (of_rates + of_sampling + of_noise)
    rates = [prior[k] + weight * (counts[k] / rows - prior[k]) for k in classes]
    rates = [max(rate, 0.02 * p, 1e-4) for rate, p in zip(rates, prior, strict=True)]
    return [rate / sum(rates) for rate in rates]
