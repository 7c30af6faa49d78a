"""A fitted model in words."""

from typing import Any

import numpy as np

from .arrays import Array


def describe(model: Any, names: list[str], max_rules: int) -> str:
    """Return a text about a fitted estimator: setting, proof, size, strongest rules."""
    lines = [*_setting(model), *_proof(model), *_size(model), *_rules(model, names, max_rules)]
    return "\n".join(lines)


def _setting(model: Any) -> list[str]:
    loss = model.loss if isinstance(model.loss, str) else type(model.loss).__name__
    relative = model.nu_ / model.nu_max_ if model.nu_max_ > 0.0 else np.inf
    return [
        f"{type(model).__name__}: {loss} loss, {model.margin} margin, {model.penalty} penalty, "
        f"nu = {model.nu_:.4g} ({relative:.4g} nu_max)"
    ]


def _proof(model: Any) -> list[str]:
    c = model.certificate_
    return [
        f"certificate: objective {c.primal:.6g}, no model over {c.dictionary} goes below "
        f"{c.dual:.6g}",
        f"             relative gap {c.relative_gap:.3%} (tol {model.tol:.3%}), "
        f"status {model.status_}, {model.n_iter_} rounds",
    ]


def _size(model: Any) -> list[str]:
    if model.n_learners_ == 0:
        return ["model:       empty; it answers with the class frequencies"]
    weights = int(np.count_nonzero(model.coef_))
    sharing = float(np.mean(model.class_sharing_))
    return [
        f"model:       {model.n_learners_} weak classifiers on {model.n_features_used_} of "
        f"{model.n_features_in_} features, {weights} weights; one serves {sharing:.1f} of "
        f"{model.classes_.size} classes on average"
    ]


def _rules(model: Any, names: list[str], max_rules: int) -> list[str]:
    strength = model.coef_.sum(axis=1)
    order = np.argsort(-strength, kind="stable")[:max_rules]
    lines = ["rules (each adds the votes where it holds and takes them away where not):"]
    for j in order:
        learner = model.learners_[j]
        name = names[learner.feature] if hasattr(learner, "feature") else ""
        lines.append(f"  {learner.describe(name):<28} {_votes(model.coef_[j], model.classes_)}")
    left = model.n_learners_ - len(order)
    if left > 0:
        lines.append(f"  and {left} weaker ones")
    return lines if model.n_learners_ else []


def _votes(weights: Array, classes: Any, most: int = 5) -> str:
    order = np.argsort(-weights, kind="stable")
    shown = [f"{classes[r]} {weights[r]:+.3f}" for r in order[:most] if weights[r] > 0.0]
    more = int((weights > 0.0).sum()) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
