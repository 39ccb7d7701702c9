import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.encoding import StepCodes
from lumberjack_spark.encoding import codes as codes_module


def naive_code(step_codes: StepCodes, value: float) -> int:
    if np.isnan(value):
        return step_codes.missing
    return int(step_codes.codes[sum(edge <= value for edge in step_codes.edges)])


EDGES = st.lists(
    st.one_of(st.integers(-50, 50).map(float), st.floats(-50, 50)), max_size=12, unique=True
)
WHOLE = st.integers(-200, 200).map(float)
ANY = st.one_of(WHOLE, st.floats(-1e9, 1e9), st.just(float("nan")))


@given(EDGES, st.one_of(st.lists(WHOLE, min_size=1), st.lists(ANY, min_size=1)))
def test_a_number_has_the_code_of_its_step(edges, values):
    edges = np.sort(np.array(edges, np.float64)) + 0.0
    step_codes = StepCodes(edges, np.arange(len(edges) + 1, dtype=np.uint16) * 3, 7)
    expected = [naive_code(step_codes, value) for value in values]
    assert step_codes.of(np.array(values, np.float64)).tolist() == expected


def test_whole_numbers_are_looked_up_and_others_searched(monkeypatch):
    edges = np.array([0.5, 10.0, 10.25])
    step_codes = StepCodes(edges, np.arange(4, dtype=np.uint16), 9)
    values = np.array([-1e6, 0.0, 1.0, 10.0, 11.0, 1e6])
    expected = step_codes.of(values).tolist()
    assert expected == [0, 0, 1, 2, 3, 3]
    assert step_codes._codes_of_whole is not None
    monkeypatch.setattr(codes_module, "MOST_WHOLE_NUMBERS", 1)
    searched = StepCodes(edges, np.arange(4, dtype=np.uint16), 9)
    assert searched.of(values).tolist() == expected
    assert searched._codes_of_whole is None
