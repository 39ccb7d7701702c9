"""Figures of held-out rows against their textbook definitions, however rows are cut up."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs._metrics import finish_metrics, metrics_text, partial_metrics


def metrics_of(labels, probability, cuts=()):
    """Figures from the partial sums of pieces of the rows."""
    labels, probability = np.asarray(labels, np.int32), np.asarray(probability, np.float64)
    predicted = probability.argmax(axis=1)
    sums = {}
    for piece in np.split(np.arange(len(labels)), sorted(cuts)):
        pairs = partial_metrics(labels[piece], probability[piece], predicted[piece])
        for cell, value in zip(*pairs, strict=True):
            sums[int(cell)] = sums.get(int(cell), 0.0) + value
    cells = np.array(list(sums), np.int64)
    return finish_metrics(cells, np.array(list(sums.values())), probability.shape[1])


def naive_area(positive, negative):
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    return sum(pairs) / len(pairs) if pairs else math.nan


def naive_mean_area(labels, probability):
    classes = [1] if probability.shape[1] == 2 else range(probability.shape[1])
    areas = [
        naive_area(probability[labels == c, c], probability[(labels != c) & (labels >= 0), c])
        for c in classes
    ]
    known = [area for area in areas if not math.isnan(area)]
    return sum(known) / len(known) if known else None


@st.composite
def scored_rows(draw):
    n_classes = draw(st.integers(2, 4))
    n = draw(st.integers(1, 30))
    # Multiples of 1/64 fall on the edges of bins, so that equals are exactly the equals.
    parts = st.lists(st.integers(0, 64), min_size=n_classes - 1, max_size=n_classes - 1)
    cuts = [sorted(draw(parts)) for _ in range(n)]
    shares = np.array([np.diff([0, *cut, 64]) for cut in cuts]) / 64
    labels = np.array(draw(st.lists(st.integers(-1, n_classes - 1), min_size=n, max_size=n)))
    return labels, shares, draw(st.lists(st.integers(0, n), max_size=3))


@given(scored_rows())
def test_figures_are_those_of_their_definitions_however_rows_are_cut(rows):
    labels, shares, cuts = rows
    found = metrics_of(labels, shares, cuts)
    known = labels >= 0
    true, kept = labels[known], shares[known]
    assert found.rows == len(true) == found.confusion.sum()
    if not len(true):
        assert found.accuracy is found.majority is found.auc is found.log_loss is None
        return
    predicted = kept.argmax(axis=1)
    assert found.accuracy == pytest.approx((predicted == true).mean())
    assert found.majority == pytest.approx(np.bincount(true).max() / len(true))
    for c in range(shares.shape[1]):
        for p in range(shares.shape[1]):
            assert found.confusion[c, p] == ((true == c) & (predicted == p)).sum()
    losses = [-math.log(max(row[c], 2.0**-52)) for row, c in zip(kept, true, strict=True)]
    assert found.log_loss == pytest.approx(sum(losses) / len(losses))
    expected = naive_mean_area(labels, shares)
    assert found.auc == (None if expected is None else pytest.approx(expected))


def test_figures_agree_with_scikit_learn_on_many_rows():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    score = rng.random(5000)
    labels = (rng.random(5000) < score).astype(np.int32)
    found = metrics_of(labels, np.stack([1 - score, score], axis=1))
    assert found.auc == pytest.approx(metrics.roc_auc_score(labels, score), abs=1e-5)
    assert found.log_loss == pytest.approx(metrics.log_loss(labels, score))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, score > 0.5))
    assert (found.confusion == metrics.confusion_matrix(labels, score > 0.5)).all()


def test_a_probability_of_zero_for_the_truth_costs_a_finite_loss():
    found = metrics_of([1], [[1.0, 0.0]])
    assert found.log_loss == pytest.approx(52 * math.log(2))
    assert found.accuracy == 0


def test_one_class_has_no_curve_and_the_json_says_null():
    found = metrics_of([0, 0], [[0.7, 0.3], [0.2, 0.8]]).to_dict()
    assert found["auc"] is None
    assert (found["rows"], found["accuracy"], found["majority"]) == (2, 0.5, 1.0)
    assert found["confusion"] == [[1, 1], [0, 0]]


def test_the_text_shows_accuracy_beside_the_majority_share():
    lines = metrics_text(metrics_of([0, 1, 1], [[1, 0], [0, 1], [1, 0]]), ["no", True]).split("\n")
    assert lines[0].split() == ["accuracy", "0.6667"]
    assert lines[1].split() == ["majority", "share", "0.6667"]
    assert lines[-1].split() == ["True", "1", "1"]
