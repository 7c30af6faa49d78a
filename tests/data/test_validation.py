"""Checks and codes of what users hand in."""

import numpy as np
import pytest

from directboost.data.categories import learn_encoder
from directboost.data.validation import (
    check_choice,
    check_count,
    check_finite,
    check_level_counts,
    check_number,
    check_share,
    feature_costs,
    make_training_set,
    with_levels,
)

X = np.arange(12.0).reshape(6, 2)
Y = np.array(["c", "a", "b", "a", "c", "b"])


def weights(rows):
    """Return the weights in the unit they were given in; they are kept in (0, 1]."""
    assert rows.weight.max() == 1.0
    assert rows.weight.min() > 0.0
    return rows.weight * rows.total_weight / rows.weight.sum()


def test_labels_are_coded_in_sorted_order():
    """Codes point into the sorted classes; no weights means weight one."""
    rows = make_training_set(X, Y, None, None)
    np.testing.assert_array_equal(rows.classes, ["a", "b", "c"])
    np.testing.assert_array_equal(rows.classes[rows.codes], Y)
    np.testing.assert_array_equal(rows.weight, np.ones(6))
    assert rows.X is X
    assert rows.weight.dtype == np.float64


def test_rows_of_weight_zero_are_dropped():
    """They vanish from X, labels, weights, and with them classes that nobody else has."""
    rows = make_training_set(X, Y, [1, 0, 2, 0, 3, 1], None)
    np.testing.assert_array_equal(rows.X, X[[0, 2, 4, 5]])
    np.testing.assert_array_equal(rows.classes, ["b", "c"])
    np.testing.assert_allclose(weights(rows), [1.0, 2.0, 3.0, 1.0])


def test_levels_are_those_of_the_rows_that_count():
    """Numbers have none; a level that only rows of weight zero have is gone, also for good."""
    rows = make_training_set(X, Y, None, None)
    assert rows.levels.tolist() == [0, 0]
    encoder = learn_encoder(X, [1], ["a", "b"])
    rows = make_training_set(encoder.encode(X), Y, [1, 0, 2, 0, 3, 1], None)
    rows, smaller = with_levels(rows, encoder)
    assert rows.levels.tolist() == [0, 4]
    np.testing.assert_array_equal(rows.X[:, 1], [0, 1, 2, 3])
    np.testing.assert_array_equal(smaller.categories[1], [1, 5, 9, 11])
    np.testing.assert_array_equal(smaller.encode(X[[0, 2, 4, 5]]), rows.X)


def test_as_many_levels_as_bins():
    """The limit itself is taken, one more is not; the first column above it is named."""
    levels = np.array([0, 255, 7])
    check_level_counts(levels, None, ["a", "b", "c"])
    check_level_counts(levels, 300, ["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'b' of X has 255 levels, above max_bins=6: join"):
        check_level_counts(levels, 6, ["a", "b", "c"])


def test_class_weights_multiply():
    """Weights of rows and classes multiply; a class of weight zero is dropped."""
    rows = make_training_set(X, Y, [1, 2, 3, 4, 5, 6], {"a": 10.0, "b": 0.0})
    np.testing.assert_allclose(weights(rows), [1.0, 20.0, 40.0, 5.0], rtol=1e-15)
    np.testing.assert_array_equal(rows.classes, ["a", "c"])


def test_balanced_class_weights_count_the_rows():
    """ "balanced" is m / (k count), as everywhere in scikit-learn."""
    y = np.array([0, 0, 0, 0, 1, 1])
    rows = make_training_set(X, y, None, "balanced")
    np.testing.assert_allclose(weights(rows), [0.75] * 4 + [1.5] * 2)


@pytest.mark.parametrize("weight", [2.5, None])
def test_a_number_as_sample_weight(weight):
    """One number is the weight of every row."""
    rows = make_training_set(X, Y, weight, None)
    np.testing.assert_allclose(weights(rows), np.full(6, weight or 1.0))


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        (None, [1.0, 1.0, 1.0]),
        ([2.0, 0.5], [2.0, 0.5, 1.0]),
        (np.array([2, 3]), [2.0, 3.0, 1.0]),
        ({"b": 4.0}, [1.0, 4.0, 1.0]),
        ({}, [1.0, 1.0, 1.0]),
    ],
)
def test_feature_costs(costs, expected):
    """One cost per feature and 1 for the constant at the end; names not given cost 1."""
    np.testing.assert_array_equal(feature_costs(costs, ["a", "b"]), expected)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.int64(3)])
def test_numbers_that_fit(value):
    """Python and NumPy numbers become floats."""
    found = check_number("nu", value, 0.0, strict=True, what="a positive number")
    assert type(found) is float
    assert found == value


def test_costs_that_are_no_numbers_are_shown_as_they_were_given():
    with pytest.raises(ValueError, match=r"feature_costs=\{'b': 'x'\} does not fit: it takes num"):
        feature_costs({"b": "x"}, list("abc"))
    with pytest.raises(ValueError, match=r"feature_costs=\[1, 'x'\] does not fit"):
        feature_costs([1, "x"], list("ab"))


def test_strict_and_weak_bounds():
    """The bound itself is taken only where it is not strict."""
    assert check_number("nu", 0.0, 0.0, strict=False, what="") == 0.0
    with pytest.raises(ValueError, match=r"nu=0\.0 .*a positive number"):
        check_number("nu", 0.0, 0.0, strict=True, what="a positive number")


@pytest.mark.parametrize("value", [0.0, -0.5, 1.0 + 1e-9, np.nan, True, "half"])
def test_shares_are_above_zero_and_at_most_one(value):
    assert check_share("rate", 1) == 1.0
    with pytest.raises(ValueError, match=r"rate=.* does not fit: it takes \(0, 1\]"):
        check_share("rate", value)


@pytest.mark.parametrize("value", [2, np.int32(2), np.uint8(2)])
def test_counts_that_fit(value):
    """Whole numbers of any type become int."""
    assert type(check_count("max_bins", value, 2, "")) is int


@pytest.mark.parametrize("value", [1, 2.0, True, "2", None, np.float64(3)])
def test_counts_that_do_not_fit(value):
    """Floats and truth values are no counts."""
    with pytest.raises(ValueError, match=r"max_bins=.*a whole number"):
        check_count("max_bins", value, 2, "a whole number")


@pytest.mark.parametrize("value", ["B", "", None, 1, ["a"]])
def test_choices(value):
    """A choice is one of the names, to the letter."""
    assert check_choice("kind", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"kind=.*'a', 'b'"):
        check_choice("kind", value, ("a", "b"))


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_as_scikit_learn_does(real, value):
    """Missing values pass, whole columns of them too; sums that overflow do as well."""
    rows = np.full((9, 3), np.nan, dtype=real)
    rows[:, 1] = np.finfo(real).max
    check_finite(rows)
    rows[4, 2] = value
    with pytest.raises(ValueError, match=r"Input X contains infinity or a value too large"):
        check_finite(rows)
