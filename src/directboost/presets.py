"""The algorithms of the paper, under the paper's names.

Each function returns a `DirectBoostClassifier` that is configured as the paper describes: one
column per round, chosen by its best single class, all coefficients re-optimised in every round,
`nu` in the scale of the paper, and at most 500 weak classifiers. The default `nu` is from the
middle of the paper's grid. Every parameter can be overridden::

    multiboost_l1_hinge(nu=0.02, max_learners=100)
"""

from typing import Any

from .estimators.classifier import DirectBoostClassifier

__all__ = [
    "multiboost_fast",
    "multiboost_group",
    "multiboost_group_hinge",
    "multiboost_l1_exp",
    "multiboost_l1_hinge",
]


def multiboost_l1_hinge(**parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the hinge loss and the l1 penalty.

    Paper: Algorithm 1.

    Parameters
    ----------
    **parameters
        Parameters of `DirectBoostClassifier`, which override those of the preset.

    Returns
    -------
    classifier : DirectBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from directboost.presets import multiboost_l1_hinge
    >>> multiboost_l1_hinge(nu=0.02).get_params()["nu"]
    0.02
    """
    return _paper(parameters, loss="hinge", penalty="l1", nu=0.01)


def multiboost_l1_exp(**parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the exponential loss and the l1 penalty.

    Paper: Eq. 11 (primal).

    Parameters
    ----------
    **parameters
        Parameters of `DirectBoostClassifier`, which override those of the preset.

    Returns
    -------
    classifier : DirectBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from directboost.presets import multiboost_l1_exp
    >>> multiboost_l1_exp().loss
    'exponential'
    """
    return _paper(parameters, loss="exponential", penalty="l1", nu=1e-6)


def multiboost_group(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the logistic loss and the l1,p penalty.

    Paper: Algorithm 2.

    Parameters
    ----------
    p : float, default=2.0
        The p of the l1,p penalty; `numpy.inf` for l1,inf.
    **parameters
        Parameters of `DirectBoostClassifier`, which override those of the preset.

    Returns
    -------
    classifier : DirectBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from directboost.presets import multiboost_group
    >>> multiboost_group(p=3.0).penalty
    3.0
    """
    return _paper(parameters, loss="logistic", penalty=p, nu=1e-3)


def multiboost_group_hinge(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the hinge loss and the l1,p penalty.

    Paper: Algorithm 2.

    Parameters
    ----------
    p : float, default=2.0
        The p of the l1,p penalty; `numpy.inf` for l1,inf.
    **parameters
        Parameters of `DirectBoostClassifier`, which override those of the preset.

    Returns
    -------
    classifier : DirectBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from directboost.presets import multiboost_group_hinge
    >>> multiboost_group_hinge().loss
    'hinge'
    """
    return _paper(parameters, loss="hinge", penalty=p, nu=1e-3)


def multiboost_fast(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return the fast form: logistic loss, one-vs-all margins and the l1,p penalty.

    Paper: Eq. 63 (primal).

    Parameters
    ----------
    p : float, default=2.0
        The p of the l1,p penalty; `numpy.inf` for l1,inf.
    **parameters
        Parameters of `DirectBoostClassifier`, which override those of the preset.

    Returns
    -------
    classifier : DirectBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from directboost.presets import multiboost_fast
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = multiboost_fast(max_learners=20).fit(X, y)
    >>> model.n_learners_ <= 20
    True
    """
    return _paper(parameters, loss="logistic", margin="one-vs-all", penalty=p, nu=1e-3)


def _paper(given: dict[str, Any], **preset: Any) -> DirectBoostClassifier:
    paper = {"pricing": "paper", "columns_per_round": 1, "nu_scale": "paper", "max_learners": 500}
    return DirectBoostClassifier(**{**paper, **preset, **given})
