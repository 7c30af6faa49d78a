"""The boosting loop: how it ends, what it keeps, and that nothing it keeps gets worse."""

import itertools
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from directboost.callbacks import TimeLimit
from directboost.certificate import lower_bound
from directboost.data.binning import bin_features
from directboost.history import Status
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.oracles import StumpOracle
from directboost.oracles.base import Oracle, Pricing
from directboost.penalties import L1, GroupNorm
from directboost.problem.columns import DenseColumns, Proposals
from directboost.problem.feature_columns import FeatureColumns
from directboost.problem.objective import Objective, RestrictedProblem
from directboost.solvers import LBFGSB, BlockDescent, LinearProgram, ProximalGradient
from directboost.solvers.base import Solver, SolverResult
from directboost.training.column_generation import LoopSettings, WarmStart, run
from directboost.training.stopping import StoppingRule
from tests.conftest import make_blobs
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

K = 3
COSTS = np.ones(4)
DATA = make_blobs(K, m=30, missing=0.1)
BINNED = bin_features(DATA.X, DATA.s, None)


def objective(loss="logistic", margin="pairwise", penalty=None, nu=0.02):
    """Return the objective on the common data."""
    the_margin = MARGINS[margin].from_codes(DATA.y, K)
    rows = SampleWeights.weighted(DATA.s, K, the_margin.true_class)
    return Objective(the_margin, LOSSES[loss](), penalty or L1(), nu, rows)


def loop(goal, oracle, solver, **choices):
    """Return the settings of a run; the limits among the choices go to its stopping rule."""
    limits = {f.name for f in fields(StoppingRule) if f.init} & choices.keys()
    stopping = StoppingRule(**{name: choices.pop(name) for name in limits})
    oracle = oracle or StumpOracle(BINNED, COSTS)
    return LoopSettings(goal or objective(), oracle, solver, stopping, **choices)


def boost(master=None, oracle=None, goal=None, columns=None, **choices):
    """Run the loop on single columns, four per round unless told otherwise."""
    given = {"tol": 1e-6, "columns_per_round": 4} | choices
    settings = loop(goal, oracle, master or LBFGSB(), **given)
    columns = DenseColumns(BINNED, COSTS) if columns is None else columns
    return run(settings, WarmStart(columns, np.zeros((0, K))))


def boost_features(master=None, goal=None, **choices):
    """Run the loop on whole features."""
    settings = loop(goal, None, master or BlockDescent(), **({"tol": 1e-6} | choices))
    return run(settings, WarmStart(FeatureColumns(BINNED, COSTS, K), []))


def check_outcome(outcome, goal=None):
    """The answer is feasible, its certificate is its own, and the best of the history."""
    goal = goal or objective()
    state, c = outcome.state, outcome.certificate
    problem = RestrictedProblem(goal, state.columns)
    assert (state.columns.rows(state.W)[0] >= 0.0).all()
    assert c.primal == pytest.approx(problem.value(state.W), rel=1e-12)
    assert c.gap >= 0.0
    assert c.dual <= c.primal
    if state.history:
        assert c.primal <= min(r.primal for r in state.history) * (1.0 + 1e-9)
        assert c.dual >= max(r.dual for r in state.history) - 1e-12


def check_history(outcome):
    """The best objective never rises, the best bound never falls, the gap is what lies between."""
    history = outcome.state.history
    assert [r.round for r in history] == list(range(len(history)))
    for a, b in itertools.pairwise(history):
        assert b.primal <= a.primal * (1.0 + 1e-15)  # a later run sums the scores in another order
        # A run that is carried on starts from the bound as it was proved: less its rounding.
        assert b.dual >= a.dual - np.spacing(abs(a.dual))
        assert b.seconds >= a.seconds
    for r in history:
        assert r.gap >= 0.0
        assert r.gap == max(r.primal - r.dual, 0.0)
        assert r.relative_gap == pytest.approx(objective().relative(r.gap, r.primal))


class Wrapped(Solver):
    """A master that lets another one work and then changes its answer."""

    name = "wrapped"

    def __init__(self, change, inner=None):
        self.inner, self.change, self.calls = inner or LBFGSB(), change, 0

    def supports(self, loss, margin, penalty):
        return None

    def solve(self, problem, start, accuracy):
        self.calls += 1
        return self.change(self.calls, problem, self.inner.solve(problem, start, accuracy))


class Adversary(Oracle):
    """An oracle with the exact price, but proposals of its own choice."""

    dictionary = "all stumps"

    def __init__(self, choose):
        self.exact, self.choose, self.calls = StumpOracle(BINNED, COSTS), choose, 0

    def start(self, data):
        """Know the rows already."""

    def price(self, A, penalty, rule="exact"):
        self.calls += 1
        found = self.exact.price(A, penalty, rule)
        return Pricing(found.max_price, found.rounding, self.choose(self.calls, found, A))


def named(*keys):
    """Propose columns with a price that always violates."""
    feature, threshold, polarity = (np.array(part) for part in zip(*keys, strict=True))
    return Proposals(feature, threshold, polarity, np.full(len(keys), 10.0))


class TestWholeRuns:
    """Honest parts."""

    @pytest.mark.parametrize("per_round", [1, 4, 16])
    @pytest.mark.parametrize("rule", ["exact", "paper"])
    def test_single_columns_reach_the_tolerance(self, per_round, rule):
        outcome = boost(columns_per_round=per_round, pricing=rule)
        assert outcome.status is Status.OPTIMAL
        assert outcome.certificate.converged
        assert outcome.certificate.relative_gap <= 1e-6
        check_outcome(outcome)
        check_history(outcome)

    @pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0), GroupNorm(math.inf)])
    def test_whole_features_reach_the_tolerance(self, penalty):
        goal = objective(penalty=penalty)
        outcome = boost_features(goal=goal)
        assert outcome.status is Status.OPTIMAL
        assert outcome.certificate.relative_gap <= 1e-6
        check_outcome(outcome, goal)
        check_history(outcome)

    def test_both_sets_of_columns_find_the_optimum(self):
        H, costs, _ = enumerate_dictionary(DATA.X)
        best, _ = solve_twin(H, DATA.y, K, DATA.s, "logistic", "pairwise", 1.0, 0.02, costs)
        for outcome in (boost(), boost_features()):
            assert outcome.certificate.primal == pytest.approx(best, rel=1e-6)
            assert outcome.certificate.dual <= best + 1e-9

    @pytest.mark.parametrize("margin", MARGINS)
    def test_linear_programs_solve_the_hinge_to_the_end(self, margin):
        goal = objective("hinge", margin)
        outcome = boost(LinearProgram(), goal=goal, tol=1e-9)
        assert outcome.status is Status.OPTIMAL
        assert outcome.certificate.relative_gap <= 1e-9
        check_outcome(outcome, goal)

    def test_a_large_nu_needs_no_column(self):
        outcome = boost(goal=objective(nu=0.9))
        assert outcome.status is Status.OPTIMAL
        assert len(outcome.state.columns) == 0
        assert len(outcome.state.history) == 1

    def test_one_column_per_round(self):
        outcome = boost(columns_per_round=1, keep_stages=True)
        columns = [r.columns for r in outcome.state.history]
        assert columns == sorted(columns)
        assert max(b - a for a, b in itertools.pairwise(columns)) == 1
        stages = outcome.state.stages
        assert len(stages) == len(columns) - 1
        assert [W.shape[0] for W in stages] == columns[1:]
        np.testing.assert_array_equal(stages[-1], outcome.state.W)

    def test_a_start_near_the_end_saves_rounds(self):
        first = boost()
        settings = loop(None, None, LBFGSB(), tol=1e-6, columns_per_round=4)
        again = run(settings, WarmStart(first.state.columns, first.state.W))
        assert again.status is Status.OPTIMAL
        assert len(again.state.history) <= 2
        assert again.certificate.primal <= first.certificate.primal * (1.0 + 1e-12)

    def test_an_earlier_run_is_carried_on(self):
        """Records go on where they were."""
        first = boost(tol=1e-2)
        settings = loop(None, None, LBFGSB(), tol=1e-6, columns_per_round=4)
        before = len(first.state.history)
        again = run(settings, WarmStart(first.state.columns, first.state.W), before=first)
        assert len(again.state.history) > before
        assert again.state.history[before].dual >= first.certificate.dual
        assert again.certificate.relative_gap <= 1e-6
        check_history(again)

    def test_a_proved_bound_is_not_lost(self):
        """It holds for every W, also where an earlier answer is thrown away."""
        first = boost()
        settings = loop(None, None, LBFGSB(), tol=1e-6, max_rounds=0)
        proved = first.certificate.dual
        empty = WarmStart(DenseColumns(BINNED, COSTS), np.zeros((0, K)))
        again = run(settings, empty, before=first)
        assert again.state.history[-1].dual == proved
        assert again.certificate.dual == pytest.approx(proved, abs=1e-12)


class TestBudgets:
    """Ends other than the tolerance."""

    @pytest.mark.parametrize(("per_round", "most"), [(1, 5), (4, 6), (4, 4)])
    def test_max_columns(self, per_round, most):
        outcome = boost(columns_per_round=per_round, max_columns=most)
        assert outcome.status is Status.BUDGET
        assert len(outcome.state.columns) == most
        assert not outcome.certificate.converged
        check_outcome(outcome)
        check_history(outcome)

    def test_a_reached_tolerance_comes_before_the_budget(self):
        outcome = boost(goal=objective(nu=0.9), max_columns=1)
        assert outcome.status is Status.OPTIMAL

    def test_the_rounds_aim_at_more_than_the_tolerance(self):
        outcome = boost_features(tol=1e-2, aim=0.01)
        assert outcome.status is Status.OPTIMAL
        assert outcome.certificate.relative_gap <= 1e-4

    def test_a_start_within_the_tolerance_is_enough(self):
        before = boost_features(tol=1e-2).state
        settings = loop(None, None, BlockDescent(), tol=1e-2, aim=0.01)
        outcome = run(settings, WarmStart(before.columns, before.W))
        assert (outcome.status, len(outcome.state.history)) == (Status.OPTIMAL, 1)

    @pytest.mark.parametrize("end", [{"max_rounds": 30}, {"callbacks": [lambda r: r.round > 29]}])
    def test_an_end_within_the_tolerance_is_optimal(self, end):
        """Whatever ends the rounds before they reach what they aim at."""
        outcome = boost_features(tol=1e-2, aim=0.0, **end)
        assert outcome.status is Status.OPTIMAL
        assert 0.0 < outcome.certificate.relative_gap <= 1e-2

    def test_max_rounds(self):
        outcome = boost(columns_per_round=1, max_rounds=3)
        assert outcome.status is Status.MAX_ITER
        assert [r.round for r in outcome.state.history] == [0, 1, 2, 3]
        check_outcome(outcome)

    def test_a_true_answer_of_a_callback_stops(self):
        seen = []
        outcome = boost(
            callbacks=[seen.append, lambda record: record.round == 2], columns_per_round=1
        )
        assert outcome.status is Status.STOPPED
        assert seen == outcome.state.history
        assert [r.round for r in seen] == [0, 1, 2]
        check_outcome(outcome)

    def test_a_callback_may_name_the_status(self):
        outcome = boost(callbacks=[lambda record: Status.BUDGET if record.round else None])
        assert outcome.status is Status.BUDGET

    def test_falsy_answers_do_not_stop(self):
        outcome = boost(callbacks=[lambda record: None, lambda record: False, lambda record: 0])
        assert outcome.status is Status.OPTIMAL

    def test_time_limit(self):
        outcome = boost(callbacks=[TimeLimit(0.0)])
        assert outcome.status is Status.TIME_LIMIT
        assert len(outcome.state.history) == 1
        check_outcome(outcome)
        assert boost(callbacks=[TimeLimit(1e3)]).status is Status.OPTIMAL

    def test_an_error_in_a_callback_is_not_hidden(self):
        def broken(record):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            boost(callbacks=[broken])


class Watched(Wrapped):
    """A master that keeps the accuracies it was asked for."""

    def __init__(self, inner=None):
        super().__init__(lambda calls, problem, result: result, inner)
        self.asked = []

    def solve(self, problem, start, accuracy):
        self.asked.append(accuracy)
        return super().solve(problem, start, accuracy)


class Growing(Adversary):
    """An oracle whose dictionary is what it has proposed."""

    grows = True


class TestAccuracy:
    """How tightly the master solves over single columns."""

    def test_a_share_of_the_gap_and_at_the_end_of_the_tolerance(self):
        master = Watched()
        outcome = boost(master, columns_per_round=1, tol=1e-3)
        gaps = [record.relative_gap for record in outcome.state.history[:-1]]
        assert master.asked == pytest.approx([max(3e-4, 0.05 * gap) for gap in gaps])
        assert master.asked[0] > 10 * master.asked[-1]
        assert outcome.status is Status.OPTIMAL

    def test_several_columns_a_round(self):
        master = Watched()
        gaps = [r.relative_gap for r in boost(master, tol=1e-3).state.history[:-1]]
        assert master.asked == pytest.approx([max(3e-4, 0.05 * gap) for gap in gaps])

    def test_solves_without_a_new_column_are_tighter_and_tighter(self):
        """A column that is there already is all that is proposed after the first round."""
        stump = Adversary(lambda calls, found, A: named((0, 0, 1)))
        master = Watched()
        outcome = boost(master, stump, tol=1e-3)
        loose = [0.05 * record.relative_gap for record in outcome.state.history[:-1]]
        assert len(loose) == 4
        assert master.asked == pytest.approx([a * 0.1**i for i, a in enumerate(loose)])

    def test_tightly_while_nothing_is_certified(self):
        """Before all is priced the gap is infinite."""
        oracle = Adversary(lambda calls, found, A: found.proposals)
        whole = oracle.price
        oracle.price = lambda *given: replace(whole(*given), complete=oracle.calls > 3)
        master = Watched()
        outcome = boost(master, oracle, columns_per_round=1, tol=1e-3, max_rounds=5)
        assert [math.isinf(r.relative_gap) for r in outcome.state.history[:5]] == [1, 1, 1, 0, 0]
        assert master.asked[:3] == pytest.approx([3e-4] * 3)
        assert master.asked[3] > 3e-4

    def test_the_last_of_a_budget_is_solved_tightly(self):
        master = Watched()
        boost(master, columns_per_round=1, tol=1e-3, max_columns=6)
        assert master.asked[-1] == pytest.approx(3e-4)
        assert min(master.asked[:-1]) > 1e-3

    @pytest.mark.parametrize(("kind", "rule"), [(Adversary, "paper"), (Growing, "exact")])
    def test_always_tightly(self, kind, rule):
        """By the paper's rule, and where the gap is over the columns themselves."""
        oracle = kind(lambda calls, found, A: found.proposals)
        master = Watched()
        boost(master, oracle, columns_per_round=1, tol=1e-3, max_rounds=5, pricing=rule)
        assert master.asked == pytest.approx([3e-4] * 5)

    def test_always_tightly_with_the_hinge(self):
        master = Watched(LinearProgram())
        boost(master, goal=objective("hinge"), columns_per_round=1, tol=1e-3, max_rounds=5)
        assert master.asked == pytest.approx([3e-4] * 5)


class TestInterrupts:
    """Ctrl-C keeps the best model so far, with its certificate."""

    @staticmethod
    def interrupt(*_):
        raise KeyboardInterrupt

    def check(self, outcome, rounds):
        """The answer is whole, and no worse than the last record."""
        assert outcome.status is Status.INTERRUPTED
        assert len(outcome.state.history) == rounds
        assert math.isfinite(outcome.certificate.gap)
        check_outcome(outcome)

    @pytest.mark.parametrize("number", [0, 1, 4])
    def test_in_a_callback(self, number):
        def stop(record):
            if record.round == number:
                raise KeyboardInterrupt

        self.check(boost(callbacks=[stop], columns_per_round=1), number + 1)
        if number < 2:
            self.check(boost_features(callbacks=[stop]), number + 1)

    @pytest.mark.parametrize("number", [1, 3])
    def test_in_the_master(self, number):
        def change(call, problem, result):
            if call == number:
                raise KeyboardInterrupt
            return result

        self.check(boost(Wrapped(change), columns_per_round=1), number)
        if number == 1:
            self.check(boost_features(Wrapped(change, BlockDescent())), number)

    @pytest.mark.parametrize("number", [1, 3])
    def test_in_the_oracle(self, number):
        def choose(call, found, A):
            if call == number:
                raise KeyboardInterrupt
            return found.proposals

        self.check(boost(oracle=Adversary(choose), columns_per_round=1), number - 1)

    @pytest.mark.parametrize("number", [1, 3, 6])
    def test_while_columns_come_in(self, number):
        """The new columns have no weights yet."""

        class Slow:
            n_rows, calls = BINNED.n_rows, 0
            learner = BINNED.learner

            def response(self, *key):
                self.calls += 1
                if self.calls == number:
                    raise KeyboardInterrupt
                return BINNED.response(*key)

        outcome = boost(columns=DenseColumns(Slow(), COSTS))
        assert outcome.status is Status.INTERRUPTED
        check_outcome(outcome)

    def test_after_features_came_in(self, monkeypatch):
        extend = FeatureColumns.extend

        def stop(columns, proposals, W):
            extend(columns, proposals, W)
            raise KeyboardInterrupt

        monkeypatch.setattr(FeatureColumns, "extend", stop)
        outcome = boost_features()
        assert outcome.status is Status.INTERRUPTED
        check_outcome(outcome)


class TestBadOracles:
    """Oracles made to be the worst case: the loop ends, and says why."""

    def test_the_same_column_for_ever(self):
        """The master gets some more tries at a higher accuracy, then the loop gives up."""
        oracle = Adversary(lambda call, found, A: named((1, 3, 1)))
        outcome = boost(oracle=oracle)
        assert outcome.status is Status.MAX_ITER
        assert len(outcome.state.columns) == 1
        assert oracle.calls <= 8
        assert not outcome.certificate.converged
        check_outcome(outcome)

    def test_the_same_column_for_ever_by_the_paper(self):
        oracle = Adversary(lambda call, found, A: named((1, 3, 1)))
        outcome = boost(oracle=oracle, pricing="paper")
        assert outcome.status is Status.NO_BETTER_COLUMN
        assert len(outcome.state.history) == 2
        check_outcome(outcome)

    def test_no_proposal_at_all(self):
        oracle = Adversary(lambda call, found, A: found.proposals.take(slice(0)))
        assert boost(oracle=oracle).status is Status.MAX_ITER
        assert boost(oracle=oracle, pricing="paper").status is Status.NO_BETTER_COLUMN

    def test_proposals_that_do_not_violate(self):
        """By the exact rule a column with a price of nu or less does not come in."""
        none = np.zeros(1, dtype=np.int64)
        oracle = Adversary(lambda call, found, A: Proposals(none + 1, none, none + 1, none + 0.02))
        outcome = boost(oracle=oracle)
        assert outcome.status is Status.MAX_ITER
        assert len(outcome.state.columns) == 0

    def test_useless_columns_first(self):
        """Each round the worst stumps that are not there yet: slow, but the end is the optimum."""
        keys = [(f, j, s) for f in range(4) for j in range(BINNED.n_thresholds(f)) for s in (1, -1)]
        H = np.stack([BINNED.response(*key) for key in keys])
        there = np.zeros(len(keys), dtype=bool)

        def choose(call, found, A):
            order = np.argsort(np.where(there, np.inf, (H @ A).max(axis=1)), kind="stable")[:8]
            there[order] = True
            return named(*[keys[j] for j in order])

        outcome = boost(oracle=Adversary(choose), columns_per_round=8, tol=1e-5)
        assert outcome.status is Status.OPTIMAL
        assert len(outcome.state.columns) > 0.9 * len(keys)
        assert outcome.certificate.primal == pytest.approx(boost().certificate.primal, rel=1e-5)
        check_history(outcome)

    def test_useless_columns_within_a_budget(self):
        """Copies of the constant: the model stays as good as one column makes it."""
        oracle = Adversary(lambda call, found, A: named((3, call, 1)))

        class Constants:
            n_rows, learner = BINNED.n_rows, BINNED.learner

            def response(self, feature, threshold, polarity):
                return np.ones(self.n_rows)

        columns = DenseColumns(Constants(), COSTS)
        outcome = boost(oracle=oracle, columns=columns, max_columns=6, columns_per_round=1)
        assert outcome.status is Status.BUDGET
        assert len(columns) == 6
        check_history(outcome)


class TestBadMasters:
    """The loop does not lean on the master."""

    def test_a_worse_answer_is_left_aside(self):
        """Every other answer is far off; the objective never rises, and the end is the same."""

        def change(call, problem, result):
            if call % 2:
                return result
            return SolverResult(result.W + 1.0, result.U, True, 1)

        outcome = boost(Wrapped(change), columns_per_round=2)
        assert outcome.status is Status.OPTIMAL
        check_outcome(outcome)
        check_history(outcome)

    def test_a_master_that_does_nothing(self):
        def change(call, problem, result):
            W = np.zeros_like(result.W)
            return SolverResult(
                W, problem.objective.negative_gradient(problem.columns.scores(W)), True, 1
            )

        outcome = boost(Wrapped(change))
        assert outcome.status is Status.MAX_ITER
        assert outcome.certificate.primal == pytest.approx(math.log(2.0))
        assert not outcome.state.W.any()
        check_outcome(outcome)

    def test_a_slow_master_is_not_given_up(self):
        """It goes a fifth of the way: columns that are there already are proposed for long."""

        class Slow(Wrapped):
            def solve(self, problem, start, accuracy):
                best = super().solve(problem, start, accuracy).W
                W = start + 0.2 * (best - start)
                return SolverResult(
                    W, problem.objective.negative_gradient(problem.columns.scores(W)), True, 1
                )

        outcome = boost(Slow(lambda calls, problem, result: result), columns_per_round=1, tol=1e-2)
        assert outcome.status is Status.OPTIMAL
        sizes = [record.columns for record in outcome.state.history]
        assert any(len(set(sizes[i : i + 5])) == 1 for i in range(len(sizes) - 4))
        check_outcome(outcome)
        check_history(outcome)

    def test_a_master_that_lies_about_its_value(self):
        """The certificate is computed anew, so it tells the truth."""

        def change(call, problem, result):
            return SolverResult(result.W + 0.5, result.U, True, 1, value=0.001)

        outcome = boost(Wrapped(change), max_columns=4)
        problem = RestrictedProblem(objective(), outcome.state.columns)
        assert outcome.certificate.primal == pytest.approx(problem.value(outcome.state.W))
        assert outcome.certificate.primal > 0.5

    def test_not_a_number_is_left_aside(self):
        def change(call, problem, result):
            return SolverResult(np.full_like(result.W, np.nan), result.U, False, 1, math.nan)

        outcome = boost(Wrapped(change), max_columns=8)
        assert outcome.status is Status.BUDGET
        assert not outcome.state.W.any()
        assert math.isfinite(outcome.certificate.gap)

    def test_the_dual_point_of_a_worse_answer_still_counts(self):
        """W = 0 is kept, while the bound rises with the duals of the solver."""

        def change(call, problem, result):
            return SolverResult(result.W + 5.0, result.U, True, 1)

        outcome = boost(Wrapped(change), max_columns=12)
        first, last = outcome.state.history[0], outcome.state.history[-1]
        assert last.primal == first.primal
        assert last.dual > first.dual

    def test_the_best_dual_point_is_kept(self):
        """At the end the certificate has the best bound of all rounds, not the last one."""
        goal, oracle = objective(), StumpOracle(BINNED, COSTS)
        bounds = []

        def change(call, problem, result):
            U = (
                result.U
                if call < 5
                else goal.negative_gradient(6.0 * problem.columns.scores(result.W))
            )
            price = oracle.price(goal.coefficients(U), goal.penalty)
            bounds.append(lower_bound(goal, U, price.max_price, price.rounding))
            return SolverResult(result.W, U, True, 1)

        outcome = boost(Wrapped(change), columns_per_round=1, max_columns=8)
        best = max(outcome.state.history[0].dual, *bounds)
        assert bounds[-1] < best
        assert outcome.state.best_dual == pytest.approx(best, rel=1e-14)
        assert outcome.certificate.dual >= best - 1e-12


class TestForgetting:
    """Columns that stay at zero may be dropped on the way."""

    @pytest.mark.parametrize("master", [LBFGSB, LinearProgram, ProximalGradient])
    def test_the_optimum_is_the_same(self, master, monkeypatch):
        """Masters that keep a model of the columns notice that some are gone."""
        monkeypatch.setattr("directboost.problem.columns._MAX_IDLE_ROUNDS", 1)
        goal = objective("hinge" if master is LinearProgram else "logistic", nu=0.004)
        rng = np.random.default_rng(1)

        def choose(call, found, A):
            """Return the best proposal of all and three stumps of no use."""
            best = found.proposals
            first = int(best.feature[0]), int(best.threshold[0]), int(best.polarity[0])
            noise = [(1, int(rng.integers(0, BINNED.n_thresholds(1))), 1) for _ in range(3)]
            return named(first, *noise)

        kept = boost(master(), goal=goal)
        columns = DenseColumns(BINNED, COSTS, forget=True)
        dropped = boost(master(), Adversary(choose), goal=goal, columns=columns)
        assert columns.generation > 0
        assert dropped.status is Status.OPTIMAL
        assert dropped.certificate.relative_gap <= 1e-6
        assert dropped.certificate.primal == pytest.approx(kept.certificate.primal, rel=1e-6)
        check_outcome(dropped, goal)


def test_records_hold_what_the_solver_reported():
    """Each record has the iterations of the solve before it; the first round follows no solve."""
    reported = []

    class Reporting(LBFGSB):
        def solve(self, problem, start, accuracy):
            result = super().solve(problem, start, accuracy)
            reported.append((result.iterations, result.solved))
            return result

    found = [(r.iterations, r.solved) for r in boost(Reporting()).state.history]
    assert found == [(0, True), *reported]
    assert any(iterations > 1 for iterations, _ in found)
