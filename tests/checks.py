"""scikit-learn's checks of estimators as cases of which some are slow."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def checks_of(estimators, is_slow):
    """Return a case for every check of every estimator.

    `is_slow` tells of an estimator and the name of a check whether the case is marked `slow`.
    """
    cases = []
    for estimator in estimators:
        for tested, check in estimator_checks_generator(estimator):
            name, choices = check.func.__name__, check.keywords
            words = ", ".join(f"{key}={value}" for key, value in choices.items())
            cases.append(
                pytest.param(
                    tested,
                    check,
                    marks=pytest.mark.slow if is_slow(estimator, name) else (),
                    id=f"{estimator}-{name}" + (f"({words})" if words else ""),
                )
            )
    return cases
