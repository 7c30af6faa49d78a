"""Several fits in a row: answers between others, the start of the next, and early ends."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier, Status, directboost_path
from directboost.certificate import lower_bound
from directboost.data.validation import feature_costs
from directboost.estimators.path import nu_grid
from directboost.model.names import feature_names
from directboost.training import regularization_path
from directboost.training.regularization_path import certify_start, extrapolate, interpolate
from directboost.training.settings import make_settings
from directboost.training.strategy import solve
from tests.conftest import make_blobs
from tests.solvers.problems import SMOOTH


def opened(X, y, **choices):
    """Return the task of a fit, whose answers keep their dual points."""
    model = DirectBoostClassifier(**choices)
    rows, _ = model._read_training_set(X, y, None)
    costs = feature_costs(None, feature_names(model))
    return model._open_context(make_settings(model), rows, costs)


def kept(task, nu):
    """Return the task at a fraction of nu_max."""
    return replace(task.at(task.from_relative_nu(nu)), keep_dual=True)


def bound(task, U):
    pricing = task.oracle.reprice(task.objective.coefficients(U), task.objective.penalty)
    return pricing.max_price, lower_bound(task.objective, U, pricing.max_price, pricing.rounding)


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
def test_prices_are_convex_and_bounds_concave_between_dual_points(loss, margin, penalty):
    """No price is above nu, and the bound is at least that on the line between the ends."""
    data = make_blobs(3, missing=0.125)
    with opened(data.X, data.y, loss=loss, margin=margin, penalty=penalty) as task:
        ends = [solve(kept(task, nu)) for nu in (0.2, 0.02)]
        here = kept(task, 0.07)
        nus = [0.2, 0.02]
        t = (nus[0] - 0.07) / (nus[0] - nus[1])
        # Ends whose dual points keep to their nu.
        scaled = []
        for nu, end in zip(nus, ends, strict=True):
            price, _ = bound(kept(task, nu), end.state.U)
            shrink = min(1.0, task.from_relative_nu(nu) / price)
            rows = task.objective.rows
            scaled.append(task.objective.loss.shrink(end.state.U, shrink, rows))
        U = (1.0 - t) * scaled[0] + t * scaled[1]
        price, value = bound(here, U)
        values = [bound(kept(task, nu), V)[1] for nu, V in zip(nus, scaled, strict=True)]
        assert price <= here.objective.nu * (1.0 + 1e-9)
        assert value >= (1.0 - t) * values[0] + t * values[1] - 1e-9
        known = interpolate(here, *ends)
        mixed = (1.0 - t) * ends[0].state.U + t * ends[1].state.U
        np.testing.assert_allclose(known.U, mixed, rtol=1e-12, atol=1e-15)


def test_weights_lie_on_a_line_in_the_logarithm_of_nu():
    data = make_blobs(3)
    with opened(data.X, data.y) as task:
        upper, lower = (solve(kept(task, nu)) for nu in (0.2, 0.05))
        half, far = (
            f(kept(task, nu), upper, lower) for f, nu in ((interpolate, 0.1), (extrapolate, 0.0125))
        )
        scores = [end.state.columns.scores(end.state.W) for end in (upper, lower)]
        np.testing.assert_allclose(half.columns.scores(half.W), sum(scores) / 2.0, atol=1e-12)
        signs = {
            f: np.sign(jumps)
            for f, jumps in zip(lower.state.columns.features, lower.state.W, strict=True)
        }
        for feature, jumps in zip(far.columns.features, far.W, strict=True):
            assert jumps.any()
            assert (jumps * signs[feature] >= 0.0).all()


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_answers_between_others_are_certified_optima(loss, margin, tol):
    """Also where they are not good enough at first and have to be solved for."""
    data = make_blobs(3, missing=0.125)
    settings = {"loss": loss, "margin": margin, "tol": tol}
    path = directboost_path(data.X, data.y, nus=9, nu_min=0.05, sample_weight=data.s, **settings)
    np.testing.assert_allclose(path.nus, nu_grid(9, 0.05))
    for model in path:
        proof = model.certificate_
        alone = DirectBoostClassifier(nu=model.nu, **settings).fit(data.X, data.y, data.s)
        assert proof.converged
        assert proof.nu == pytest.approx(alone.certificate_.nu, rel=1e-12)
        assert proof.dual <= alone.certificate_.primal + 1e-12
        assert alone.certificate_.dual <= proof.primal + 1e-12


def test_most_points_of_a_path_are_not_solved_for():
    X, y = load_digits(return_X_y=True)
    path = directboost_path(X, y, nus=15, nu_min=0.05)
    solved = [len(model.history_) > 1 for model in path]
    assert sum(solved) <= 6
    assert all(proof.converged for proof in path.certificates)


def test_an_early_end_leaves_no_point_out():
    """The first point after the last good one is there, with the status of the end."""
    X, y = load_wine(return_X_y=True)
    rounds = []

    def stop(record):
        rounds.append(record)
        return len(rounds) > 6 and record.relative_gap > 0.01

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = directboost_path(X, y, nus=30, callbacks=stop)
    assert 1 < len(path) < 30
    np.testing.assert_allclose(path.nus, nu_grid(30, 1e-3)[: len(path)])
    assert path[-1].status_ is Status.STOPPED
    assert all(model.status_ is Status.OPTIMAL for model in path.models[:-1])


def test_an_interrupt_between_two_answers_ends_the_path(monkeypatch):
    X, y = load_wine(return_X_y=True)
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return certify_start(*arguments)

    monkeypatch.setattr(regularization_path, "certify_start", interrupted)
    path = directboost_path(X, y, nus=30)
    assert path[-1].status_ is Status.INTERRUPTED
    assert len(path) < 30
    np.testing.assert_allclose(path.nus, nu_grid(30, 1e-3)[: len(path)])
    assert path[-1].certificate_.relative_gap < 0.1


@pytest.mark.parametrize("number", [1, 12, 20, 25, 33])
def test_a_single_wish_ends_the_path(number):
    """At the start, in the midst of a solve, at an answer between others: nothing is skipped."""
    X, y = load_wine(return_X_y=True)
    records = []

    def once(record):
        records.append(record)
        return len(records) == number

    with pytest.warns(ConvergenceWarning, match="ended with status 'stopped'") as seen:
        path = directboost_path(X, y, nus=30, callbacks=once)
    assert len(seen) == 1
    assert len(path) < 30
    np.testing.assert_allclose(path.nus, nu_grid(30, 1e-3)[: len(path)])
    assert path[-1].status_ is Status.STOPPED
    assert all(model.status_ is Status.OPTIMAL for model in path.models[:-1])
    assert path[-1].certificate_.nu >= records[number - 1].nu


def test_after_a_wish_what_is_known_is_given_out_and_nothing_is_solved_for():
    """The wish comes with the last record of a solve, which answers between others follow."""
    X, y = load_digits(return_X_y=True)
    whole = directboost_path(X, y, nus=15, nu_min=0.05)
    solved = [place for place, model in enumerate(whole) if len(model.history_) > 1]
    last = next(b for a, b in itertools.pairwise(solved) if b > a + 1)
    end = whole[last].history_[-1]

    def at_its_end(record):
        return record.nu == end.nu and record.round == end.round

    with pytest.warns(ConvergenceWarning, match="models at smaller nus were not fitted"):
        path = directboost_path(X, y, nus=15, nu_min=0.05, callbacks=at_its_end)
    assert len(path) == last + 1
    for a, b in zip(path, whole, strict=False):
        np.testing.assert_array_equal(a.weights_, b.weights_)


@pytest.mark.parametrize(
    "choices", [{}, {"penalty": "l1"}, {"penalty": "l1,inf"}, {"loss": "exponential"}]
)
def test_a_tight_tolerance_on_few_rows(choices):
    """Some answers are finished on single columns, of which no others can be made."""
    X, y = load_wine(return_X_y=True)
    path = directboost_path(X, y, tol=1e-9, **choices)
    np.testing.assert_allclose(path.nus, nu_grid(30, 1e-3))
    assert all(proof.converged for proof in path.certificates)
    assert max(proof.relative_gap for proof in path.certificates) <= 1e-9


@pytest.mark.parametrize("number", [100, 150, 200, 250])
def test_a_stop_where_answers_have_single_columns(number):
    X, y = load_wine(return_X_y=True)
    records = []

    def stop(record):
        records.append(record)
        return len(records) > number

    with pytest.warns(ConvergenceWarning, match="'stopped'"):
        path = directboost_path(X, y, tol=1e-9, callbacks=stop)
    np.testing.assert_allclose(path.nus, nu_grid(30, 1e-3)[: len(path)])
    assert path[-1].status_ is Status.STOPPED
    assert np.isfinite(path[-1].certificate_.relative_gap)


def test_from_nu_max_on_models_are_empty():
    X, y = load_wine(return_X_y=True)
    largest = DirectBoostClassifier().fit(X, y).nu_max_
    nus = largest * np.array([1.5, 1.2, 1.02, 1.0, 0.9, 0.7])
    path = directboost_path(X, y, nus=nus, nu_scale="absolute")
    assert not path.n_learners[nus >= largest].any()
    assert path.n_learners[-1] > 0


@pytest.mark.parametrize("choices", [{"learner": "tree"}, {"loss": "hinge"}, {"solver": "prox"}])
def test_other_searches_solve_for_every_point(choices):
    data = make_blobs(3)
    path = directboost_path(data.X, data.y, nus=7, nu_min=0.2, **choices)
    assert all(proof.converged for proof in path.certificates)
    assert path.n_learners[-1] > 0
