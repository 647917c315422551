"""The choice of bands: known ones, and each against all there are."""

from __future__ import annotations

import numpy as np
import pytest

from cleanpipe.dedup.bands import ABOVE, RECALL, RECALL_ABOVE, candidate_share, choose, least


@pytest.mark.parametrize(
    ("threshold", "num_perm", "chosen"),
    [
        (0.8, 128, (16, 8)),
        (0.8, 256, (25, 10)),
        (0.5, 128, (29, 3)),
        (0.7, 128, (18, 5)),
        (0.9, 128, (9, 12)),
        (1.0, 128, (1, 128)),
        (0.05, 128, (55, 1)),
        (0.8, 3, (3, 1)),
    ],
)
def test_known_choices(threshold: float, num_perm: int, chosen: tuple[int, int]) -> None:
    assert choose(threshold, num_perm) == chosen


@pytest.mark.parametrize("threshold", [0.03, 0.3, 0.55, 0.8, 0.97, 1.0])
@pytest.mark.parametrize("num_perm", [1, 2, 7, 64, 100])
def test_against_all_choices(threshold: float, num_perm: int) -> None:
    """A slow search through all bands and rows, by another quadrature."""
    places = np.linspace(0, threshold, 20_001)
    areas = {
        (bands, rows): np.trapezoid(1 - (1 - places**rows) ** bands, places)
        for rows in range(1, num_perm + 1)
        for bands in range(1, num_perm // rows + 1)
        if 1 - (1 - threshold**rows) ** bands >= RECALL
        and 1 - (1 - min(threshold + ABOVE, 1) ** rows) ** bands >= RECALL_ABOVE
    }
    chosen = choose(threshold, num_perm)
    if not areas:
        assert chosen is None
        assert least(threshold) > num_perm
    else:
        assert chosen is not None
        assert areas[chosen] == pytest.approx(min(areas.values()), rel=1e-4)
        assert least(threshold) <= num_perm


@pytest.mark.parametrize("threshold", [0.001, 0.02, 0.1, 0.5, 0.8, 0.95, 1.0])
def test_the_least_number_of_permutations(threshold: float) -> None:
    number = least(threshold)
    assert choose(threshold, number) is not None
    assert number == 1 or choose(threshold, number - 1) is None


def test_the_curve_is_that_of_random_signatures() -> None:
    agree = np.random.default_rng(3).random((20_000, 16, 8)) < 0.7
    candidate = np.any(np.all(agree, axis=2), axis=1)
    assert np.mean(candidate) == pytest.approx(candidate_share(0.7, 16, 8), abs=0.01)
