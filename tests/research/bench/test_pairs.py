"""Pairs compared with other methods: the search for nu, the figures and their ratios."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from directboost.callbacks import TimeLimit
from directboost.model.learners import Constant, Product
from directboost.research.bench import pair_costs, pairs
from directboost.research.bench.measure import Parts, mean_and_error, row_losses
from directboost.research.bench.methods import DirectBoost


@pytest.fixture
def crossed():
    """Return data of three classes of which two depend on a product of two features."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (240, 3))
    y = np.where(X[:, 2] > 0.5, 2, (X[:, 0] > 0.1) ^ (X[:, 1] > -0.2)).astype(int)
    return Parts("crossed", X[:160], y[:160], X[160:], y[160:])


def test_products_count_as_one_rule_with_two_splits(crossed):
    method = DirectBoost(1, nu=0.03, learner="pair").fit(crossed.X, crossed.y)
    learners = method.model.learners_
    products = sum(isinstance(learner, Product) for learner in learners)
    constants = sum(isinstance(learner, Constant) for learner in learners)
    assert products > 0
    figures = method.figures()
    assert figures["rules"] == len(learners) - constants
    assert figures["splits"] == len(learners) + products
    weights = int((method.model.weights_ > 0).sum())
    assert figures["stored"] == 2 * (figures["rules"] + products) + weights


def test_a_fit_out_of_time_tells_it(crossed):
    method = DirectBoost(1, nu=0.001, limit=0.0, learner="pair").fit(crossed.X, crossed.y)
    assert not method.figures()["converged"]
    assert method.figures()["gap"] > 0.01


def test_log_losses(crossed):
    model = DirectBoost(1, nu=0.03).fit(crossed.X, crossed.y).model
    losses = row_losses(model, crossed.X_test, crossed.y_test)
    expected = log_loss(crossed.y_test, model.predict_proba(crossed.X_test))
    mean, error = mean_and_error(losses)
    assert (
        mean == pytest.approx(expected) == pairs.log_loss_of(model, crossed.X_test, crossed.y_test)
    )
    assert error == pytest.approx(losses.std() / np.sqrt(losses.size))


def test_a_class_without_a_training_row_has_the_largest_log_loss(iris):
    kept = iris.y > 0
    model = DirectBoost(1, nu=0.1).fit(iris.X[kept], iris.y[kept]).model
    losses = row_losses(model, iris.X_test, iris.y_test)
    unknown = iris.y_test == 0
    np.testing.assert_allclose(losses[unknown], -np.log(np.finfo(float).eps))
    assert losses[~unknown].max() < 30.0


def test_nu_is_chosen_without_the_test_rows(crossed, terms, monkeypatch):
    """Test rows that would break everything are never looked at; of equal nus the largest wins."""
    monkeypatch.setattr(pairs, "NUS", (0.9, 0.03))
    blind = replace(crossed, X_test=None, y_test=None)
    assert pairs.search_nu(blind, "pair", pairs.error_of, terms).setting == 0.03
    tied = pairs.search_nu(blind, "pair", lambda *_: 0.5, terms)
    assert (tied.setting, tied.remark) == (0.9, "")
    assert tied.seconds > 0.0
    assert pairs.search_rate(blind, lambda *_: 0.5, terms).setting == 0.1


def test_the_criterion_decides(crossed, terms, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.3, 0.1, 0.03))
    sizes = lambda model, X, y: -model.n_learners_  # noqa: E731
    assert pairs.search_nu(crossed, "stump", sizes, terms).setting == 0.03
    rates = lambda model, X, y: -model.learning_rate  # noqa: E731
    assert pairs.search_rate(crossed, rates, terms).setting == 0.3


@pytest.mark.parametrize(("solved", "remark"), [(2, "after nu 0.1"), (0, "before its first nu")])
def test_a_search_out_of_time_compares_what_all_folds_reached(
    crossed, terms, monkeypatch, solved, remark
):
    class Late(TimeLimit):
        """A limit that is reached while the nu after `solved` others is solved."""

        def __init__(self, seconds):
            self.fits = 0

        def __call__(self, record):
            self.fits += record.round == 0
            return self.fits > solved

    monkeypatch.setattr(pairs, "NUS", (0.3, 0.1, 0.003))
    monkeypatch.setattr(pairs, "TimeLimit", Late)
    search = pairs.search_nu(crossed, "pair", pairs.error_of, terms)
    assert search.setting in ((0.3, 0.1) if solved else (0.3,))
    assert search.remark == f"search stopped {remark}"


def test_models(crossed, terms, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.1, 0.03))
    monkeypatch.setattr(pairs, "MANY_ROWS", 100)
    found = pairs.measure_models(crossed, terms)
    names = ["directboost pairs", "directboost stumps", "LightGBM default"]
    assert [row["method"] for row in found.rows] == [*names, "LightGBM depth 2, 500"]
    ours, stumps, default, depth2 = found.rows
    assert ours["remark"] == f"nu {found.errors['nu']:g}"
    assert depth2["remark"] in ("rate 0.1", "rate 0.3")
    assert ours["error"] < stumps["error"]
    for row in found.rows:
        expected = np.sqrt(row["error"] * (1.0 - row["error"]) / 80)
        assert row["error_se"] == pytest.approx(expected)
        assert row["table_bytes"] > 0
        assert row["log_loss"] > 0.0
    assert found.sizes["rules_ratio"] == ours["rules"] / default["splits"]
    assert found.sizes["stored_ratio"] == ours["stored"] / default["stored"]
    assert found.sizes["bytes_ratio"] == ours["table_bytes"] / default["table_bytes"]
    assert found.sizes["speed_ratio"] == ours["rows_per_second"] / default["rows_per_second"]
    excess = (ours["log_loss"] - default["log_loss"]) / default["log_loss_se"]
    assert found.log_losses["log_loss_excess"] == pytest.approx(excess)
    errors = [found.errors[key] for key in ("error", "stump_error", "peer_error", "depth2_error")]
    assert errors == [row["error"] for row in found.rows]
    losses = [f"{of}log_loss" for of in ("", "stump_", "peer_", "depth2_")]
    assert [found.log_losses[key] for key in losses] == [row["log_loss"] for row in found.rows]
    assert found.errors["remark"] == ""
    fixed = {f"directboost {kind}s, nu 0.003" for kind in ("pair", "stump")}
    assert {*fixed, "directboost pairs, nu 0.01", "LightGBM default"} <= set(found.timed)
    table = pairs.pairs_table(found.rows)
    assert "-" not in [cells[2] for cells in table.cells()]


def test_an_unfinished_search_and_fit_are_remarked(crossed, terms, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.03,))
    monkeypatch.setattr(pairs, "SEARCH_LIMIT", 0.0)
    monkeypatch.setattr(pairs, "FIT_LIMIT", 0.0)
    found = pairs.measure_models(crossed, terms)
    remark = "search stopped before its first nu, stopped after 0 s"
    assert found.rows[0]["remark"] == f"nu 0.03, {remark}"
    assert found.errors["remark"] == remark


def test_a_fit_at_a_fixed_nu_may_be_the_chosen_one(crossed, terms, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.003,))
    found = pairs.measure_models(crossed, terms)
    assert len(found.timed) == 4
    assert found.rows[0]["seconds"] == found.timed["directboost pairs, nu 0.003"]["seconds"]


def test_medians_of_the_ratios():
    keys = ("rules_ratio", "stored_ratio", "bytes_ratio", "speed_ratio")
    rows = [{"dataset": "a", **dict.fromkeys(keys, value)} for value in (1.0, 2.0, 9.0)]
    *_, median = pairs.sizes_table(rows).rows
    assert median == {"dataset": "median", **dict.fromkeys(keys, 2.0)}
    assert pairs.sizes_table(rows[:1]).rows == rows[:1]


@pytest.mark.parametrize(("ours", "excess"), [(0.14, 2.0), (0.1, 0.0), (0.06, -2.0)])
def test_differences_are_in_standard_errors_of_the_peer(ours, excess):
    peer = {"error": 0.1, "error_se": 0.02}
    assert pairs.in_standard_errors({"error": ours}, peer, "error") == pytest.approx(excess)


def test_two_methods_without_errors_are_equal():
    perfect = {"error": 0.0, "error_se": 0.0}
    assert pairs.in_standard_errors(perfect, perfect, "error") == 0.0
    assert pairs.in_standard_errors({"error": 0.01}, perfect, "error") > 1e6


def test_only_the_largest_sets_are_drawn(crossed, monkeypatch):
    assert pairs.limit_rows(crossed) is crossed
    monkeypatch.setitem(pairs._MOST_ROWS, "crossed", 50)
    drawn, again = (pairs.limit_rows(crossed) for _ in range(2))
    assert drawn.X.shape == (50, 3)
    assert drawn.y_test.size == 80
    np.testing.assert_array_equal(drawn.X, again.X)
    rows = [np.flatnonzero((row == crossed.X).all(axis=1)) for row in drawn.X]
    assert len({int(row[0]) for row in rows}) == 50
    np.testing.assert_array_equal(drawn.y, crossed.y[np.concatenate(rows)])


@pytest.fixture
def timed():
    """Return the rows of fits at fixed nus, those of pairs with the given figures."""

    def rows(**figures):
        pair = {"seconds": 2.0, "gap": 0.01, "converged": True, **figures}
        stump = {"seconds": 0.5, "gap": 0.01, "converged": True}
        return {
            "directboost pairs, nu 0.003": pair,
            "directboost pairs, nu 0.01": pair,
            "directboost stumps, nu 0.003": stump,
            "LightGBM default": {"seconds": 4.0},
        }

    return rows


def test_times(crossed, terms, timed):
    row = pair_costs.compare_times(crossed, timed(), terms)
    assert (row["stump_ratio"], row["peer_ratio"], row["second_seconds"]) == (4.0, 0.5, 2.0)
    assert (row["d"], row["remark"]) == (3, "")


def test_times_of_a_stopped_fit_are_infinite(crossed, terms, timed):
    row = pair_costs.compare_times(crossed, timed(converged=False, gap=0.2), terms)
    assert row["stump_ratio"] == row["peer_ratio"] == row["second_seconds"] == np.inf
    assert row["seconds"] == 2.0
    assert row["remark"] == "stopped at gap 20.0%"
    assert "inf" in pair_costs.times_table([row]).cells()[0]


def test_only_many_rows_are_fitted_at_a_second_nu(crossed, terms, timed):
    rows = timed()
    del rows["directboost pairs, nu 0.01"]
    assert pair_costs.compare_times(crossed, rows, terms)["second_seconds"] is None


@pytest.mark.usefixtures("no_subprocesses")
def test_resources(crossed, terms):
    row = pair_costs.measure_resources(crossed, {"converged": True}, terms)
    assert (row["peak_mb"], row["memory_ratio"]) == (1.0, 1.0)
    assert row["path_ratio"] == row["path_seconds"] / row["single_seconds"]
    assert row["pricing_ns"] > 0.0
    assert row["remark"] == ""


@pytest.mark.usefixtures("no_subprocesses")
def test_there_is_no_path_if_a_fit_at_a_larger_nu_was_stopped(crossed, terms, told):
    row = pair_costs.measure_resources(crossed, {"converged": False}, terms)
    assert row["path_ratio"] == np.inf
    assert row["remark"] == "no path: nu 0.003 was stopped"
    assert row["pricing_ns"] > 0.0
    assert "crossed: path of pairs" not in told


@pytest.mark.usefixtures("no_subprocesses")
def test_there_is_no_path_without_a_fit_at_its_end(crossed, terms, told, monkeypatch):
    monkeypatch.setattr(pairs, "FIT_LIMIT", 0.0)
    row = pair_costs.measure_resources(crossed, {"converged": True}, terms)
    assert row["path_ratio"] == np.inf
    assert row["remark"].startswith("nu 0.001 stopped at gap ")
    assert "crossed: path of pairs" not in told


@pytest.mark.usefixtures("no_subprocesses")
def test_a_path_out_of_time_is_reported(crossed, terms, monkeypatch):
    monkeypatch.setattr(pair_costs, "PATH_LIMIT", 0.0)
    row = pair_costs.measure_resources(crossed, {"converged": True}, terms)
    assert row["path_ratio"] == np.inf
    assert row["path_seconds"] > 0.0
    assert row["remark"].startswith("path stopped after")


def test_pricing_counts_the_pairs_that_vary(crossed, terms, told):
    X = np.column_stack([crossed.X, np.zeros(160), np.ones(160)])
    assert pair_costs.measure_pricing(replace(crossed, X=X), terms) > 0.0
    assert told == ["crossed: pricing of 3 pairs"]
    assert pair_costs.measure_pricing(replace(crossed, X=X[:, 2:]), terms) is None
