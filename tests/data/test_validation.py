"""Validation and coding of user input."""

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
    """Return the weights in the user's unit; they are stored relative to the largest one."""
    assert rows.weight.max() == 1.0
    assert rows.weight.min() > 0.0
    return rows.weight * rows.total_weight / rows.weight.sum()


def test_labels_are_coded_in_sorted_order():
    """Codes are indices of the sorted classes; without weights every weight is one."""
    rows = make_training_set(X, Y, None, None)
    np.testing.assert_array_equal(rows.classes, ["a", "b", "c"])
    np.testing.assert_array_equal(rows.classes[rows.codes], Y)
    np.testing.assert_array_equal(rows.weight, np.ones(6))
    assert rows.X is X
    assert rows.weight.dtype == np.float64


def test_rows_of_weight_zero_are_dropped():
    """They are dropped from X, labels and weights, with the classes of no other row."""
    rows = make_training_set(X, Y, [1, 0, 2, 0, 3, 1], None)
    np.testing.assert_array_equal(rows.X, X[[0, 2, 4, 5]])
    np.testing.assert_array_equal(rows.classes, ["b", "c"])
    np.testing.assert_allclose(weights(rows), [1.0, 2.0, 3.0, 1.0])


def test_unused_levels_are_dropped():
    """Numeric features have no levels; levels that only rows of weight zero have are dropped."""
    rows = make_training_set(X, Y, None, None)
    assert rows.levels.tolist() == [0, 0]
    encoder = learn_encoder(X, [1], ["a", "b"])
    rows = make_training_set(encoder.encode(X), Y, [1, 0, 2, 0, 3, 1], None)
    rows, smaller = with_levels(rows, encoder, None)
    assert rows.levels.tolist() == [0, 4]
    np.testing.assert_array_equal(rows.X[:, 1], [0, 1, 2, 3])
    np.testing.assert_array_equal(smaller.categories[1], [1, 5, 9, 11])
    np.testing.assert_array_equal(smaller.encode(X[[0, 2, 4, 5]]), rows.X)


def test_rare_levels_are_joined_with_missing_values():
    """The heaviest levels remain, the first of equally heavy ones; the warning names the column."""
    levels = np.array([3.0, 1.0, 7.0, 5.0, 9.0, 3.0, np.nan])[:, None]
    encoder = learn_encoder(levels, [0], ["shop"])
    weight = [1.0, 2.0, 3.0, 1.0, 2.5, 1.0, 1.0]
    rows = make_training_set(encoder.encode(levels), [0, 1, 0, 1, 0, 1, 0], weight, None)
    message = "column 'shop' of X has 5 levels, above max_bins=3: the 3 most frequent ones are kept"
    with pytest.warns(UserWarning, match=message):
        joined, smaller = with_levels(rows, encoder, 3)
    np.testing.assert_array_equal(smaller.categories[0], [1, 7, 9])
    np.testing.assert_array_equal(joined.X[:, 0], [np.nan, 0, 1, np.nan, 2, np.nan, np.nan])
    assert (joined.joined, smaller.joined, joined.levels.tolist()) == ((0,), (0,), [3])
    np.testing.assert_array_equal(smaller.encode(levels), joined.X)
    same, unchanged = with_levels(rows, encoder, 5)
    assert (same.joined, unchanged.joined) == ((), ())


def test_the_number_of_levels_is_limited():
    """The limit itself is accepted; the message names the first column above it."""
    levels = np.array([0, 255, 7])
    check_level_counts(levels, None, ["a", "b", "c"])
    check_level_counts(levels, 300, ["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'b' of X has 255 levels, above max_bins=6: merge"):
        check_level_counts(levels, 6, ["a", "b", "c"])


def test_class_weights_multiply():
    """Weights of rows and classes multiply; a class of weight zero is dropped."""
    rows = make_training_set(X, Y, [1, 2, 3, 4, 5, 6], {"a": 10.0, "b": 0.0})
    np.testing.assert_allclose(weights(rows), [1.0, 20.0, 40.0, 5.0], rtol=1e-15)
    np.testing.assert_array_equal(rows.classes, ["a", "c"])


def test_balanced_class_weights():
    """ "balanced" is m / (k count), as in scikit-learn."""
    y = np.array([0, 0, 0, 0, 1, 1])
    rows = make_training_set(X, y, None, "balanced")
    np.testing.assert_allclose(weights(rows), [0.75] * 4 + [1.5] * 2)


@pytest.mark.parametrize("weight", [2.5, None])
def test_scalar_sample_weight(weight):
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
    """One cost per feature, followed by 1 for the constant; features not named cost 1."""
    np.testing.assert_array_equal(feature_costs(costs, ["a", "b"]), expected)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.int64(3)])
def test_valid_numbers(value):
    """Python and NumPy numbers become floats."""
    found = check_number("nu", value, 0.0, strict=True, what="a positive number")
    assert type(found) is float
    assert found == value


def test_invalid_costs_appear_in_the_message():
    with pytest.raises(
        ValueError, match=r"feature_costs=\{'b': 'x'\} is invalid: expected numbers"
    ):
        feature_costs({"b": "x"}, list("abc"))
    with pytest.raises(ValueError, match=r"feature_costs=\[1, 'x'\] is invalid"):
        feature_costs([1, "x"], list("ab"))


def test_strict_and_non_strict_bounds():
    """The bound itself is accepted only if it is not strict."""
    assert check_number("nu", 0.0, 0.0, strict=False, what="") == 0.0
    with pytest.raises(ValueError, match=r"nu=0\.0 .*a positive number"):
        check_number("nu", 0.0, 0.0, strict=True, what="a positive number")


@pytest.mark.parametrize("value", [0.0, -0.5, 1.0 + 1e-9, np.nan, True, "half"])
def test_shares_lie_in_zero_to_one(value):
    assert check_share("rate", 1) == 1.0
    with pytest.raises(ValueError, match=r"rate=.* is invalid: expected a number in \(0, 1\]"):
        check_share("rate", value)


@pytest.mark.parametrize("value", [2, np.int32(2), np.uint8(2)])
def test_valid_counts(value):
    """Integers of any type become int."""
    assert type(check_count("max_bins", value, 2, "")) is int


@pytest.mark.parametrize("value", [1, 2.0, True, "2", None, np.float64(3)])
def test_invalid_counts(value):
    """Floats and booleans are rejected."""
    with pytest.raises(ValueError, match=r"max_bins=.* is invalid: expected an integer >= 2"):
        check_count("max_bins", value, 2, "an integer >= 2")


@pytest.mark.parametrize("value", ["B", "", None, 1, ["a"]])
def test_choices(value):
    """A choice must match one of the names exactly."""
    assert check_choice("kind", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"kind=.* is invalid: expected one of 'a', 'b'"):
        check_choice("kind", value, ("a", "b"))


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_raise_the_error_of_scikit_learn(real, value):
    """Missing values, columns of missing values and overflowing sums are accepted."""
    rows = np.full((9, 3), np.nan, dtype=real)
    rows[:, 1] = np.finfo(real).max
    check_finite(rows)
    rows[4, 2] = value
    with pytest.raises(ValueError, match=r"Input X contains infinity or a value too large"):
        check_finite(rows)
