"""The bridge to scikit-learn's own callbacks, where its version has them."""

from collections.abc import Callable
from typing import Any, TypeVar

from .history import Record, Status

Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "close_fit", "open_fit", "round_callback", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Return the method as it is."""
        return method


def open_fit(estimator: Any, X: Any, y: Any) -> Any:
    """Tell scikit-learn's callbacks that a fit begins; return their context, or None."""
    if not hasattr(estimator, "_init_callback_context"):
        return None
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    return context


def close_fit(estimator: Any, context: Any, X: Any, y: Any) -> None:
    """Tell scikit-learn's callbacks that the fit is over."""
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def round_callback(estimator: Any, context: Any) -> Callable[[Record], Status | None]:
    """Return a callback that makes every round a task of scikit-learn's callbacks."""

    def report(record: Record) -> Status | None:
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator)
        return Status.STOPPED if stop else None

    return report
