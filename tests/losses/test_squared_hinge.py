"""Squared hinge loss: closed forms, and the point where its second derivative jumps."""

import numpy as np
import pytest

from directboost.losses import SampleWeights, SquaredHinge

LOSS = SquaredHinge()


def test_closed_forms():
    """Theta, Theta' and Theta'' by hand, left of, at and right of z = 1."""
    z = np.array([-1.0, 0.0, 1.0, 3.0])
    np.testing.assert_array_equal(LOSS.theta(z), [4.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(LOSS.theta_gradient(z), [-4.0, -2.0, 0.0, 0.0])
    np.testing.assert_array_equal(LOSS.theta_curvature(z), [2.0, 2.0, 0.0, 0.0])


@pytest.mark.paper("Eq. 16")
def test_conjugate_is_the_supremum(rng):
    """Theta*(s) = s + s^2/4 is the largest s z - Theta(z) over a fine grid of z."""
    z = np.linspace(-20.0, 20.0, 400001)
    for s in -rng.uniform(0.0, 10.0, 5):
        expected = np.max(s * z - LOSS.theta(z))
        assert LOSS.conjugate(np.array([s]))[0] == pytest.approx(expected, abs=1e-8)


def test_edges_may_reach_two():
    """At W = 0 the weights of a row sum to twice its share, so edges are bounded by 2, not 1."""
    rows = SampleWeights.weighted(np.ones(4), 3, None)
    assert LOSS.start(rows).sum() == pytest.approx(2.0, rel=1e-14)
