"""Monotone constraints: optimality, monotone predictions, and invalid constraints."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import KFold

from directboost import DirectBoostClassifier, DirectBoostClassifierCV, directboost_path
from directboost.data.binning import bin_features
from directboost.kernels import native, reference
from directboost.kernels.step_functions import ORDERED, WITH_MISSING
from directboost.kernels.structs import Sweeps
from tests.conftest import make_blobs
from tests.kernels.draws import both, native_test
from tests.kernels.test_solve_block import draw_block
from tests.reference import formulas

DATA = make_blobs(3, m=40, d=3, missing=0.1)
CONSTRAINTS = {0: (2, 1), 1: (0, -1)}


def allowed(k=3):
    """Return which weights CONSTRAINTS allow, by feature, polarity and class."""
    mask = np.ones((4, 2, k))
    for feature, (label, direction) in CONSTRAINTS.items():
        own = np.arange(k) == label
        speaks_for = own if direction > 0 else ~own
        mask[feature, 0], mask[feature, 1] = speaks_for, ~speaks_for
    return mask


def dictionary(X, weight):
    """Return responses, features and polarities (0 for +1, 1 for -1) of all stumps."""
    binned = bin_features(X, weight / weight.max(), None)
    names = [(f, j, s) for f in range(4) for j in range(binned.n_thresholds(f)) for s in (1, -1)]
    H = np.column_stack([binned.response(*name) for name in names])
    return H, np.array([f for f, _, _ in names]), np.array([int(s < 0) for _, _, s in names])


def optimum(loss, margin, p, nu):
    """Return the minimum of the objective over weights that satisfy the constraints."""
    import cvxpy as cp

    H, feature, polarity = dictionary(DATA.X, DATA.s)
    mask = allowed()[feature, polarity]
    W = cp.Variable((H.shape[1], 3), nonneg=True)
    F, c = H @ W, formulas.row_weights(DATA.s, 3)
    terms = []
    for i, label in enumerate(DATA.y):
        for r in range(3):
            rho = F[i, label] - F[i, r] if margin == "pairwise" else (
                F[i, r] if r == label else -F[i, r])  # fmt: skip
            terms.append(c[i] * (cp.logistic(-rho) if loss == "logistic" else
                                 cp.square(cp.pos(1.0 - rho))))  # fmt: skip
    penalty = cp.sum(W) if p == 1.0 else cp.sum(cp.norm(W, p, axis=1))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)) + nu * penalty),
                         [cp.multiply(1.0 - mask, W) == 0.0])  # fmt: skip
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(
    ("loss", "margin", "penalty"),
    [
        ("logistic", "pairwise", "l1,2"),
        ("logistic", "one-vs-all", "l1"),
        ("squared_hinge", "pairwise", "l1,inf"),
        ("logistic", "pairwise", "l1,inf"),
    ],
)
def test_the_optimum_under_constraints(loss, margin, penalty):
    model = DirectBoostClassifier(
        loss=loss, margin=margin, penalty=penalty, nu=0.05, tol=1e-5, max_bins=None,
        monotonic_cst=CONSTRAINTS,
    ).fit(DATA.X, DATA.y, DATA.s)  # fmt: skip
    p = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf}[penalty]
    best = optimum(loss, margin, p, model.nu_)
    proof = model.certificate_
    assert proof.converged
    assert proof.primal == pytest.approx(best, rel=2e-5)
    assert proof.dual <= best * (1.0 + 1e-6)
    assert proof.dictionary == "all stumps, monotone"
    for learner, row in zip(model.learners_, model.weights_, strict=True):
        for feature in learner.features:
            assert not row[allowed()[feature, int(learner.polarity < 0)] == 0.0].any()


def test_scores_are_monotone():
    """Scores of the named class increase with the feature, those of the others decrease."""
    X, y = load_wine(return_X_y=True)
    free = DirectBoostClassifier(nu=0.003).fit(X, y)
    bound = DirectBoostClassifier(nu=0.003, monotonic_cst={3: (1, -1), 9: (1, 1)}).fit(X, y)
    kept = []
    for model in (free, bound):
        for feature, direction in ((3, -1.0), (9, 1.0)):
            rows = np.tile(X[0], (200, 1))
            rows[:, feature] = np.linspace(X[:, feature].min(), X[:, feature].max(), 200)
            steps = direction * np.diff(model.decision_function(rows), axis=0)
            kept.append(bool((steps[:, 1] >= 0.0).all() and (steps[:, [0, 2]] <= 0.0).all()))
    assert kept[2:] == [True, True]
    assert not all(kept[:2])
    assert bound.certificate_.primal >= free.certificate_.dual
    assert bound.score(X, y) > 0.9


def test_two_classes_accept_an_array_as_in_scikit_learn():
    data = load_breast_cancer()
    X = pd.DataFrame(data.data, columns=data.feature_names)
    asked = np.where(np.arange(30) % 3 == 0, -1, 0)
    one = DirectBoostClassifier(nu=0.01, monotonic_cst=asked).fit(X, data.target)
    names = dict.fromkeys(data.feature_names[::3], -1)
    two = DirectBoostClassifier(nu=0.01, monotonic_cst=names).fit(X, data.target)
    np.testing.assert_array_equal(one.weights_, two.weights_)
    rows = np.tile(data.data[5], (100, 1))
    rows[:, 27] = np.linspace(0.0, 0.3, 100)
    chances = one.predict_proba(pd.DataFrame(rows, columns=data.feature_names))[:, 1]
    assert (np.diff(chances) <= 1e-12).all()


def test_paths_folds_and_the_hinge_satisfy_constraints():
    X, y = load_wine(return_X_y=True)
    asked = {3: (1, 1)}
    cv = DirectBoostClassifierCV(nus=4, nu_min=0.05, cv=3, monotonic_cst=asked).fit(X, y)
    path = directboost_path(X, y, nus=3, nu_min=0.05, monotonic_cst=asked)
    hinge = DirectBoostClassifier(loss="hinge", penalty="l1", nu=0.05, monotonic_cst=asked)
    for model in (cv, path[-1], hinge.fit(X, y)):
        assert model.certificate_.dictionary.endswith("monotone")
        assert model.certificate_.converged
        for learner, row in zip(model.learners_, model.weights_, strict=True):
            if learner.features == (3,):
                assert row[1] == 0.0 if learner.polarity < 0 else not row[[0, 2]].any()


def satisfies(model, signs):
    """Return whether all weights of a model satisfy the signs (d, k)."""
    return all(
        not (signs[h.feature] * h.polarity * row < 0.0).any()
        for h, row in zip(model.learners_, model.weights_, strict=True)
        if h.features
    )


@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,3", "l1,inf"])
def test_no_step_violates_a_sign(penalty):
    """With a small penalty and constraints against the data, where long steps are tempting."""
    X, y = load_iris(return_X_y=True)
    asked = {f: (0, 1) if f % 2 else (1, -1) for f in range(4)}
    model = DirectBoostClassifier(nu=0.001, penalty=penalty, monotonic_cst=asked).fit(X, y)
    signs = np.array([[1, -1, 1], [1, -1, -1]] * 2)
    assert model.certificate_.converged
    assert satisfies(model, signs)
    X, y = load_breast_cancer(return_X_y=True)
    model = DirectBoostClassifier(nu=0.001, penalty=penalty, monotonic_cst=[-1] * 30).fit(X, y)
    assert model.certificate_.converged
    assert satisfies(model, np.tile([1, -1], (30, 1)))


def test_a_warm_start_from_an_unconstrained_model_satisfies_signs(rng):
    X = rng.normal(size=(400, 2))
    y = ((X[:, 0] < 0) ^ (rng.random(400) < 0.1)).astype(int)
    warm = DirectBoostClassifier(warm_start=True, nu=0.03).fit(X, y)
    warm.set_params(monotonic_cst=[1, 0]).fit(X, y)
    cold = DirectBoostClassifier(nu=0.03, monotonic_cst=[1, 0]).fit(X, y)
    assert satisfies(warm, np.array([[-1, 1], [0, 0]]))
    assert warm.certificate_.primal >= cold.certificate_.dual


def test_a_fold_without_the_class_of_a_constraint():
    X, y = load_wine(return_X_y=True)
    cv = DirectBoostClassifierCV(nus=3, nu_min=0.1, cv=KFold(3), monotonic_cst={0: (2, 1)})
    assert cv.fit(X, y).certificate_.converged


def test_direction_zero_is_no_constraint():
    X, y = load_breast_cancer(return_X_y=True)
    fits = [DirectBoostClassifier(nu=0.1, monotonic_cst=c).fit(X, y) for c in (None, {0: 0})]
    np.testing.assert_array_equal(fits[0].weights_, fits[1].weights_)


@pytest.mark.parametrize("kind", [ORDERED, WITH_MISSING])
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
@both
def test_block_descent_satisfies_signs(kernels, p, kind, rng):
    """No kernel produces a jump of a forbidden sign, from any allowed start."""
    signs = np.array([1, -1, 0], dtype=np.int8)
    for _ in range(10):
        G, D, old = draw_block(rng, 9, 3, kind)
        jumps = np.where(signs * old < 0, 0.0, old)
        kernels.solve_block(G, D, kind, 0.2, p, Sweeps(3, 4, 1e-3), jumps, signs)
        assert not (signs * jumps < 0.0).any()
        assert jumps[:, 2].min() < 0.0 < jumps[:, 2].max()


@native_test
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_native_and_reference_kernels_agree_on_signs(p, rng):
    signs = np.array([1, -1, 0], dtype=np.int8)
    for _ in range(10):
        G, D, old = draw_block(rng, 9, 3, WITH_MISSING)
        results = []
        for kernels in (native, reference):
            jumps = np.where(signs * old < 0, 0.0, old)
            kernels.solve_block(G, D, WITH_MISSING, 0.2, p, Sweeps(2, 2, 1e-3), jumps, signs)
            results.append(jumps)
        np.testing.assert_allclose(*results, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"monotonic_cst": {0: 1}}, "is invalid for the classes"),
        ({"monotonic_cst": {0: (7, 1)}}, r"\(7, 1\) for 'x0'"),
        ({"monotonic_cst": {0: (1, 2)}}, r"\(1, 2\) for 'x0'"),
        ({"monotonic_cst": {"y": (1, 1)}}, "names features that X does not have: .*'y'"),
        ({"monotonic_cst": {99: (1, 1)}}, r"does not have: \[99\]; it has 'x0'"),
        ({"monotonic_cst": [1, 0]}, "is invalid for 3 features"),
        ({"monotonic_cst": [2, 0, 0]}, "is invalid for 3 features"),
        ({"monotonic_cst": {0: (1, 1)}, "solver": "lbfgsb", "penalty": "l1"}, "'blocks'"),
        ({"monotonic_cst": {0: (1, 1)}, "learner": "tree"}, "requires learner='stump'"),
        ({"monotonic_cst": {0: (1, 1)}, "columns_per_round": 1}, "columns_per_round='auto'"),
        ({"monotonic_cst": {0: (1, 1)}, "categorical_features": [0]}, "have no order: remove it"),
    ],
)
def test_invalid_constraints(parameters, message):
    X = np.nan_to_num(DATA.X).round()
    with pytest.raises(ValueError, match=message):
        DirectBoostClassifier(**parameters).fit(X, DATA.y)
