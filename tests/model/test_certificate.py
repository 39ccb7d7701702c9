"""What a certificate states."""

import datetime
import json

import pytest

from lumberjack_spark.encoding import marginal_histograms
from lumberjack_spark.model import certificate_text
from lumberjack_spark.noise import NoiseKey
from tests.small_models import SCHEMA, fit_small, small_plan


@pytest.fixture(scope="module")
def certificate():
    return fit_small(key=NoiseKey.fresh(), warnings=["mind the gap"]).certificate


def test_it_states_the_guarantee(certificate):
    assert certificate["private"] is True
    assert (certificate["epsilon"], certificate["delta"]) == (50.0, 1e-6)
    assert certificate["certified_delta"] <= certificate["delta"]
    assert certificate["neighbors"] == "add_remove"
    assert "row" in certificate["unit"]
    assert "PROOF.md" in certificate["theorem"]


def test_it_names_every_mechanism_with_its_parameters(certificate):
    bits, leaves = certificate["mechanisms"]
    plan = small_plan()
    assert bits["threshold"] == plan.bits.threshold
    assert bits["questions"] == plan.questions
    assert leaves["sigma"] == plan.leaves.sigma
    drawn = fit_small(plan=small_plan(leaf_mode="majority")).certificate["mechanisms"][1]
    assert drawn["mechanism"] == "exponential"


def test_it_names_private_marginals_where_there_are_some():
    plan = small_plan(marginal_share=0.1, histograms=marginal_histograms(SCHEMA))
    marginals, *_ = fit_small(plan=plan).certificate["mechanisms"]
    assert marginals["sigma"] == plan.marginals.sigma


def test_it_lists_what_was_declared_public(certificate):
    public = certificate["declared_public"]
    assert public["schema"] == SCHEMA.to_dict()
    assert (public["seed"], public["num_trees"], public["max_depth"]) == (5, 5, 7)


def test_its_date_is_a_day(certificate):
    datetime.date.fromisoformat(certificate["date"])
    assert len(certificate["date"]) == 10


def test_it_is_plain_json(certificate):
    assert json.loads(json.dumps(certificate, allow_nan=False)) == certificate


def test_people_can_read_it(certificate):
    text = certificate_text(certificate)
    for part in ("(50, 1e-06)-differential", "one row added or removed", "'city'", "mind the gap"):
        assert part in text
    assert "NOT PRIVATE" not in text
