"""scikit-learn's checks of estimators: as cases of which some are slow, or all in one."""

import unittest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def name_of(check):
    """Return the name of a check, with the choices it is made for."""
    words = ", ".join(f"{key}={value}" for key, value in check.keywords.items())
    return check.func.__name__ + (f"({words})" if words else "")


def checks_of(estimators, is_slow):
    """Return a case for every check of every estimator.

    `is_slow` tells of an estimator and the name of a check whether the case is marked `slow`.
    """
    cases = []
    for estimator in estimators:
        for tested, check in estimator_checks_generator(estimator):
            slow = is_slow(estimator, check.func.__name__)
            cases.append(
                pytest.param(
                    tested,
                    check,
                    marks=pytest.mark.slow if slow else (),
                    id=f"{estimator}-{name_of(check)}",
                )
            )
    return cases


def failures_of(estimator, left_out=()):
    """Run the checks of an estimator; return the number of checks and errors by name.

    One case for all of them: most take a hundredth of a second. Checks whose names begin with one
    of `left_out` are not run.
    """
    failures, count = {}, 0
    for tested, check in estimator_checks_generator(estimator):
        if check.func.__name__.startswith(tuple(left_out)):
            continue
        count += 1
        try:
            check(tested)
        except unittest.SkipTest:  # for example of array libraries that are not installed
            count -= 1
        except Exception as error:
            failures[name_of(check)] = repr(error)
    return count, failures
