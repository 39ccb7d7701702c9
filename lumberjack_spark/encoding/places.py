"""Where cells lie in [0, 1], so that a uniform random threshold is a useful split."""

import numpy as np

TOP_CODE = 4095  # few enough codes that the lookup tables of routing stay in the cache


def middles(rows: np.ndarray) -> np.ndarray:
    """Middle of each cell's slot when slots are laid side by side over [0, 1]: float64[n].

    Args:
        rows: float64[n], what each slot holds, >= 0, not all 0.
    """
    ends = np.cumsum(rows)
    found: np.ndarray = (ends - rows / 2) / ends[-1]
    return found


def middles_in_order(rows: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The same when slots are laid in the order of place: float64[n]."""
    order = np.argsort(place, kind="stable")
    found = np.empty(len(rows))
    found[order] = middles(rows[order])
    return found


def whole_codes(places: np.ndarray) -> np.ndarray:
    """Codes of places in [0, 1]: uint16[n]."""
    found: np.ndarray = np.rint(np.clip(places, 0, 1) * TOP_CODE).astype(np.uint16)
    return found


def place_of_rates(rates: np.ndarray, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """By which cells are put in order: float64[n].

    With two classes the rate of the second, so that one threshold parts cells as the best split
    into two groups would (Breiman et al. 1984, section 4.2.2); with more the first principal
    component of the rates.

    Args:
        rates: float64[n, n_classes], class rates of each cell.
        rows: float64[n].
        shares: float64[n_classes], class shares of all rows.
    """
    if len(shares) == 2:
        second: np.ndarray = rates[:, 1]
        return second
    centred = (rates - shares) / np.sqrt(shares)
    weighted = centred * np.sqrt(rows)[:, None]
    direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    # Rounded, so that cells of one pool stay side by side on every machine.
    place: np.ndarray = np.round(centred @ direction, 9)
    return place
