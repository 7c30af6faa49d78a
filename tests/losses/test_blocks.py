"""The objective is evaluated in blocks of rows, with the same result as for all rows at once."""

from dataclasses import replace
from math import fsum

import numpy as np
import pytest

from directboost.losses import LOSSES, SampleWeights
from directboost.losses.base import entropy
from directboost.margins import MARGINS, Pairwise
from directboost.penalties import PENALTIES
from directboost.problem.objective import Objective, row_blocks

M, K = 9000, 3


def problem(name, margin_name, rng):
    margin = MARGINS[margin_name].from_codes(rng.integers(0, K, M).astype(np.int32), K)
    rows = SampleWeights.weighted(rng.random(M) + 0.1, K, margin.true_class)
    return Objective(margin, LOSSES[name](), PENALTIES["l1,2"](), 0.01, rows)


PAIRS = [(n, m) for n in LOSSES for m in MARGINS if m in LOSSES[n].margins]


@pytest.mark.parametrize(("name", "margin_name"), PAIRS)
def test_blocks_give_the_objective_of_all_rows(name, margin_name, rng):
    objective = problem(name, margin_name, rng)
    margin, loss, rows = objective.margin, objective.loss, objective.rows
    F = rng.normal(size=(M, K))
    rho = margin.forward(F)
    U = loss.negative_gradient(rho, rows)
    assert objective.loss_value(F) == pytest.approx(loss.value(rho, rows), rel=1e-13)
    np.testing.assert_allclose(objective.negative_gradient(F), U, rtol=1e-14)
    np.testing.assert_allclose(objective.coefficients(U), margin.adjoint(U), rtol=1e-14)
    whole = loss.dual_value(loss.shrink(U, 0.5, rows), rows)
    assert objective.dual_bound(U, 0.02) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(("name", "margin_name"), PAIRS)
def test_the_bound_from_blocks_is_below_the_exact_dual(name, margin_name, rng):
    objective = problem(name, margin_name, rng)
    loss, rows = objective.loss, objective.rows
    U = objective.negative_gradient(rng.normal(size=(M, K)))
    terms = loss.dual_terms(loss.shrink(U, 0.5, rows), rows)
    assert objective.dual_bound(U, 0.02) <= fsum(terms.ravel())


@pytest.mark.parametrize(("name", "margin_name"), PAIRS)
def test_the_objective_starts_from_the_start_of_the_loss(name, margin_name, rng):
    objective = problem(name, margin_name, rng)
    expected = objective.loss.start(objective.rows)
    np.testing.assert_allclose(objective.start(np.dtype(np.float64)), expected, rtol=1e-15)
    assert objective.start(np.dtype(np.float32)).dtype == np.float32
    value = objective.loss.start_value(objective.rows)
    assert objective.start_value() == pytest.approx(value, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", LOSSES)
def test_the_start_is_at_scores_of_zero(name, rng):
    margin = Pairwise(rng.integers(0, K, M).astype(np.int32), K)
    rows, loss = SampleWeights.weighted(rng.random(M) + 0.1, K, margin.true_class), LOSSES[name]()
    zero = np.zeros((M, K))
    np.testing.assert_allclose(loss.start(rows), loss.negative_gradient(zero, rows), rtol=1e-15)
    assert loss.start_value(rows) == pytest.approx(loss.value(zero, rows), rel=1e-13, abs=1e-15)


def test_blocks_contain_every_row_once():
    for m in (0, 1, 4096, 4097, 10_000):
        rows = np.concatenate([np.arange(m)[part] for part in row_blocks(m)] + [np.empty(0, int)])
        np.testing.assert_array_equal(rows, np.arange(m))


def test_entropy_is_zero_at_zero():
    np.testing.assert_allclose(entropy(np.array([0.0, 1.0, 0.5])), [0.0, 0.0, 0.5 * np.log(0.5)])


class _Coupled(LOSSES["multinomial"]):
    """A user-defined loss that couples all rows, derived from one that does not."""

    def value(self, rho, weights):
        return float(np.log1p(super().value(rho, weights)))

    def negative_gradient(self, rho, weights):
        return super().negative_gradient(rho, weights) / (1.0 + super().value(rho, weights))


def test_a_derived_loss_does_not_count_as_additive(rng):
    objective = replace(problem("multinomial", "pairwise", rng), loss=_Coupled())
    F = rng.normal(size=(M, K))
    whole = objective.loss.value(objective.margin.forward(F), objective.rows)
    assert objective.loss_value(F) == whole
    assert LOSSES["logistic"].is_additive()
    assert not LOSSES["exponential"].is_additive()
