"""The smoothed hinge: its distance from the hinge, and the dual domain they share."""

import numpy as np
import pytest

from directboost.losses import SampleWeights
from directboost.losses.hinge import Hinge, SmoothedHinge

MARGINS = ["pairwise", "one-vs-all"]


def draw(rng, margin, m=12, k=4):
    """Draw margins and weighted rows."""
    own = rng.integers(0, k, m) if margin == "pairwise" else None
    rows = SampleWeights.weighted(rng.uniform(0.5, 2.0, m), k, own)
    rho = 2.0 * rng.normal(size=(m, k))
    return rho if own is None else rows.set_true_class(rho, np.zeros(m)), rows


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("mu", [1.0, 0.1, 1e-3])
def test_it_exceeds_the_hinge_by_at_most_the_entropy(margin, mu, rng):
    rho, rows = draw(rng, margin)
    excess = SmoothedHinge(mu).value(rho, rows) - Hinge().value(rho, rows)
    most = mu * np.log(rows.k if margin == "pairwise" else 2.0)
    assert -1e-12 <= excess <= most + 1e-12


@pytest.mark.parametrize("margin", MARGINS)
def test_the_weights_are_minus_the_gradient(margin, rng):
    rho, rows = draw(rng, margin)
    loss, step = SmoothedHinge(0.3), 1e-6
    U, direction = loss.negative_gradient(rho, rows), rng.normal(size=rho.shape)
    if rows.true_class is not None:
        rows.set_true_class(direction, np.zeros(rho.shape[0]))
    ahead, back = (loss.value(rho + s * direction, rows) for s in (step, -step))
    assert (back - ahead) / (2.0 * step) == pytest.approx((U * direction).sum(), rel=1e-6)
    bent = loss.negative_gradient(rho - step * direction, rows) - loss.negative_gradient(
        rho + step * direction, rows
    )
    curve = loss.curvature(rho, rows) * direction
    if (
        rows.true_class is not None
    ):  # the second derivative that `simplex` and `sharpness` stand for
        p = U / rows.share[:, None]
        mean = (p * direction).sum(axis=1, keepdims=True)
        curve = loss.sharpness * U * (direction - mean)
    mask = np.ones_like(rho, dtype=bool)
    if rows.true_class is not None:
        mask[np.arange(rho.shape[0]), rows.true_class] = False
    np.testing.assert_allclose(curve[mask], bent[mask] / (2.0 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("margin", MARGINS)
def test_its_weights_bound_the_hinge(margin, rng):
    """U lies in the dual domain of the hinge, and D of the smoothed loss adds the entropy."""
    rho, rows = draw(rng, margin)
    loss = SmoothedHinge(0.2)
    U = loss.negative_gradient(rho, rows)
    unit = rows.c if rows.true_class is None else rows.share
    assert (U >= 0.0).all()
    assert (unit[:, None] - U >= -1e-15).all()
    if rows.true_class is not None:
        np.testing.assert_allclose(U.sum(axis=1), rows.share)
    # Fenchel and Young: L(rho) + <U, rho> = D(U) at the weights of rho.
    assert loss.value(rho, rows) + (U * rho).sum() == pytest.approx(loss.dual_value(U, rows))
    assert Hinge().value(rho, rows) + (U * rho).sum() >= Hinge().dual_value(U, rows) - 1e-12
    assert loss.dual_value(U, rows) >= Hinge().dual_value(U, rows)


@pytest.mark.parametrize("margin", MARGINS)
def test_a_prior_attracts_the_dual_weights(margin, rng):
    """A loss around its own dual weights is as steep as the hinge allows; conjugates match."""
    rho, rows = draw(rng, margin)
    first = SmoothedHinge(0.5)
    U = first.negative_gradient(rho, rows)
    loss = first.around(U, rows, 0.4)
    again = loss.negative_gradient(rho, rows)
    assert loss.value(rho, rows) + (again * rho).sum() == pytest.approx(
        loss.dual_value(again, rows), abs=1e-12
    )
    assert loss.value(rho, rows) <= Hinge().value(rho, rows) + 1e-12
    assert loss.dual_value(U, rows) == pytest.approx(Hinge().dual_value(U, rows), abs=1e-12)


@pytest.mark.parametrize("margin", MARGINS)
def test_proximal_steps_tend_to_the_weights_of_the_hinge(margin, rng):
    """At fixed margins, steps at a constant temperature close the gap of Fenchel and Young."""
    rho, rows = draw(rng, margin)
    loss = SmoothedHinge(0.5)
    gaps = []
    for _ in range(30):
        U = loss.negative_gradient(rho, rows)
        gaps.append(Hinge().value(rho, rows) + (U * rho).sum() - Hinge().dual_value(U, rows))
        loss = loss.around(U, rows, 0.5)
    assert gaps[-1] < 0.05 * gaps[0]
