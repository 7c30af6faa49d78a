"""The contract of margins: a linear map, its adjoint, and the formulas of both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from directboost.margins import MARGINS, OneVsAll
from tests.reference import formulas

every_margin = pytest.mark.parametrize("name", MARGINS)


@st.composite
def cases(draw):
    """Draw (scores, dual weights, codes, k) with entries of at most 1e3 in absolute value."""
    m, k = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    entries = st.floats(-1e3, 1e3, allow_subnormal=False)
    F, U = (draw(arrays(float, (m, k), elements=entries)) for _ in range(2))
    return F, U, draw(arrays(np.int64, m, elements=st.integers(0, k - 1))), k


def test_both_margins_of_the_theory_are_registered():
    """The registry holds the pairwise and the one-vs-all margin under their own names."""
    assert {name: cls.name for name, cls in MARGINS.items()} == {
        "pairwise": "pairwise",
        "one-vs-all": "one-vs-all",
    }


@every_margin
@given(case=cases())
def test_adjoint_identity(name, case):
    """<U, forward(F)> = <adjoint(U), F> for every F and U."""
    F, U, y, k = case
    margin = MARGINS[name].from_codes(y, k)
    left, right = np.sum(U * margin.forward(F)), np.sum(margin.adjoint(U) * F)
    assert left == pytest.approx(right, rel=1e-12, abs=1e-13 * k * np.abs(U).sum() * 1e3)


@every_margin
@given(case=cases())
@pytest.mark.paper("Eq. 14")
def test_forward_and_adjoint_equal_the_formulas(name, case):
    """Both maps agree entry by entry with loops over rows and classes."""
    F, U, y, k = case
    margin = MARGINS[name].from_codes(y, k)
    np.testing.assert_array_equal(margin.forward(F), formulas.margins(F, name, y))
    size = np.abs(U).sum(axis=1).max()
    expected = formulas.edge_coefficients(U, name, y)
    np.testing.assert_allclose(margin.adjoint(U), expected, rtol=1e-14, atol=4e-16 * k * size)


@every_margin
@given(case=cases())
def test_forward_is_linear(name, case):
    """The margins of a sum are the sum of the margins."""
    F, U, y, k = case
    forward = MARGINS[name].from_codes(y, k).forward
    np.testing.assert_allclose(forward(F + 2 * U), forward(F) + 2 * forward(U), atol=1e-11)


@every_margin
def test_arguments_are_not_modified(name, rng):
    """Neither map writes into its argument, and the results own their memory."""
    margin = MARGINS[name].from_codes(np.array([0, 2, 1, 1]), 3)
    for function in (margin.forward, margin.adjoint):
        argument = rng.normal(size=(4, 3))
        before = argument.copy()
        result = function(argument)
        result += 1.0
        np.testing.assert_array_equal(argument, before)


@every_margin
def test_true_class_has_margin_zero(name, rng):
    """`true_class` gives the entries that are 0 for all scores, and is None if there are none."""
    y = np.array([0, 2, 1, 1])
    margin = MARGINS[name].from_codes(y, 3)
    rho = margin.forward(rng.normal(size=(4, 3)))
    assert margin.k == 3
    if margin.true_class is None:
        assert np.all(rho != 0.0)
    else:
        np.testing.assert_array_equal(margin.true_class, y)
        np.testing.assert_array_equal(rho == 0.0, np.eye(3, dtype=bool)[y])


@every_margin
def test_margins_of_a_separable_map_depend_on_one_class_each(name, rng):
    """A margin is separable exactly if class r of rho depends on class r of F only."""
    margin = MARGINS[name].from_codes(np.array([0, 2, 1, 1]), 3)
    F = rng.normal(size=(4, 3))
    changed = F.copy()
    changed[:, 0] += 1.0
    apart = np.array_equal(margin.forward(F)[:, 1:], margin.forward(changed)[:, 1:])
    assert apart == margin.separable


@given(data=st.data(), case=cases())
def test_multi_label_targets(data, case):
    """Any +-1 matrix is a target: the identity and the formulas hold as for class labels."""
    F, U, _, _ = case
    t = data.draw(arrays(np.int64, F.shape, elements=st.sampled_from((-1, 1))))
    margin = OneVsAll(t)
    np.testing.assert_array_equal(margin.forward(F), formulas.margins(F, "one-vs-all", t))
    np.testing.assert_array_equal(margin.adjoint(U), formulas.edge_coefficients(U, "one-vs-all", t))
    left, right = np.sum(U * margin.forward(F)), np.sum(margin.adjoint(U) * F)
    assert left == pytest.approx(right, rel=1e-12, abs=1e-9)


@every_margin
@given(case=cases())
def test_take_restricts_the_map_to_some_rows(name, case):
    """`take` gives the margins of the selected rows."""
    F, U, y, k = case
    margin = MARGINS[name].from_codes(y, k)
    for rows in (slice(0, 1), slice(1, None)):
        part = margin.take(rows)
        np.testing.assert_array_equal(part.forward(F[rows]), margin.forward(F)[rows])
        np.testing.assert_array_equal(part.adjoint(U[rows]), margin.adjoint(U)[rows])


@every_margin
@given(case=cases())
def test_split_gives_one_map_per_class(name, case):
    """The maps of a separable margin, side by side, are the margin; other margins have one map."""
    F, U, y, k = case
    margin = MARGINS[name].from_codes(y, k)
    parts, width = margin.split(), k if margin.separable else 1
    assert len(parts) == width
    places = [slice(r, k, width) for r in range(width)]
    rho = [part.forward(F[:, place]) for part, place in zip(parts, places, strict=True)]
    A = [part.adjoint(U[:, place]) for part, place in zip(parts, places, strict=True)]
    np.testing.assert_array_equal(np.hstack(rho), margin.forward(F))
    np.testing.assert_array_equal(np.hstack(A), margin.adjoint(U))
