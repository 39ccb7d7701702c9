"""The accountant adds an error per draw to delta; it must cover that of the sampler in use."""

import numpy as np
import pytest

from lumberjack_spark.noise import discrete_gaussian_sampler, label_choice_total_variation
from lumberjack_spark.privacy.release import gaussian_draw_error, label_draw_error


def test_the_accountant_covers_the_error_of_gaussian_draws():
    sigmas = np.geomspace(0.01, 1e7, 50)
    for sigma in [*sigmas, 2048.0, np.nextafter(2048.0, 2049.0), 2049.0]:
        assert discrete_gaussian_sampler(sigma).total_variation <= gaussian_draw_error(sigma)


@pytest.mark.parametrize("num_classes", [2, 3, 4, 5, 64, 65, 10_000])
def test_the_accountant_covers_the_error_of_label_draws(num_classes):
    assert label_choice_total_variation(num_classes) <= label_draw_error(num_classes)
