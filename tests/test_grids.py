"""Thinned grids: the sample has all pairs, and is always the same."""

from itertools import product

import pytest

from tests.grids import covering, pairs_of


@pytest.mark.parametrize("sizes", [(1,), (3, 4), (2, 3, 4), (2, 2, 3, 3, 5)])
def test_all_pairs_are_in_the_sample(sizes):
    cases = list(product(*map(range, sizes)))
    sample = covering(cases)
    assert sample <= set(cases)
    assert set().union(*map(pairs_of, sample)) == set().union(*map(pairs_of, cases))
    assert len(sample) == len(cases) if len(sizes) == 2 else len(sample) <= len(cases)
    assert sample == covering(cases)


def test_cases_that_do_not_occur_are_not_made_up():
    cases = [case for case in product(range(3), repeat=3) if sum(case) < 4]
    assert covering(cases) <= set(cases)


@pytest.mark.parametrize(("least", "size"), [(0, 4), (6, 6), (100, 8)])
def test_a_sample_is_filled_up(least, size):
    assert len(covering(list(product(range(2), repeat=3)), least)) == size
