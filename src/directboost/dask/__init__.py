"""Training on Dask: `DaskDirectBoostClassifier` for data on a cluster or larger than memory."""

try:
    from .cluster import ClusterLostError
    from .estimator import DaskDirectBoostClassifier
    from .partial_pricing import TrafficLimitError
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
        raise
    raise ImportError(
        'directboost.dask needs Dask; install it with: pip install "directboost[dask]"',
        name=error.name,
    ) from error

__all__ = ["ClusterLostError", "DaskDirectBoostClassifier", "TrafficLimitError"]
