"""How numbers are chosen: by optima down one path, or by short runs."""

from dataclasses import replace

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.research.experiments import measuring, methods


@pytest.fixture
def rows(rng):
    y = np.repeat(np.arange(3), 40)
    return rng.standard_normal((120, 4)) + 1.2 * y[:, None] * np.array([1.0, -1.0, 0.0, 0.0]), y


@pytest.mark.parametrize("method", [methods.GROUP, methods.EXPONENTIAL, methods.MEAN_HINGE],
    ids=lambda m: m.name)  # fmt: skip
def test_judges_are_optima_in_the_order_of_the_grid(method, rows):
    X, y = rows
    grid = (1e-2, 0.1, 1e-3)
    judges = measuring._judges(method.over(grid), X, y, 0)
    assert [judge.nu for judge in judges] == list(grid)
    for nu, judge in zip(grid, judges, strict=True):
        alone = method.judge(0, nu=nu).fit(X, y)
        assert judge.certificate_.relative_gap <= method.judge_tol
        assert judge.nu_ == pytest.approx(alone.nu_)
        low = max(judge.certificate_.dual, alone.certificate_.dual)
        assert low <= min(judge.certificate_.primal, alone.certificate_.primal) + 1e-12


def test_nu_beside_a_sum_and_beside_a_mean(rows):
    """The sum over m rows is m times their mean: so is the nu that regularises as much."""
    for method, rows_of_a_nu in ((methods.HINGE, 120), (methods.MEAN_HINGE, 1)):
        for model in (method.make(5, 0, nu=0.6), method.judge(0, nu=0.6)):
            with measuring.unconverged():
                assert model.fit(*rows).nu_ == pytest.approx(0.6 / rows_of_a_nu)


def test_short_runs_judge_where_there_is_no_optimum(rows):
    judges = measuring._judges(methods.GRAD.over([1e-3, 0.1]), *rows, 0)
    assert [judge.lam for judge in judges] == [1e-3, 0.1]
    assert all(judge.n_iter_ <= methods.JUDGE_ROUNDS for judge in judges)


def test_the_least_error_is_chosen_and_of_equals_the_largest(rows):
    """A nu that leaves the model empty errs on two thirds of the rows; the others hardly differ."""
    X, y = rows
    method = methods.GROUP.over([1e-2, 10.0, 2e-2])
    assert measuring.choose(method, X, y, 0, folds=3) in (1e-2, 2e-2)
    same = replace(method, judge=lambda seed, nu: DirectBoostClassifier(nu=nu, nu_scale="absolute"))
    assert measuring.choose(same.over([5.0, 20.0, 10.0]), X, y, 0, folds=3) == 20.0


def test_nothing_to_choose(rows):
    assert measuring.choose(methods.ECC, *rows, 0) is None
    assert measuring.choose(methods.GROUP.over([0.5]), *rows, 0) == 0.5
