"""User-defined losses: bounds of the conjugate, finite differences, a non-zero infimum."""

import numpy as np
import pytest

from directboost.losses import SampleWeights, SmoothLoss

ROWS = SampleWeights.weighted(np.array([1.0, 2.0, 3.0]), 3, np.array([0, 1, 2]))
FREE = SampleWeights.weighted(np.array([1.0, 2.0, 3.0]), 3, None)


def smoothed_hinge(z):
    """Return 0 above 1, a parabola on [0, 1], a line below 0."""
    return np.where(z >= 1.0, 0.0, np.where(z <= 0.0, 0.5 - z, 0.5 * (1.0 - z) ** 2))


def smoothed_hinge_slope(z):
    """Return the derivative of the smoothed hinge."""
    return -np.clip(1.0 - z, 0.0, 1.0)


SMOOTHED = SmoothLoss(smoothed_hinge, smoothed_hinge_slope)
#: 2 + exp(-z), which never comes below 2.
LIFTED = SmoothLoss(lambda z: 2.0 + np.exp(-z), lambda z: -np.exp(-z), infimum=2.0)


def test_conjugate_of_the_smoothed_hinge():
    """Theta*(s) = s + s^2/2 on [-1, 0], where flat and linear pieces leave the bracket open."""
    s = -np.array([0.0, 1e-9, 0.25, 0.5, 1.0 - 1e-9, 1.0])
    np.testing.assert_allclose(SMOOTHED.conjugate(s), s + s * s / 2.0, atol=1e-14)


def test_weights_outside_the_domain_have_no_bound():
    """Where Theta* is infinite the dual value is minus infinity, never a number."""
    U = 1.5 * np.repeat(ROWS.c[:, None], 3, axis=1)
    assert SMOOTHED.dual_value(U, ROWS) == -np.inf


def test_lifted_infimum_enters_constant_and_conjugate():
    """P_const is (Theta(0) + (k - 1) infimum) / k pairwise, and Theta*(0) = -infimum."""
    assert LIFTED.constant(ROWS) == pytest.approx((3.0 + 2 * 2.0) / 3)
    assert LIFTED.constant(FREE) == 2.0
    assert LIFTED.conjugate(np.zeros(1))[0] == pytest.approx(-2.0, abs=1e-14)
    assert LIFTED.dual_value(np.zeros((3, 3)), FREE) == pytest.approx(2.0, rel=1e-14)


def test_bound_of_the_lifted_exponential():
    """Theta*(-v) = v log v - v - 2, found by bisection from above."""
    v = 10.0 ** np.arange(-12.0, 7.0)
    exact = v * np.log(v) - v - 2.0
    bound = LIFTED.conjugate(-v)
    np.testing.assert_allclose(bound, exact, rtol=1e-12)
    assert np.all(bound >= exact - 1e-14 * np.abs(exact))


def test_rough_derivatives_give_looser_but_true_bounds():
    """A derivative in steps, as a table would give it, still bounds the conjugate from above."""

    def theta(z):
        knots = np.linspace(-4.0, 4.0, 9)
        return np.interp(z, knots, np.logaddexp(0.0, -knots))

    def slope(z):
        knots = np.linspace(-4.0, 4.0, 9)
        slopes = np.diff(np.logaddexp(0.0, -knots)) / np.diff(knots)
        inside = np.clip(np.searchsorted(knots, z, side="right") - 1, 0, 7)
        return np.where(z >= 4.0, 0.0, np.where(z < -4.0, -1e6, slopes[inside]))

    loss = SmoothLoss(theta, slope, infimum=float(theta(np.array(4.0))))
    s = -np.linspace(0.05, 0.9, 40)
    z = np.linspace(-4.0, 4.0, 80001)
    exact = np.array([np.max(value * z - theta(z)) for value in s])
    bound = loss.conjugate(s)
    assert np.all(bound >= exact - 1e-14)
    np.testing.assert_allclose(bound, exact, atol=1e-9)


def test_curvature_by_finite_differences(rng):
    """Without Theta'' a central difference of Theta' is used; it is never negative."""
    z = rng.uniform(-3.0, 3.0, (3, 3))
    np.testing.assert_allclose(LIFTED.theta_curvature(z), np.exp(-z), rtol=1e-8)
    assert np.all(SMOOTHED.theta_curvature(np.linspace(-2.0, 2.0, 41)) >= 0.0)


def test_positive_slopes_are_cut_off():
    """Theta is non-increasing; a derivative above 0 by rounding does not make U < 0."""
    noisy = SmoothLoss(smoothed_hinge, lambda z: smoothed_hinge_slope(z) + 1e-17)
    assert noisy.negative_gradient(np.full((3, 3), 5.0), FREE).min() >= 0.0
