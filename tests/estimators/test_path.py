"""Paths of nu: certified at every point, budgets, early stopping, warm starts."""

import io
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, ModelPath, Status, directboost_path
from directboost.callbacks import Progress, TimeLimit
from tests.conftest import make_blobs
from tests.reference.formulas import LOSS_MARGINS

KINDS = [(loss, margin) for loss, margins in LOSS_MARGINS.items() for margin in margins]


@pytest.fixture(scope="module")
def wine():
    """Return training and validation rows."""
    return train_test_split(*load_wine(return_X_y=True), random_state=0)


@pytest.mark.parametrize(("loss", "margin"), KINDS)
def test_every_point_is_the_certified_optimum_of_its_nu(loss, margin):
    """A warm start leads to the same optimum as a fit from nothing."""
    data = make_blobs(3, missing=0.125)
    settings = {"loss": loss, "margin": margin, "penalty": "l1", "tol": 1e-3}
    path = directboost_path(data.X, data.y, nus=6, nu_min=0.01, sample_weight=data.s, **settings)
    assert path[0].n_learners_ == 0
    for model in path:
        proof = model.certificate_
        alone = DirectBoostClassifier(nu=model.nu, **settings).fit(data.X, data.y, data.s)
        assert proof.converged
        assert proof.nu == pytest.approx(alone.certificate_.nu, rel=1e-12)
        assert proof.dual <= alone.certificate_.primal + 1e-12
        assert alone.certificate_.dual <= proof.primal + 1e-12


@pytest.mark.parametrize("solver", ["blocks", "lbfgsb", "prox", "conic"])
def test_every_kind_of_solver_walks_the_path(solver):
    data = make_blobs(3)
    penalty = "l1" if solver == "lbfgsb" else "l1,2"
    path = directboost_path(data.X, data.y, nus=4, nu_min=0.05, solver=solver, penalty=penalty)
    assert all(proof.converged for proof in path.certificates)
    assert (np.diff([proof.primal for proof in path.certificates]) < 0.0).all()


def test_a_path_is_shown_in_one_line(wine):
    """However many models there are; sizes from the smallest to the largest."""
    X, _, y, _ = wine
    path = directboost_path(X, y, nus=12, nu_min=0.01)
    learners, features = path.n_learners.max(), path.n_features_used.max()
    assert (
        repr(path)
        == str(path)
        == (
            f"<ModelPath: 12 models, nu from 1 to 0.01, 0 to {learners} stumps on 0 to {features} "
            "features>"
        )
    )
    tree = directboost_path(X, y, nus=[1.0], learner="tree")
    assert repr(tree) == "<ModelPath: 1 model, nu 1, 0 weak classifiers on 0 features>"
    assert repr(ModelPath([])) == "<ModelPath: no models>"


def test_what_a_path_tells(wine):
    X, X_val, y, y_val = wine
    costs = np.arange(1.0, 14.0)
    path = directboost_path(X, y, nus=[0.5, 0.1, 0.02, 0.1], feature_costs=costs)
    np.testing.assert_allclose(path.nus, [0.5, 0.1, 0.02])
    assert len(path) == len(list(path)) == 3
    np.testing.assert_array_equal(path.n_learners, [m.n_learners_ for m in path])
    np.testing.assert_array_equal(path.n_features_used, [m.features_used_.size for m in path])
    np.testing.assert_allclose(path.costs, [costs[m.features_used_].sum() for m in path])
    expected = [m.score(X_val, y_val) for m in path]
    np.testing.assert_allclose(path.scores(X_val, y_val), expected)
    seconds = [record.seconds for model in path for record in model.history_]
    assert np.all(np.diff(seconds) >= 0.0)


def test_a_path_on_the_absolute_scale(wine):
    X, _, y, _ = wine
    relative = directboost_path(X, y, nus=[0.3, 0.03])
    absolute = directboost_path(X, y, nus=[m.nu_ for m in relative], nu_scale="absolute")
    for a, b in zip(relative, absolute, strict=True):
        np.testing.assert_allclose(a.weights_, b.weights_, rtol=1e-9, atol=1e-12)


def test_a_time_limit_holds_for_the_whole_path(wine):
    X, _, y, _ = wine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = directboost_path(X, y, nus=30, callbacks=TimeLimit(0.0))
    assert len(path) <= 2  # the empty model needs no time
    assert path[-1].status_ is Status.TIME_LIMIT


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nus": 0}, "nus=0"),
        ({"nus": []}, "nus="),
        ({"nus": [0.1, 2.0]}, r"in \(0, 1\]"),
        ({"nus": [0.1, -1.0]}, "nus=-1.0"),
        ({"nu_min": 1.0}, "nu_min=1.0"),
        ({"nu_min": 0.0}, "nu_min=0.0"),
        ({"nu": 0.1}, "pass the points as nus"),
        ({"nu_scale": "absolute"}, "expected a list of points"),
        ({"nu_scale": "foo"}, "nu_scale='foo' is invalid"),
        ({"max_learners": 3}, "max_learners=3 is invalid for a path"),
        ({"max_learners": 3, "columns_per_round": "auto"}, "max_learners=3 is invalid for a path"),
    ],
)
def test_points_that_cannot_serve_are_refused(settings, message, wine):
    with pytest.raises(ValueError, match=message):
        directboost_path(wine[0], wine[2], **settings)


@pytest.mark.parametrize("most", [1, 5, 20])
def test_max_learners_is_kept_to_with_a_proof(most, wine):
    """The model is the certified one of its nu; a slightly smaller nu would break the budget."""
    X, _, y, _ = wine
    model = DirectBoostClassifier(max_learners=most, nu=1e-3).fit(X, y)
    assert model.n_learners_ <= most
    assert model.n_learners_ >= 1 or most == 1
    assert model.certificate_.converged
    assert model.nu_ > 1e-3 * model.nu_max_
    free = DirectBoostClassifier(nu=1e-3).fit(X, y)
    assert free.n_learners_ > most


def test_max_learners_that_nothing_breaks_changes_nothing(wine):
    X, _, y, _ = wine
    model = DirectBoostClassifier(max_learners=10_000, nu=0.1).fit(X, y)
    assert model.nu_ == pytest.approx(0.1 * model.nu_max_, rel=1e-12)


def test_early_stopping_returns_the_best_point_of_the_path(wine):
    X, X_val, y, y_val = wine
    rng = np.random.default_rng(0)
    y = np.where(rng.random(y.size) < 0.2, rng.integers(0, 3, y.size), y)  # noise to overfit
    model = DirectBoostClassifier(n_iter_no_change=3, nu=1e-4)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    nus, losses = np.array(model.validation_path_).T
    assert model.nu_ == pytest.approx(nus[np.argmin(losses)], rel=1e-12)
    assert len(losses) - 1 - np.argmin(losses) == 3
    assert nus[-1] > 1e-4 * model.nu_max_
    assert model.certificate_.converged
    F = model.decision_function(X_val)
    margin = F[np.arange(y_val.size), y_val][:, None] - F
    expected = np.log1p(np.exp(-margin)).sum(axis=1).mean() / 3.0
    assert losses.min() == pytest.approx(expected, rel=1e-9)


def test_validation_weights_equal_repetition(wine):
    X, X_val, y, y_val = wine
    weight = np.random.default_rng(1).integers(0, 3, y_val.size)
    settings = {"n_iter_no_change": 2, "nu": 1e-3}
    weighted = DirectBoostClassifier(**settings).fit(
        X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight
    )
    repeated = DirectBoostClassifier(**settings).fit(
        X, y, X_val=np.repeat(X_val, weight, axis=0), y_val=np.repeat(y_val, weight)
    )
    np.testing.assert_allclose(weighted.validation_path_, repeated.validation_path_, rtol=1e-9)
    np.testing.assert_array_equal(weighted.weights_, repeated.weights_)


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, {"X_val": 1, "y_val": 1}, "must be given together"),
        ({"n_iter_no_change": 3}, {"X_val": 1}, "must be given together"),
        ({"n_iter_no_change": 0}, {"X_val": 1, "y_val": 1}, "n_iter_no_change=0"),
    ],
)
def test_validation_rows_that_do_not_fit_are_refused(settings, given, message, wine):
    X, X_val, y, y_val = wine
    rows = {"X_val": X_val, "y_val": y_val}
    with pytest.raises(ValueError, match=message):
        DirectBoostClassifier(**settings).fit(X, y, **{name: rows[name] for name in given})


def test_patience_without_validation_rows_changes_nothing(wine):
    X, _, y, _ = wine
    plain, patient = DirectBoostClassifier(), DirectBoostClassifier(n_iter_no_change=3)
    np.testing.assert_array_equal(plain.fit(X, y).weights_, patient.fit(X, y).weights_)
    assert not hasattr(patient, "validation_path_")


def test_unknown_parameters_of_a_path_are_named(wine):
    X, _, y, _ = wine
    with pytest.raises(TypeError, match=r"unexpected arguments \['n'\]: expected nus"):
        directboost_path(X, y, n=10)


def test_unknown_validation_labels_are_named(wine):
    X, X_val, y, y_val = wine
    with pytest.raises(ValueError, match=r"y_val has labels that y does not have: \[7\]"):
        DirectBoostClassifier(n_iter_no_change=2).fit(
            X, y, X_val=X_val, y_val=y_val + 7 * (y_val == 0)
        )


def test_a_warm_start_goes_on(wine):
    """It takes fewer rounds than from nothing, at the same nu and at a smaller one."""
    X, _, y, _ = wine
    model = DirectBoostClassifier(nu=0.01, warm_start=True).fit(X, y)
    again = model.n_iter_
    assert model.fit(X, y).n_iter_ < again
    model.set_params(nu=0.008).fit(X, y)
    cold = DirectBoostClassifier(nu=0.008).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert model.certificate_.converged
    assert model.certificate_.dual <= cold.certificate_.primal


@pytest.mark.parametrize("solver", ["blocks", "lp", "conic"])
def test_a_warm_start_on_other_rows_is_still_certified(solver):
    """Thresholds that are gone are replaced by the next ones; missing codes may come and go."""
    first, second = make_blobs(3, missing=0.125), make_blobs(3, seed=5)
    settings = {"loss": "hinge", "penalty": "l1", "nu": 0.05, "solver": solver}
    model = DirectBoostClassifier(warm_start=True, **settings)
    if solver == "conic":
        model.set_params(penalty="l1,2")
    for data in (first, second, first):
        model.fit(data.X, data.y)
        assert model.certificate_.converged


def test_more_rounds_after_a_time_limit(wine):
    X, _, y, _ = wine
    model = DirectBoostClassifier(nu=0.003, warm_start=True, callbacks=lambda r: r.round >= 2)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    gap = model.certificate_.relative_gap
    model.set_params(callbacks=None).fit(X, y)
    assert model.certificate_.relative_gap <= 0.01 < gap


def test_the_scale_of_the_paper(wine):
    X, _, y, _ = wine
    settings = {"loss": "hinge", "penalty": "l1", "nu_scale": "paper"}
    path = directboost_path(X, y, nus=[20.0, 1.0], **settings)
    alone = DirectBoostClassifier(nu=1.0, **settings).fit(X, y)
    assert path[1].nu_ == pytest.approx(alone.nu_, rel=1e-12)
    assert path[1].n_learners_ > 0


def test_one_point_is_the_smallest(wine):
    assert directboost_path(wine[0], wine[2], nus=1, nu_min=0.1).nus.tolist() == [0.1]


def test_the_papers_algorithms_start_anew_at_every_point(wine):
    """Their budget counts generated columns: those of another nu would use it up."""
    X, _, y, _ = wine
    settings = {"columns_per_round": 1, "max_learners": 6, "pricing": "paper", "penalty": "l1"}
    path = directboost_path(X, y, nus=[0.1, 0.01], **settings)
    alone = DirectBoostClassifier(nu=0.01, **settings).fit(X, y)
    np.testing.assert_allclose(path[1].weights_, alone.weights_)
    warm = DirectBoostClassifier(nu=0.1, warm_start=True, **settings).fit(X, y)
    np.testing.assert_allclose(warm.set_params(nu=0.01).fit(X, y).weights_, alone.weights_)


def test_a_warm_start_on_fewer_features(wine):
    X, _, y, _ = wine
    model = DirectBoostClassifier(nu=0.05, warm_start=True).fit(X, y)
    assert model.fit(X[:, :3], y).certificate_.converged


def test_callbacks_are_not_copied(wine):
    """A stream cannot be; and one object sees all points."""
    X, _, y, _ = wine
    stream = io.StringIO()
    path = directboost_path(X, y, nus=3, nu_min=0.1, callbacks=Progress(stream=stream))
    heading, *lines = stream.getvalue().splitlines()
    assert "round" in heading
    assert len({line.split()[0] for line in lines}) == 3
    assert len({id(model.callbacks) for model in path}) == 1


def test_max_learners_does_not_go_with_validation_rows(wine):
    X, X_val, y, y_val = wine
    model = DirectBoostClassifier(max_learners=5, n_iter_no_change=2)
    with pytest.raises(ValueError, match="max_learners=5"):
        model.fit(X, y, X_val=X_val, y_val=y_val)


def test_a_refit_without_validation_rows_forgets_their_path(wine):
    X, X_val, y, y_val = wine
    model = DirectBoostClassifier(n_iter_no_change=2, nu=0.1).fit(X, y, X_val=X_val, y_val=y_val)
    assert not hasattr(model.fit(X, y), "validation_path_")


@pytest.mark.parametrize("settings", [{}, {"max_learners": 1000}])
def test_warnings_point_at_the_code_of_the_user(settings, wine):
    X, _, y, _ = wine
    model = DirectBoostClassifier(nu=1e-3, callbacks=lambda record: True, **settings)
    with pytest.warns(ConvergenceWarning) as seen:
        model.fit(X, y)
    assert seen[0].filename == __file__
