"""What the lists of near sources and far nodes are made by."""

import numpy as np
import pytest
from kdegraph.sampling.near_lists import _rough_difference

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("spread", [0.0, 1e-300, 1e-9, 0.1, 1.0, 1.999, 2.0, 3.0, 700.0, np.inf])
def test_the_rough_difference_is_never_too_small_and_hardly_too_large(spread):
    for least in (0.0, 0.3, 0.5 * np.log(2), 5.0, 690.0):
        exact = -np.expm1(-(least + spread - least)) * np.exp(-least)
        rough = _rough_difference(least, least + spread)
        assert exact * (1 - 1e-12) <= rough <= 1.23 * exact
