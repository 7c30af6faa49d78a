"""Sparse matrices of scipy give the same model as the dense array."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.oracles import Oracle, PoolOracle
from directboost.plotting.base import read_rows

FORMATS = {
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "lil_matrix": sparse.lil_matrix,
}


def words(m=240, seed=0, missing=False):
    """Draw word counts with columns of all kinds, and classes that depend on them.

    Columns 0 to 11 are rare words; 12 has negative numbers, 13 numbers in most rows, 14 and 15
    are empty, the most common value of 16 is not 0, 17 has many values and 18 numbers in all rows.
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((m, 19))
    X[:, :12] = rng.poisson(0.15, (m, 12))
    X[:, 12] = rng.choice([-2.0, -1.0, 0.0, 1.0], m, p=[0.1, 0.1, 0.7, 0.1])
    X[:, 13] = np.where(rng.random(m) < 0.6, rng.integers(1, 6, m), 0)
    X[:, 16] = np.where(rng.random(m) < 0.8, 3.0, 0.0)
    X[:, 17] = np.where(rng.random(m) < 0.3, rng.normal(size=m), 0.0)
    X[:, 18] = rng.normal(size=m)
    score = X[:, 0] + 2.0 * X[:, 5] - X[:, 12] + 0.5 * (X[:, 13] > 2) + 0.7 * X[:, 18]
    y = np.digitize(score + 0.3 * rng.normal(size=m), [0.0, 1.0])
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.integers(1, 5, m).astype(float)


X, Y, WEIGHT = words()
GAPS = words(missing=True)[0]


def same(dense, sparsely):
    """Assert that two fitted models agree to the bit."""
    assert sparsely.learners_ == dense.learners_
    np.testing.assert_array_equal(sparsely.weights_, dense.weights_)
    assert sparsely.certificate_ == dense.certificate_
    np.testing.assert_array_equal(sparsely.missing_, dense.missing_)
    np.testing.assert_array_equal(sparsely.mean_contributions_, dense.mean_contributions_)


def fit_both(numbers=X, labels=Y, weight=None, make=sparse.csr_array, **settings):
    """Fit the array and the sparse matrix of the same numbers."""
    model = DirectBoostClassifier(**{"nu": 0.02, **settings})
    second = DirectBoostClassifier(**model.get_params(deep=False))
    return model.fit(numbers, labels, weight), second.fit(make(numbers), labels, weight)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_model_of_the_array(name):
    same(*fit_both(make=FORMATS[name]))


@pytest.mark.covering
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("numbers", [X, GAPS], ids=["whole", "missing"])
@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "logistic"},
        {"loss": "hinge", "penalty": "l1", "nu": 0.1},
        {"loss": "exponential", "margin": "one-vs-all", "penalty": "l1,inf"},
        {"loss": "multinomial", "penalty": "l1,inf"},
        {"loss": "squared_hinge", "max_bins": 8},
        {"loss": "logistic", "solver": "prox", "columns_per_round": 1, "max_learners": 12},
        {"loss": "logistic", "max_bins": None},
    ],
    ids=lambda settings: "-".join(str(value) for value in settings.values()),
)
def test_every_problem_gives_the_model_of_the_array(settings, numbers, weight):
    """Losses, margins, penalties and bins; explicit NaN is a missing value."""
    same(*fit_both(numbers, weight=weight, **settings))


def test_norms_without_a_kernel():
    """Edges from dense codes and from lists differ by rounding, and so do the models."""
    dense, model = fit_both(GAPS, penalty=1.5, loss="multinomial")
    np.testing.assert_allclose(model.certificate_.primal, dense.certificate_.primal, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X), rtol=1e-5)


def test_single_precision_and_integers():
    same(*fit_both(X.astype(np.float32)))
    counts = np.abs(X[:, :14]).astype(np.int64)
    same(*fit_both(counts))
    same(*fit_both(counts > 0))


def test_explicit_zeros_are_zeros():
    """A stored 0 of either sign equals an entry that is not stored."""
    stored = sparse.csc_array(X)
    rng = np.random.default_rng(3)
    empty = np.argwhere(X == 0.0)
    rows, columns = empty[rng.choice(len(empty), 300, replace=False)].T
    zeros = np.where(np.arange(300) % 2, 0.0, -0.0)
    coo = stored.tocoo()
    filled = sparse.coo_array(
        (
            np.append(coo.data, zeros),
            (np.append(coo.row, rows), np.append(coo.col, columns)),
        ),
        X.shape,
    )
    assert filled.nnz == stored.nnz + 300
    same(*fit_both(make=lambda _: filled))
    same(*fit_both(make=lambda _: filled.tocsr()))


def test_duplicates_are_summed_on_a_copy():
    """The entries of the user's matrix, and their order, do not change."""
    stored = sparse.csc_array(X)
    data, indices = np.repeat(stored.data / 2.0, 2), np.repeat(stored.indices, 2)
    twice = sparse.csc_array((data, indices, 2 * stored.indptr), X.shape)
    dense, model = fit_both(make=lambda _: twice)
    same(dense, model)
    np.testing.assert_array_equal(model.predict_proba(twice), dense.predict_proba(X))
    assert twice.nnz == 2 * stored.nnz
    np.testing.assert_array_equal(twice.indices, indices)


def test_unsorted_rows():
    stored = sparse.csc_array(X)
    bounds = zip(stored.indptr[:-1], stored.indptr[1:], strict=True)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in bounds])
    mixed = sparse.csc_array((stored.data[order], stored.indices[order], stored.indptr), X.shape)
    same(*fit_both(make=lambda _: mixed))
    assert not mixed.has_sorted_indices


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_wide_indices_and_read_only_buffers(make):
    held = make(X)
    held.indices, held.indptr = held.indices.astype(np.int64), held.indptr.astype(np.int64)
    for buffer in (held.data, held.indices, held.indptr):
        buffer.flags.writeable = False
    dense, model = fit_both(make=lambda _: held)
    same(dense, model)
    np.testing.assert_array_equal(model.decision_function(held), dense.decision_function(X))


@pytest.mark.parametrize("place", [0, 18])
def test_infinite_values_are_rejected(place):
    """In fit, in validation rows and in predict, as for an array."""
    wrong = sparse.csr_array(X)
    column = wrong.tocsc()
    column.data[column.indptr[place]] = -np.inf
    model = DirectBoostClassifier(nu=0.5).fit(X, Y)
    for call in (model.predict, model.explain, lambda bad: model.fit(bad, Y)):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            call(column)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        DirectBoostClassifier(n_iter_no_change=2).fit(wrong, Y, X_val=column, y_val=Y)


@pytest.mark.parametrize(
    ("learner", "numbers"),
    [("stump", X), ("stump", GAPS), ("tree", X), ("tree", GAPS), (DecisionTreeClassifier(), X)],
    ids=["stump", "stump with gaps", "tree", "tree with gaps", "tree of scikit-learn"],
)
def test_predictions_do_not_depend_on_the_format(learner, numbers, monkeypatch):
    """For models fitted to either format, and for rows processed in several parts."""
    monkeypatch.setattr("directboost.arrays._BLOCK_SIZE", 500)
    for model in fit_both(numbers, learner=learner, nu=0.1):
        for make in FORMATS.values():
            held = make(numbers)
            np.testing.assert_array_equal(model.predict(held), model.predict(numbers))
            np.testing.assert_array_equal(model.predict_proba(held), model.predict_proba(numbers))
            scores = model.decision_function(numbers)
            np.testing.assert_array_equal(model.decision_function(held), scores)
        if learner == "stump":
            np.testing.assert_array_equal(model.explain(held), model.explain(numbers))


def test_staged_predictions():
    dense, model = fit_both(columns_per_round=1, max_learners=6)
    for a, b in zip(
        dense.staged_predict(X), model.staged_predict(sparse.csr_array(X)), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    stages = model.staged_decision_function(sparse.csr_array(X))
    for a, b in zip(dense.staged_decision_function(X), stages, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_empty_model():
    dense, model = fit_both(nu=1.0)
    assert model.n_learners_ == 0
    held = sparse.csr_array(X)
    np.testing.assert_array_equal(model.predict_proba(held), dense.predict_proba(X))


def test_zero_weights_and_class_weights():
    """Rows of weight zero are dropped."""
    weight = WEIGHT * (np.arange(Y.size) % 3 > 0)
    same(*fit_both(weight=weight, class_weight="balanced"))


def test_validation_rows():
    settings = {"n_iter_no_change": 2, "nu": 0.01}
    held = sparse.csr_array(X)
    dense = DirectBoostClassifier(**settings).fit(X[::2], Y[::2], X_val=X[1::2], y_val=Y[1::2])
    model = DirectBoostClassifier(**settings)
    model.fit(held[::2], Y[::2], X_val=held[1::2], y_val=Y[1::2])
    same(dense, model)
    assert model.validation_path_ == dense.validation_path_


def test_warm_starts():
    dense, model = fit_both(warm_start=True, nu=0.1)
    same(dense.set_params(nu=0.02).fit(X, Y), model.set_params(nu=0.02).fit(sparse.coo_array(X), Y))


def test_cross_validation():
    settings = {"nus": 5, "nu_min": 0.05, "cv": 3}
    dense = DirectBoostClassifierCV(**settings).fit(X, Y, WEIGHT)
    model = DirectBoostClassifierCV(**settings).fit(sparse.csr_matrix(X), Y, WEIGHT)
    np.testing.assert_array_equal(model.scores_, dense.scores_)
    same(dense, model)


def test_cross_validation_within_a_budget():
    """The path continues with the features of the budget only."""
    model = DirectBoostClassifierCV(nus=5, cv=2, nu_min=0.03, max_features_used=3)
    dense = model.fit(X, Y)
    sparsely = DirectBoostClassifierCV(**model.get_params()).fit(sparse.csr_array(X), Y)
    assert sparsely.n_features_used_ <= 3
    assert sparsely.certificate_.dictionary == dense.certificate_.dictionary
    np.testing.assert_array_equal(dense.weights_, sparsely.weights_)


def test_path():
    dense = directboost_path(X, Y, nus=4, nu_min=0.05)
    path = directboost_path(sparse.csc_matrix(X), Y, nus=4, nu_min=0.05)
    for a, b in zip(dense, path, strict=True):
        same(a, b)
    np.testing.assert_array_equal(path.scores(sparse.csr_array(X), Y), dense.scores(X, Y))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_several_labels(make):
    labels = np.column_stack([Y > 0, Y > 1, X[:, 0] > 0]).astype(int)
    dense = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, labels)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(make(X), make(labels))
    same(dense, model)
    np.testing.assert_array_equal(model.predict_proba(make(X)), dense.predict_proba(X))


def test_costs_and_monotone_constraints():
    """Parameters by feature name: x0, x1, ..."""
    same(*fit_both(feature_costs={"x0": 3.0}))
    same(*fit_both(monotonic_cst={"x5": (2, 1), "x18": (2, 1)}))


def test_plots_read_the_columns_they_show():
    model = DirectBoostClassifier(nu=0.1).fit(X, Y)
    for held in (X, sparse.csr_array(X)):
        np.testing.assert_array_equal(read_rows(model, held, [18, 5]), X[:, [18, 5]])


def test_in_a_pipeline():
    """A vectorizer returns a sparse matrix."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [("red " if label else "blue ") * (1 + i % 3) + "car" for i, label in enumerate(Y > 0)]
    clf = make_pipeline(CountVectorizer(), DirectBoostClassifier(nu=0.1)).fit(texts, Y > 0)
    assert clf.score(texts, Y > 0) == 1.0


@pytest.mark.parametrize(
    "learner",
    [DecisionTreeClassifier(max_depth=2), LogisticRegression(C=0.1), "tree"],
    ids=["tree of scikit-learn", "regression", "tree"],
)
def test_other_learners(learner):
    """Other learners that accept a sparse X give similar models."""
    dense, model = fit_both(learner=learner, nu=0.1)
    assert model.certificate_.converged
    held = sparse.csr_array(X)
    np.testing.assert_allclose(model.certificate_.primal, dense.certificate_.primal, rtol=0.02)
    np.testing.assert_array_equal(model.predict(held), model.predict(X))


def test_pool_of_sparse_responses():
    """Weak classifiers that abstain on most rows."""
    responses = np.clip(X[:, :13], -1.0, 1.0)
    dense, model = fit_both(responses, learner=PoolOracle())
    np.testing.assert_allclose(model.certificate_.primal, dense.certificate_.primal, rtol=1e-6)
    held = sparse.csr_array(responses)
    np.testing.assert_allclose(model.decision_function(held), model.decision_function(responses))
    with pytest.raises(ValueError, match=r"X holds 2.0 in column 0: .* \[-1, 1\]"):
        DirectBoostClassifier(learner=PoolOracle()).fit(2.0 * held, Y)


class DenseOnly(Oracle):
    """A custom oracle that does not accept sparse matrices."""

    def start(self, data):
        """Fail: it must not be called."""
        raise AssertionError(data)

    def price(self, A, penalty, rule="exact"):
        """Fail: it must not be called."""
        raise AssertionError(A)


@pytest.mark.parametrize("learner", [GaussianNB(), DenseOnly()], ids=["naive Bayes", "own"])
def test_learners_that_need_dense_arrays_are_rejected(learner):
    model = DirectBoostClassifier(learner=learner)
    assert not model.__sklearn_tags__().input_tags.sparse
    with pytest.raises(ValueError, match=r"learner=.*sparse X: pass X.toarray\(\), or use another"):
        model.fit(sparse.csr_array(X), Y)


def test_tags():
    assert DirectBoostClassifier().__sklearn_tags__().input_tags.sparse
    assert DirectBoostClassifierCV().__sklearn_tags__().input_tags.sparse
    assert DirectBoostMultiLabelClassifier(learner="tree").__sklearn_tags__().input_tags.sparse


def test_threads_do_not_change_the_model():
    first, second = (
        DirectBoostClassifier(nu=0.01, n_jobs=n).fit(sparse.csr_array(X), Y) for n in (1, 2)
    )
    same(first, second)


@st.composite
def columns(draw):
    """Draw a matrix with columns from empty to full, weights and classes."""
    m = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = draw(
        st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.6, 0.95, 1.0]), min_size=1, max_size=6)
    )
    values = rng.choice([-2.5, -1.0, 0.0, 0.5, 1.0, 7.0, np.nan], (m, len(shares)))
    numbers = np.where(rng.random(values.shape) < shares, values, 0.0)
    weight = rng.choice([0.25, 0.5, 1.0, 2.0], m)
    return numbers, np.arange(m) % 3, weight if draw(st.booleans()) else None


@given(columns(), st.sampled_from([None, 2, 3, 255]))
def test_arbitrary_matrices_give_the_model_of_the_array(drawn, max_bins):
    """The codes, and therefore the model and its certificate, are equal."""
    numbers, labels, weight = drawn
    dense, model = fit_both(numbers, labels, weight, max_bins=max_bins, nu=0.1)
    same(dense, model)
    assert dataclasses.asdict(model.certificate_) == dataclasses.asdict(dense.certificate_)
