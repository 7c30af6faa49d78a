"""Dots for means and deviations."""

import pytest

from directboost.research.experiments.uci import Pairs, draw_pairs


@pytest.mark.parametrize("panels", [1, 3, 4, 7])
def test_any_number_of_sets(panels, tmp_path):
    pairs = Pairs([(0.1, 0.01), (float("nan"), float("nan"))], [(0.2, 0.02), (0.3, 0.0)])
    draw_pairs(["one", "two"], {f"set {n}": pairs for n in range(panels)}, tmp_path / "dots.png")
    assert (tmp_path / "dots.png").stat().st_size > 5_000
