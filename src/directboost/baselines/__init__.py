"""The competitors of the paper, on the binned data and tables of the main estimator."""

from .adaboost_mh import AdaBoostMH

__all__ = ["AdaBoostMH"]
