"""Training on Dask: `DaskDirectBoostClassifier` for data on a cluster or larger than memory."""

from .cluster import ClusterLostError
from .estimator import DaskDirectBoostClassifier
from .partial_pricing import TrafficLimitError

__all__ = ["ClusterLostError", "DaskDirectBoostClassifier", "TrafficLimitError"]
