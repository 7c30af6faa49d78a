"""The coarse start of a fit: what it merges, what it leaves, and that the proof is the whole's."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.callbacks import TimeLimit
from directboost.data.binning import bin_features
from directboost.history import Status
from directboost.training import strategy
from directboost.training.strategy import coarsened
from tests.solvers.problems import SMOOTH


@pytest.fixture
def small_starts(monkeypatch):
    """Let small data have a start, too."""
    monkeypatch.setattr(strategy, "_COARSE_ROWS", 150)
    monkeypatch.setattr(strategy, "_ENOUGH_ROWS", 400)
    monkeypatch.setattr(strategy, "_MANY_BINS", 16)
    monkeypatch.setattr(strategy, "_COARSE_BINS", 8)
    monkeypatch.setattr("directboost.solvers.quadratic_model._RARE", 20)


def draw(rng, m=600, missing=0.1):
    """Draw features with many bins, few bins and missing values, and classes they part."""
    X = np.column_stack([rng.normal(size=(m, 2)), rng.integers(0, 3, m), rng.normal(size=(m, 2))])
    y = (X[:, 0] > 0).astype(int) + ((X[:, 1] + X[:, 2] > 1.0) & (rng.random(m) < 0.9))
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_coarse_jumps_are_jumps_of_the_whole(missing, rng):
    X, _ = draw(rng, 900, missing)
    binned = bin_features(X, np.ones(900), 255)
    rows = np.sort(rng.choice(900, 300, replace=False))
    coarse = coarsened(binned, rows)
    assert coarse.binned.codes.flags.c_contiguous
    assert (coarse.binned.n_bins[[0, 1, 3, 4]] == 32 + binned.missing[[0, 1, 3, 4]]).all()
    assert coarse.binned.n_bins[2] == binned.n_bins[2]
    for f in range(6):
        assert coarse.thresholds[f].size == coarse.binned.n_thresholds(f)
        for threshold, whole in enumerate(coarse.thresholds[f]):
            np.testing.assert_array_equal(
                coarse.binned.response(f, threshold, 1), binned.response(f, int(whole), 1)[rows]
            )
            if f < 5:
                assert coarse.binned.learner(f, threshold, 1).threshold == (
                    binned.learner(f, int(whole), 1).threshold
                )


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_the_optimum_is_that_without_a_start(loss, margin, rng, monkeypatch, request):
    X, y = draw(rng)
    weight = rng.uniform(0.5, 2.0, y.size)
    settings = {"loss": loss, "margin": margin, "nu": 0.05, "tol": 1e-5}
    plain = DirectBoostClassifier(**settings).fit(X, y, weight)
    request.getfixturevalue("small_starts")
    seen = []
    start = strategy.coarse_start
    monkeypatch.setattr(strategy, "coarse_start", lambda *a: seen.append(start(*a)) or seen[-1])
    begun = DirectBoostClassifier(**settings).fit(X, y, weight)
    W, status = seen[0]
    assert status is Status.OPTIMAL
    assert any(jumps.any() for jumps in W)
    assert begun.status_ is Status.OPTIMAL
    assert begun.certificate_.dictionary == plain.certificate_.dictionary
    assert begun.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-5)
    assert begun.history_[0].primal < plain.history_[0].primal


def test_the_hinge_starts_coarse_too(small_starts, rng):
    X, y = draw(rng, 700)
    clf = DirectBoostClassifier(loss="hinge", solver="blocks", nu=0.1, tol=0.02).fit(X, y)
    assert clf.status_ is Status.OPTIMAL
    assert clf.certificate_.relative_gap <= 0.02


def test_an_interrupt_of_the_start_ends_the_fit(small_starts, rng, monkeypatch):
    X, y = draw(rng)
    price, rounds = strategy.StumpOracle.price, []

    def stop(self, *args):
        rounds.append(self.binned.n_rows)
        if rounds[-1] < 600 and len(rounds) == 4:
            raise KeyboardInterrupt
        return price(self, *args)

    monkeypatch.setattr(strategy.StumpOracle, "price", stop)
    with pytest.warns(UserWarning, match="interrupted"):
        clf = DirectBoostClassifier(nu=0.05).fit(X, y)
    assert clf.status_ is Status.INTERRUPTED
    assert clf.certificate_.dual <= clf.certificate_.primal


def test_the_time_of_the_start_counts(small_starts, rng):
    X, y = draw(rng)
    with pytest.warns(UserWarning, match="time_limit"):
        clf = DirectBoostClassifier(nu=0.01, tol=1e-6, callbacks=[TimeLimit(1e-4)]).fit(X, y)
    assert clf.status_ is Status.TIME_LIMIT
    assert len(clf.history_) == 1
    assert clf.history_[0].seconds > 1e-4
    assert not clf.learners_  # the start itself was cut off
