"""Samples of grids of parameters: few cases in which all pairs of values meet."""

import random
from collections import defaultdict
from itertools import combinations

import pytest


def pairs_of(case):
    """Return every pair of values of a case, each with its position."""
    return set(combinations(enumerate(case), 2))


def covering(cases, least=0):
    """Return a sample in which every pair of values that occurs in a case occurs too.

    `cases` are tuples of hashable values. The sample is the same in every run, and filled up to
    `least` cases.
    """
    order = list(cases)
    random.Random(0).shuffle(order)
    left, sample = set().union(*map(pairs_of, order)), []
    while left:
        best = max(order, key=lambda case: len(left & pairs_of(case)))
        left -= pairs_of(best)
        sample.append(best)
    for case in order:
        if len(sample) < least and case not in sample:
            sample.append(case)
    return set(sample)


def thin(items):
    """Apply the marker `covering` to collected tests; return those to keep and those to drop.

    The cases outside the sample become `slow`, or are dropped where the marker says `rest=None`.
    """
    grids, dropped = defaultdict(list), set()
    for item in items:
        if item.get_closest_marker("covering") is not None:
            grids[item.nodeid.partition("[")[0]].append(item)
    for grid in grids.values():
        marker = grid[0].get_closest_marker("covering")
        cases = [tuple(map(id, item.callspec.params.values())) for item in grid]
        sample = covering(cases, marker.kwargs.get("least", 0))
        for item, case in zip(grid, cases, strict=True):
            if case not in sample:
                if marker.kwargs.get("rest", "slow") is None:
                    dropped.add(item)
                else:
                    item.add_marker(pytest.mark.slow)
    return [item for item in items if item not in dropped], dropped
