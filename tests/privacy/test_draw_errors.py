"""What the accountant charges for rounded draws covers what the samplers say about theirs."""

import pytest

from lumberjack_spark.noise.discrete_gaussian import discrete_gaussian_sampler
from lumberjack_spark.noise.label_choice import label_choice_total_variation
from lumberjack_spark.privacy.release import gaussian_draw_error, label_draw_error


@pytest.mark.parametrize("sigma", [0.25, 1.0, 4.0, 37.65, 511.3, 2048.0, 2048.1, 22476.0, 3e5])
def test_gaussian_draws_are_charged_in_full(sigma):
    assert discrete_gaussian_sampler(sigma).total_variation <= gaussian_draw_error(sigma)


@pytest.mark.parametrize("classes", [2, 3, 10, 128, 129, 2**20])
def test_label_draws_are_charged_in_full(classes):
    assert label_choice_total_variation(classes) <= label_draw_error(classes)
