"""The quadratic model of block descent: its sample of rows and its Newton step."""

import numpy as np
import pytest

from directboost.data.binning import bin_features
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.penalties import L1, GroupNorm
from directboost.problem.columns import Proposals
from directboost.problem.feature_columns import FeatureColumns
from directboost.problem.objective import Objective, RestrictedProblem
from directboost.solvers.line_search import RowEvaluator
from directboost.solvers.quadratic_model import QuadraticModel, RowSample, first_size
from tests.conftest import make_blobs
from tests.kernels.models import bin_answers, hessian, live_places, value_of
from tests.solvers.problems import SMOOTH

NORMS = (1.0, 2.0, 3.0, np.inf)


def make_model(loss, margin, p, rows=None, seed=0, m=60):
    """Return problem, iterate and model at random coefficients; `rows` is the sample size."""
    data = make_blobs(3, m=m, missing=0.125, seed=seed)
    binned = bin_features(data.X, data.s, 12)
    kind = MARGINS[margin].from_codes(data.y.astype(np.int32), 3)
    penalty = L1() if p == 1.0 else GroupNorm(p)
    objective = Objective(
        kind, LOSSES[loss](), penalty, 0.005, SampleWeights.weighted(data.s, 3, kind.true_class)
    )
    columns = FeatureColumns(binned, np.array([1.0, 2.0, 0.5, 1.0]), 3)
    every = np.arange(4)
    columns.extend(Proposals(every, 0 * every, 0 * every + 1, 0.0 * every), [])
    rng = np.random.default_rng(seed)
    W = []
    for jumps in columns.grow([]):
        drawn = 0.1 * rng.normal(size=jumps.shape)
        drawn[rng.random(drawn.shape) < 0.5] = 0.0
        W.append(drawn)
    problem = RestrictedProblem(objective, columns)
    iterate = RowEvaluator(np.dtype(np.float64)).at(objective, columns, W)
    sample = RowSample(binned, data.y, m if rows is None else rows)
    return problem, iterate, QuadraticModel(objective, columns, iterate, sample, 0.0)


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_gradient_and_curvature_are_those_of_the_loss(loss, margin, rng):
    """Compare with finite differences of the loss in random directions."""
    problem, iterate, model = make_model(loss, margin, 2.0)
    work, columns = model.work, problem.columns
    every = np.arange(work.jumps.shape[0])
    answers, K = bin_answers(work), hessian(work, every)
    edges = answers @ work.G

    def loss_at(jumps):
        W = np.split(jumps, work.first_threshold[1:-1])
        return problem.objective.loss_value(columns.scores(W))

    assert iterate.loss == pytest.approx(loss_at(work.jumps), rel=1e-12)
    for _ in range(5):
        d, h = rng.normal(size=work.jumps.shape), 1e-4
        ahead, back = loss_at(work.jumps + h * d), loss_at(work.jumps - h * d)
        assert (back - ahead) / (2.0 * h) == pytest.approx((edges * d).sum(), rel=1e-4, abs=1e-7)
        second = (ahead + back - 2.0 * iterate.loss) / h**2
        bound = d.ravel() @ K @ d.ravel()
        if loss == "exponential" and margin == "pairwise":
            assert bound >= second - 1e-5  # the term of the logarithm is left out
        elif loss == "squared_hinge":
            assert bound == pytest.approx(
                second, rel=0.05
            )  # the second derivative is not continuous
        else:
            assert bound == pytest.approx(second, rel=1e-4, abs=1e-6)


@pytest.mark.covering(rest=None)
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("rows", [None, 20])
def test_the_model_decreases_at_least_as_reported(loss, margin, p, rows, monkeypatch):
    monkeypatch.setattr("directboost.solvers.quadratic_model._RARE", 3)
    _, iterate, model = make_model(loss, margin, p, rows)
    before = value_of(model.work)
    assert model.penalty(model.work.jumps, 1.0) == pytest.approx(iterate.penalty, rel=1e-12)
    for number in range(6):
        gain = model.epoch() if number % 2 == 0 else model.newton(30, 0.01)
        after = value_of(model.work)
        # a shortened step gains at least as reported, since the penalty is convex along it
        assert 0.0 <= gain <= (1.0 + 1e-7) * (before - after) + 1e-12
        assert p > 1.0 or gain == pytest.approx(before - after, rel=1e-7, abs=1e-12)
        before = after


@pytest.mark.parametrize("p", NORMS)
def test_a_newton_step_keeps_signs_and_zeros(p):
    _, _, model = make_model("logistic", "pairwise", p)
    for _ in range(30):
        model.epoch()
    before = model.work.jumps.copy()
    assert model.newton(50, 1e-6) >= 0.0
    after = model.work.jumps
    assert not after[before == 0.0].any()
    assert (after * before >= 0.0).all()
    model.work.jumps[:] = 0.0
    assert model.newton(50, 1e-6) == 0.0


def make_sample(m=5000, size=1500):
    """Return a sample of rows of unequal classes, one of them rare, one absent."""
    rng = np.random.default_rng(3)
    y = rng.choice([0, 1, 2, 4], m, p=[0.6, 0.3, 0.08, 0.02])
    binned = bin_features(rng.normal(size=(m, 6)), np.ones(m), 20)
    return binned, y, RowSample(binned, y, size)


def test_a_sample_has_every_class_and_all_rows_of_rare_ones():
    _, y, sample = make_sample()
    picked = sample.pick(y)
    assert sample.n == picked.size < y.size
    assert (np.diff(sample.rows) > 0).all()
    for group in (0, 1, 2, 4):
        count, share = (y == group).sum(), (picked == group).sum()
        assert share >= min(count, 300)
        np.testing.assert_allclose(sample.take(np.ones(y.size))[picked == group], count / share)
    assert (picked == 4).sum() == (y == 4).sum()


def test_scaled_sums_estimate_the_whole():
    binned, y, _ = make_sample()
    values = np.random.default_rng(0).normal(1.0, 0.5, (y.size, 2)) + y[:, None]
    sums = [RowSample(binned, y, 1500, seed).take(values).sum(axis=0) for seed in range(20)]
    np.testing.assert_allclose(np.mean(sums, axis=0), values.sum(axis=0), rtol=2e-3)
    np.testing.assert_allclose(sums, np.tile(values.sum(axis=0), (20, 1)), rtol=0.02)
    np.testing.assert_array_equal(
        RowSample(binned, y, 1500, 1).rows, RowSample(binned, y, 1500, 1).rows
    )


def test_codes_are_correct_after_growing():
    binned, _, sample = make_sample()
    for features in ([2], [2, 0], [6, 5, 4, 0], [1, 3, 2], [0, 1, 2, 3, 4, 5, 6]):
        codes, places = sample.codes(features)
        np.testing.assert_array_equal(codes[places], sample.pick(binned.codes[features].T).T)


def test_a_sample_of_all_rows_copies_nothing():
    binned, y, _ = make_sample()
    whole = RowSample(binned, y, y.size)
    assert whole.whole
    assert whole.n == y.size
    assert whole.take(y) is y
    assert whole.pick(y) is y
    assert whole.codes([3, 1])[0] is binned.codes
    assert first_size(10) >= 10
    assert first_size(10**7) < 10**5


def test_the_ridge_replaces_curvature_missing_in_the_sample():
    """No bin of the model is flatter than on all rows."""
    full = make_model("logistic", "pairwise", 2.0, m=3000)[2].work
    part = make_model("logistic", "pairwise", 2.0, rows=600, m=3000)[2].work
    assert part.Q.shape[0] < full.Q.shape[0]
    np.testing.assert_allclose(part.G, full.G, rtol=1e-12)
    assert (part.D >= full.D / 1.5 - 1e-12).all()
    assert (part.ridge >= 0.0).all()
    assert live_places(part).size == live_places(full).size
