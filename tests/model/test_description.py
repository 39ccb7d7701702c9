"""The text of a forest says what its splits do."""

import re

import numpy as np

from lumberjack_spark.encoding import (
    CategoryCodes,
    FeatureEncoder,
    LinearCodes,
    PairCodes,
    StepCodes,
)
from lumberjack_spark.model.description import describe_forest
from lumberjack_spark.trees import Structure
from tests.small_models import SCHEMA, fit_small


def described(column, code, features, *, joint=(), one_of=False):
    kinds = np.zeros(3 + len(joint), np.uint8)
    kinds[column] = one_of
    nodes = np.array([[column, code, ~0, ~1]], np.int32)
    structure = Structure(np.zeros(1, np.int32), nodes, np.array([0, 2]), kinds)
    values = np.array([[0.25, 0.75], [1, 0]], np.float32)
    text = describe_forest(SCHEMA, FeatureEncoder(features, joint), structure, values)
    assert text.count("predict") == 2
    return re.search(r"if (.*)", text).group(1)


LINEAR = LinearCodes(0.0, 100.0, 1, 101, missing=0)
STEPS = StepCodes(np.array([10.0, 20.0]), np.array([1, 2, 3], np.uint16), missing=9)
CITIES = CategoryCodes(np.array([5, 3, 4, 9, 1], np.uint16), one_of=False)
NAMES = CategoryCodes(np.arange(5, dtype=np.uint16), one_of=True)


def test_conditions_are_in_the_features_own_values():
    features = (LINEAR, CITIES, STEPS)
    assert described(0, 50, features) == "('age' < 50 or it is missing)"
    assert described(0, 0, features) == "('age' < 0 or it is missing)"
    assert described(2, 2, features) == "'hours' < 20"
    assert described(1, 4, features) == "'city' in {'Köln', 'Ulm', missing}"
    assert described(1, 2, (LINEAR, NAMES, STEPS), one_of=True) == "'city' is 'Ulm'"


def test_a_condition_on_a_pair_names_both_features():
    groups = np.zeros(102, np.int64), np.zeros(10, np.int64)
    pair = PairCodes(0, 2, groups, np.zeros((1, 1), np.uint16), 3)
    text = described(3, 7, (LINEAR, CITIES, STEPS), joint=(pair,))
    assert text == "('age', 'hours') has a place <= 7"


def test_the_text_of_a_linear_split_is_what_the_code_does():
    codes = LINEAR.of(np.array([49.0, 49.999, 50.0, np.nan]))
    assert (codes <= 50).tolist() == [True, True, False, True]


def test_a_whole_forest_is_told():
    model = fit_small()
    text = model.describe()
    assert text.count("\nTree ") == 5
    assert text.count("predict") == model.structure.num_leaves
