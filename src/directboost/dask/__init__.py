"""The same fit on Dask."""

from .cluster import ClusterLostError
from .estimator import DaskDirectBoostClassifier

__all__ = ["ClusterLostError", "DaskDirectBoostClassifier"]
