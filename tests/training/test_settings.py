"""From names to parts: losses, margins, penalties and masters."""

import math

import pytest

from directboost.losses import LOSSES, SmoothLoss
from directboost.penalties import L1, GroupNorm, resolve_penalty
from directboost.solvers import (
    SOLVERS,
    BlockDescent,
    ColumnBlockDescent,
    Conic,
    LinearProgram,
    ProximalGradient,
)
from directboost.training.settings import LossMarginPenalty, resolve_objective, resolve_solver
from tests.reference.formulas import LOSS_MARGINS


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_losses_take_the_margins_of_the_theory_page(loss, margin):
    """Only the multinomial loss has no one-vs-all form."""
    if margin in LOSS_MARGINS[loss]:
        parts = resolve_objective(loss, margin, "l1")
        assert (parts.loss.name, parts.margin.name, parts.penalty.p) == (loss, margin, 1.0)
    else:
        with pytest.raises(ValueError, match=f"margin='{margin}' .* loss='{loss}'.*'pairwise'"):
            resolve_objective(loss, margin, "l1")


@pytest.mark.parametrize(
    ("penalty", "kind", "p"),
    [
        ("l1", L1, 1.0),
        (1, L1, 1.0),
        (1.0, L1, 1.0),
        ("l1,2", GroupNorm, 2.0),
        (2, GroupNorm, 2.0),
        ("l1,inf", GroupNorm, math.inf),
        (math.inf, GroupNorm, math.inf),
        (1.5, GroupNorm, 1.5),
    ],
)
def test_penalties_by_name_and_number(penalty, kind, p):
    """A number p stands for l1,p; 1, 2 and inf are the named ones."""
    found = resolve_penalty(penalty)
    assert isinstance(found, kind)
    assert found.p == p


def test_objects_pass_through():
    """A penalty, loss or master that is an object already is used as it is."""
    penalty = GroupNorm(2.5)
    assert resolve_penalty(penalty) is penalty
    loss = SmoothLoss(lambda z: -z, lambda z: -1.0 + 0.0 * z)
    parts = resolve_objective(loss, "one-vs-all", penalty)
    assert parts.loss is loss
    master = ProximalGradient()
    assert resolve_solver(master, parts, single_columns=True) is master


@pytest.mark.parametrize(
    ("loss", "penalty", "single", "master"),
    [
        ("logistic", "l1,2", False, BlockDescent),
        ("exponential", "l1", False, BlockDescent),
        ("squared_hinge", 3.0, False, BlockDescent),
        ("hinge", "l1", False, BlockDescent),
        ("hinge", "l1,inf", True, LinearProgram),
        ("hinge", "l1,2", False, BlockDescent),
        ("hinge", 1.5, True, Conic),
        ("logistic", "l1,2", True, ProximalGradient),
    ],
)
def test_the_automatic_choice(loss, penalty, single, master):
    """The fastest master that fits; single columns exclude the one on whole features."""
    assert resolve_solver("auto", resolve_objective(loss, "pairwise", penalty), single) is master


@pytest.mark.parametrize(
    ("loss", "penalty", "master"),
    [
        ("logistic", "l1,2", ColumnBlockDescent),
        ("exponential", "l1", ColumnBlockDescent),
        ("hinge", "l1", LinearProgram),
        ("hinge", "l1,2", Conic),
    ],
)
def test_the_automatic_choice_for_single_stumps(loss, penalty, master):
    """Block descent where the loss is smooth, exact solvers where it has kinks."""
    parts = resolve_objective(loss, "pairwise", penalty)
    assert resolve_solver("auto", parts, single_columns=True, on_codes=True) is master
    chosen = resolve_solver("blocks", parts, single_columns=True, on_codes=True)
    assert chosen is ColumnBlockDescent


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf", 3.0])
@pytest.mark.parametrize("single", [False, True])
def test_a_named_master_is_taken_or_refused_with_those_that_fit(solver, loss, penalty, single):
    """The message lists masters, and each of them is then accepted."""
    parts = resolve_objective(loss, "pairwise", penalty)
    try:
        assert resolve_solver(solver, parts, single) is SOLVERS[solver]
    except ValueError as refusal:
        message = str(refusal)
        assert f"solver={solver!r}" in message
        assert f"loss={loss!r}" in message
        listed = [name for name in SOLVERS if f"'{name}'" in message.split("use one of")[1]]
        assert listed
        for name in listed:
            assert resolve_solver(name, parts, single) is SOLVERS[name]


@pytest.mark.parametrize(
    ("penalty", "name"), [("l1", "l1"), (2.0, "l1,2"), (math.inf, "l1,inf"), (1.5, "l1,1.5")]
)
def test_parts_in_words(penalty, name):
    """Messages name the parts as a user writes them."""
    parts = resolve_objective("hinge", "one-vs-all", penalty)
    assert isinstance(parts, LossMarginPenalty)
    assert str(parts) == f"loss='hinge', margin='one-vs-all', penalty='{name}'"
