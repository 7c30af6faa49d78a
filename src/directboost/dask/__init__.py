"""The same fit on Dask."""

from .cluster import ClusterLostError
from .estimator import DaskDirectBoostClassifier
from .partial_pricing import TrafficLimitError

__all__ = ["ClusterLostError", "DaskDirectBoostClassifier", "TrafficLimitError"]
