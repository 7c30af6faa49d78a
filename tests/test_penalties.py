"""The penalties on small examples, and the prox for general p on problems with known solutions."""

import numpy as np
import pytest

from directboost.penalties import L1, PENALTIES, GroupNorm, penalty_name, resolve_penalty
from tests.reference.formulas import norm

PENALTY = L1()


@pytest.mark.paper("Eq. 3")
def test_value_is_the_sum_of_all_weights():
    """With unit costs the penalty is the sum of W >= 0; costs weight the rows."""
    W = np.array([[1.0, 2.0], [0.0, 0.5]])
    assert PENALTY.value(W) == 3.5
    assert PENALTY.value(W, np.array([2.0, 4.0])) == 8.0


def test_prox_is_soft_thresholding_with_a_step_per_row():
    """Entries lose the step of their row and stop at zero."""
    V = np.array([[1.0, 0.2, -3.0], [1.0, 0.2, -3.0]])
    expected = [[0.5, 0.0, 0.0], [0.75, 0.0, 0.0]]
    np.testing.assert_array_equal(PENALTY.prox(V, np.array([0.5, 0.25])), expected)


def test_dual_norm_is_the_largest_positive_edge():
    """Negative edges count as zero."""
    E = np.array([[0.1, -5.0, 0.3], [-1.0, -2.0, -3.0]])
    np.testing.assert_array_equal(PENALTY.dual_norm(E), [0.3, 0.0])


@pytest.mark.paper("Eq. 50")
def test_block_soft_threshold():
    """p = 2: the positive part shrinks by the factor 1 - step / norm, or is zero."""
    V = np.array([[3.0, 4.0, -7.0], [0.3, 0.4, 0.0]])
    X = GroupNorm(2).prox(V, 1.0)
    np.testing.assert_allclose(X, [[2.4, 3.2, 0.0], [0.0, 0.0, 0.0]], rtol=1e-15)
    assert not X[1].any()


@pytest.mark.paper("Eq. 49")
def test_block_soft_threshold_with_a_step_per_row():
    """Every row has its own threshold nu kappa_j / sigma."""
    V = np.array([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    X = GroupNorm(2).prox(V, np.array([0.0, 2.5, 5.0]))
    np.testing.assert_allclose(X, [[3.0, 4.0], [1.5, 2.0], [0.0, 0.0]], rtol=1e-15)


def test_max_norm_cuts_the_largest_entries():
    """p = inf: the amounts cut off the largest entries of a row sum to the step."""
    V = np.array([[3.0, 2.0, 1.0, -5.0], [3.0, 2.0, 1.0, -5.0], [3.0, 2.0, 1.0, -5.0]])
    X = GroupNorm(np.inf).prox(V, np.array([0.5, 3.0, 6.0]))
    expected = [[2.5, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    np.testing.assert_allclose(X, expected, atol=1e-15)


def test_max_norm_has_the_sum_of_positive_edges_as_dual():
    """p = inf: the dual norm is the sum of the positive edges."""
    E = np.array([[0.1, -5.0, 0.3], [-1.0, -2.0, -3.0]])
    np.testing.assert_allclose(GroupNorm(np.inf).dual_norm(E), [0.4, 0.0], rtol=1e-15)


def test_conjugate_exponent():
    """1/p + 1/q = 1."""
    for p, q in ((1.5, 3.0), (2.0, 2.0), (3.0, 1.5), (np.inf, 1.0)):
        assert GroupNorm(p).q == pytest.approx(q, rel=1e-15)


@pytest.mark.parametrize("p", [1.01, 1.1, 1.5, 1.9, 2.5, 4.0, 10.0, 40.0])
def test_prox_returns_a_known_solution(p, rng):
    """For any v > 0 the prox of v + step (v / ||v||_p)^(p-1) is v itself."""
    V = rng.uniform(0.1, 1.0, (50, 4))
    V[:, 3] *= rng.random(50) < 0.5
    steps = 10.0 ** rng.uniform(-4.0, 2.0, 50)
    sizes = np.array([norm(row, p) for row in V])
    X = V + steps[:, None] * np.where(V > 0.0, (V / sizes[:, None]) ** (p - 1.0), 0.0)
    found = GroupNorm(p).prox(X, steps)
    tolerance = 1e-12 * (1.0 + steps) * max(1.0, 1.0 / (p - 1.0))
    assert np.all(np.abs(found - V) <= tolerance[:, None])


@pytest.mark.parametrize("p", [1.01, 1.5, 3.0, 10.0])
def test_prox_with_most_of_the_row_shrunk_away(p):
    """A step just below the dual norm leaves a small row of the right size."""
    V = np.array([[1.0, 0.6, 0.3, -1.0]])
    penalty = GroupNorm(p)
    dual = penalty.dual_norm(V)
    for rest in (1e-1, 1e-2, 1e-3):
        step = (1.0 - rest) * dual
        X = penalty.prox(V, step)
        assert X.max() > 0.0
        product, expected = np.sum((V - X) * X), step[0] * norm(X[0], p)
        assert product == pytest.approx(expected, rel=1e-9)
        assert penalty.dual_norm(V - X)[0] == pytest.approx(step[0], rel=1e-9)


def test_prox_shrinks_as_the_step_grows(rng):
    """The norm of the prox falls with the step, for every p."""
    V = rng.uniform(0.0, 1.0, (1, 5))
    for p in (1.3, 2.0, 3.0, 8.0, np.inf):
        penalty = GroupNorm(p)
        steps = np.linspace(0.0, 1.1, 12) * penalty.dual_norm(V)[0]
        norms = [penalty.norms(penalty.prox(V, step))[0] for step in steps]
        assert np.all(np.diff(norms) <= 1e-14)
        assert norms[0] == pytest.approx(norm(V[0], p))
        assert norms[-1] == 0.0


class Elastic(L1):
    """A penalty outside the family l1,p."""

    name = "elastic"
    p = None


def test_penalties_outside_the_family_have_names_too(monkeypatch):
    """A registered penalty shows its name, a penalty of the user that of its class."""
    assert [penalty_name(make()) for make in PENALTIES.values()] == list(PENALTIES)
    assert penalty_name(GroupNorm(3.0)) == "l1,3"
    assert penalty_name(Elastic()) == "Elastic"
    monkeypatch.setitem(PENALTIES, "elastic", Elastic)
    assert penalty_name(Elastic()) == "elastic"
    assert isinstance(resolve_penalty("elastic"), Elastic)


@pytest.mark.parametrize("penalty", ["l2", "l1,1", "l1,x", 0.5, True, None, ["l1"], "l1,nan"])
def test_invalid_penalties_are_rejected(penalty):
    with pytest.raises(ValueError, match="is invalid: expected 'l1', 'l1,2', 'l1,inf', 'l1,p'"):
        resolve_penalty(penalty)


def test_a_group_norm_needs_p_above_one():
    with pytest.raises(ValueError, match=r"p=1.0 is invalid: expected p > 1"):
        GroupNorm(1.0)
