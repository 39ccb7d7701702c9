import pytest

from lumberjack_spark.heavy_hitters import levels_of_rounds
from lumberjack_spark.privacy import questions_per_tree

HEIGHTS = range(1, 127)


@pytest.mark.parametrize("height", HEIGHTS)
def test_every_level_is_the_middle_of_one_part(height):
    middles = [part.middle for parts in levels_of_rounds(height) for part in parts]
    assert sorted(middles) == list(range(height))


@pytest.mark.parametrize("height", HEIGHTS)
def test_there_are_one_plus_log2_rounds(height):
    rounds = len(levels_of_rounds(height))
    assert 2 ** (rounds - 1) <= height < 2**rounds
    assert questions_per_tree(height) == rounds


def test_parts_are_those_of_the_paper():
    def parts_of(low, height):
        """Lines 1, 13 and 18 of Algorithm 1."""
        if height >= 1:
            middle = height // 2
            yield low, low + middle, low + height
            yield from parts_of(low + middle + 1, height - middle - 1)
            yield from parts_of(low, middle)

    for height in HEIGHTS:
        scheduled = [tuple(part) for parts in levels_of_rounds(height) for part in parts]
        assert sorted(scheduled) == sorted(parts_of(0, height))


@pytest.mark.parametrize("height", [0, -1, 127, float("nan")])
def test_heights_outside_the_range_are_refused(height):
    with pytest.raises(ValueError, match="height must be in"):
        levels_of_rounds(height)
