"""Fits on Dask, in this process, against local fits on the same rows."""

import numpy as np
import pytest

from directboost.dask import DaskDirectBoostClassifier
from directboost.losses import SmoothLoss
from tests.dask.dask_data import (
    FRAME,
    GAPS,
    LABELS,
    MANY,
    WEIGHTS,
    WORDS,
    D,
    K,
    M,
    X,
    assert_overlap,
    assert_same_optimum,
    fit_dask,
    fit_local,
    frame_parts,
    in_parts,
)
from tests.reference import formulas

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.usefixtures("small_shards"),
    pytest.mark.filterwarnings("ignore:the fit ended with status 'max_iter'"),
]

SMOOTH = SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)))
EXACT = {"tol": 1e-8}
KINDS = [
    ("logistic", "pairwise"),
    ("logistic", "one-vs-all"),
    ("exponential", "pairwise"),
    ("exponential", "one-vs-all"),
    ("multinomial", "pairwise"),
    ("squared_hinge", "pairwise"),
    ("squared_hinge", "one-vs-all"),
    (SMOOTH, "pairwise"),
    (SMOOTH, "one-vs-all"),
]
SLOW = [("squared_hinge", "pairwise", 1.5), ("exponential", "one-vs-all", 1.5)]
COMBINED = [
    pytest.param(
        loss, margin, p,
        marks=[pytest.mark.slow] if (loss, margin, p) in SLOW else [],
        id=f"{getattr(loss, 'name', loss)}-{margin}-{p}",
    )
    for loss, margin in KINDS
    for p in ("l1", "l1,2", "l1,inf", 1.5)
]  # fmt: skip


@pytest.mark.covering
@pytest.mark.parametrize(("loss", "margin", "penalty"), COMBINED)
def test_the_optimum_is_that_of_the_local_fit(loss, margin, penalty):
    choices = {"loss": loss, "margin": margin, "penalty": penalty, "nu": 0.2, **EXACT}
    far, near = (fit(GAPS, LABELS, WEIGHTS, **choices) for fit in (fit_dask, fit_local))
    assert_same_optimum(far, near)


@pytest.mark.parametrize(
    "choices",
    [
        {"max_bins": None},
        {"max_bins": 255},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0, 1: 0.5, 2: 1.0, 3: 0.0}},
        {"feature_costs": [1.0, 3.0, 0.5, 2.0]},
        {"monotonic_cst": {"x0": (0, -1), "x2": (2, 1)}},
        {"monotonic_cst": {"x0": (0, -1), "x2": (2, 1)}, "margin": "one-vs-all", "nu": 0.3},
        {"nu": 0.05, "nu_scale": "absolute"},
    ],
    ids=str,
)
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
def test_choices(choices, weight):
    choices = {"nu": 0.1, **EXACT, **choices}
    far, near = (
        fit_dask(GAPS, LABELS, weight, **choices),
        fit_local(GAPS, LABELS, weight, **choices),
    )
    assert_same_optimum(far, near)
    np.testing.assert_array_equal(far.classes_, near.classes_)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_empty_model(loss):
    far, near = (fit(GAPS, LABELS, WEIGHTS, nu=1.0, loss=loss) for fit in (fit_dask, fit_local))
    assert far.n_learners_ == near.n_learners_ == 0
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-13)
    np.testing.assert_allclose(far.to_local().predict_proba(X), near.predict_proba(X), rtol=1e-13)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared_hinge"])
@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_the_certificate_states_the_objective_of_the_model(loss, penalty):
    """Loss and penalty are computed by the formulas from the predicted scores."""
    far = fit_dask(GAPS, LABELS, WEIGHTS, loss=loss, penalty=penalty, tol=1e-3)
    kept = WEIGHTS > 0.0
    F, y = far.to_local().decision_function(GAPS[kept]), LABELS[kept]
    c = formulas.row_weights(WEIGHTS[kept], K)
    value = float(formulas.loss_value(loss, formulas.margins(F, "pairwise", y), c, y))
    size = formulas.penalty_value(far.weights_, {"l1": 1, "l1,2": 2}[penalty])
    assert far.certificate_.primal == pytest.approx(value + far.nu_ * size, rel=1e-9)


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
@pytest.mark.parametrize("loss", ["logistic", "exponential", "multinomial", "squared_hinge"])
def test_certified_intervals_overlap(loss, tol):
    far, near = (fit(GAPS, LABELS, loss=loss, tol=tol) for fit in (fit_dask, fit_local))
    assert far.certificate_.converged
    assert far.certificate_.relative_gap <= tol
    assert_overlap(far, near)


def sketched(monkeypatch):
    """Keep few groups in sketches, so that bins differ from those of a local fit."""
    monkeypatch.setattr("directboost.dask.binning._MIN_GROUPS", 2)
    monkeypatch.setattr("directboost.dask.binning.GROUPS_PER_BIN", 3)


@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_bins_that_differ(tol, monkeypatch):
    """The thresholds differ, the optimum hardly does."""
    sketched(monkeypatch)
    far, near = (fit(MANY, LABELS, max_bins=16, tol=tol) for fit in (fit_dask, fit_local))
    thresholds = [
        {(h.feature, h.threshold) for h in model.learners_ if hasattr(h, "threshold")}
        for model in (far, near)
    ]
    assert thresholds[0] != thresholds[1]
    assert far.certificate_.dictionary == near.certificate_.dictionary == "binned stumps"
    assert far.certificate_.relative_gap <= tol
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=0.02)


def test_exact_sketches_give_the_bins_of_a_local_fit():
    """Many distinct values, but fewer than a sketch keeps."""
    assert_same_optimum(
        fit_dask(MANY, LABELS, max_bins=16, **EXACT), fit_local(MANY, LABELS, max_bins=16, **EXACT)
    )


@pytest.mark.parametrize("choices", [{}, {"class_weight": "balanced"}, {"max_bins": 64}], ids=str)
def test_frames_with_categories(choices):
    far = DaskDirectBoostClassifier(nu=0.03, **EXACT, **choices)
    far.fit(frame_parts(FRAME), in_parts(WORDS), in_parts(WEIGHTS))
    near = fit_local(FRAME, WORDS, WEIGHTS, **EXACT, **choices)
    assert_same_optimum(far, near)
    assert far.feature_names_in_.tolist() == FRAME.columns.tolist()
    for ours, theirs in zip(far.categories_, near.categories_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(
        far.to_local().decision_function(FRAME), near.decision_function(FRAME), atol=1e-4
    )


def test_categories_by_place():
    rows = np.column_stack([X[:, 0], LABELS % 3, X[:, 2]])
    choices = {"categorical_features": [1], **EXACT}
    assert_same_optimum(fit_dask(rows, LABELS, **choices), fit_local(rows, LABELS, **choices))


@pytest.mark.parametrize("ends", [(0, M), tuple(range(0, M + 1, 30)), (0, 0, 3, M, M)], ids=len)
def test_any_partitioning_gives_the_same_optimum(ends):
    far, near = fit_dask(GAPS, LABELS, ends=ends, **EXACT), fit_local(GAPS, LABELS, **EXACT)
    assert_same_optimum(far, near)
    np.testing.assert_allclose(
        far.to_local().predict_proba(GAPS), near.predict_proba(GAPS), atol=1e-4
    )


def test_two_classes():
    y = (LABELS > 1).astype(int)
    assert_same_optimum(fit_dask(GAPS, y, **EXACT), fit_local(GAPS, y, **EXACT))


def test_fitted_attributes():
    far, near = fit_dask(X, WORDS, **EXACT), fit_local(X, WORDS, **EXACT)
    assert (far.n_features_in_, far.classes_.tolist()) == (D, sorted(set(WORDS)))
    assert set(vars(near)) - set(near.get_params()) <= set(vars(far))
    np.testing.assert_array_equal(far.features_used_, near.features_used_)
    np.testing.assert_allclose(far.feature_importances_, near.feature_importances_, atol=1e-4)
    np.testing.assert_allclose(far.mean_contributions_, near.mean_contributions_, atol=1e-4)
    assert not hasattr(far, "feature_names_in_")


@pytest.mark.parametrize(("loss", "margin"), KINDS[:7])
def test_probabilities(loss, margin):
    """Including fitted ones; the sample contains all rows here."""
    choices = {"loss": loss, "margin": margin, "nu": 0.1, **EXACT}
    far, near = fit_dask(X, LABELS, WEIGHTS, **choices), fit_local(X, LABELS, WEIGHTS, **choices)
    np.testing.assert_allclose(far.to_local().predict_proba(X), near.predict_proba(X), atol=1e-3)


def test_bytes_are_counted_in_every_round():
    far = fit_dask(X, LABELS)
    assert len(far.history_) > 1
    assert all(record.bytes_moved > 0 for record in far.history_)
    assert all(record.bytes_moved == 0 for record in fit_local(X, LABELS).history_)
