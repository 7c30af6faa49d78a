"""The parameter `interactions`: valid forms, invalid values, pairs and their number."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.data.interactions import by_column, check_interactions, count_pairs, pairs_of

NAMES = ["age", "income", "hours", "height"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (0, 0),
        (np.int64(7), 7),
        ([("age", 2)], (("age", 2),)),
        ((["age", "hours", np.int32(3)], ("income", np.str_("age"))),
         (("age", "hours", 3), ("income", "age"))),
        (np.array([[0, 2], [1, 3]]), ((0, 2), (1, 3))),
        ([np.array([2, 1, 0])], ((2, 1, 0),)),
    ],
)  # fmt: skip
def test_valid_forms(value, expected):
    found = check_interactions(value)
    assert found == expected
    if isinstance(found, tuple):
        assert {type(one) for group in found for one in group} <= {int, str, np.str_}


@pytest.mark.parametrize(
    "value", [-1, 2.0, True, "age", [], (), {"age": 1}, {0, 1}, np.array(2.5), np.zeros((0, 2))]
)
def test_invalid_values(value):
    with pytest.raises(ValueError, match=r"^interactions=.* is invalid: expected None for all "):
        check_interactions(value)


@pytest.mark.parametrize("group", ["age", 0, None, {0, 1}, 1.5])
def test_a_group_is_a_list(group):
    message = f"interactions contains {group!r}, which is not a group of features: expected None"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_interactions([("age", "income"), group])


@pytest.mark.parametrize("group", [(), [], ("age",), [0]])
def test_a_group_has_several_features(group):
    message = f"the group {group!r}, which has no pair: expected two or more features per group"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_interactions([group])


@pytest.mark.parametrize("member", [1.0, None, True, ("age",)])
def test_a_feature_is_a_name_or_a_number(member):
    group = ("income", member)
    message = f"interactions contains {member!r} in the group {group!r}: expected the name or the"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_interactions([group])


def test_names_become_columns():
    groups = check_interactions([("hours", "age"), (3, "income", 0)])
    assert by_column(groups, NAMES) == ((2, 0), (3, 1, 0))


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (("age", "incme"), "features that X does not have: ['incme'] (did you mean 'income'?); it"),
        (("age", "zzz"), "names features that X does not have: ['zzz']; it has 'age', 'income'"),
        ((0, 4), "contains the column 4, but X has 4 features: expected a number from 0 to 3"),
        ((0, -1), "contains the column -1, but X has 4 features"),
        ((1, 1), "contains the feature 'income' twice in the group (1, 1): expected different"),
        (("age", 0), "contains the feature 'age' twice in the group ('age', 0)"),
        (("age", 2, "hours"), "contains the feature 'hours' twice in the group"),
    ],
)
def test_features_that_are_unknown_or_repeated(group, message):
    with pytest.raises(ValueError, match="^interactions .*" + re.escape(message)):
        by_column(check_interactions([("income", "height"), group]), NAMES)


def test_default_names_are_not_suggested():
    """x12 is not a misspelling of x1."""
    with pytest.raises(ValueError, match=r"\['x12'\]; it has 'x0', 'x1', 'x2': x2 is column 2"):
        by_column((("x0", "x12"),), ["x0", "x1", "x2"])


@given(st.lists(st.lists(st.integers(0, 8), min_size=2, unique=True), min_size=1, max_size=5))
def test_groups_stand_for_all_pairs_within(groups):
    expected = {frozenset(pair) for group in groups for pair in combinations(group, 2)}
    groups = tuple(map(tuple, groups))
    pairs = pairs_of(groups)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert pairs.tolist() == sorted(map(sorted, expected))
    features, most = count_pairs(groups, 9)
    assert features == np.unique(pairs).size
    assert len(expected) <= most <= features * (features - 1) // 2


@pytest.mark.parametrize(
    ("interactions", "expected"),
    [(None, (5, 10)), (0, (0, 0)), (3, (3, 3)), (9, (5, 10)), (((0, 1), (0, 2, 4)), (4, 4))],
)
def test_the_number_of_pairs_of_five_features(interactions, expected):
    assert count_pairs(interactions, 5) == expected
