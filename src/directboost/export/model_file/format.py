"""The model file format, version 1: one description for the reader and for the JSON schema."""

from typing import Any, ClassVar

from ...history import Status
from ...margins import MARGINS
from .learners import LEARNERS, MAX_FEATURES
from .schema_types import (
    Boolean,
    Choice,
    Integer,
    JSONObject,
    ListOf,
    Named,
    Nullable,
    Number,
    Object,
    Schema,
    SchemaType,
    String,
    invalid,
    read_key,
)
from .values import LABELS, LEVELS, Parameter

FORMAT = "directboost model"
FORMAT_VERSION = 1
DIRECT = ("DirectBoostClassifier",)
MULTI_LABEL = ("DirectBoostMultiLabelClassifier",)
BASELINES = (
    "AdaBoostM1", "SAMME", "AdaBoostMH", "AdaBoostMO", "AdaBoostOC", "AdaBoostECC", "AdaBoostSIP",
    "JointBoost", "GradBoost", "OneVsAllBoost", "LPBoost", "CGBoost", "MultiBoostCW",
)  # fmt: skip
#: All estimators that a model file can contain.
KINDS = (*DIRECT, *MULTI_LABEL, *BASELINES)

_COUNT = Integer(0, 2**53)
_ANY_NUMBER = Number(spelled=("inf", "-inf", "nan"))
_POSITIVE = Number(0.0, strict=True)
_COUNTS, _NUMBERS, _ANY_NUMBERS = ListOf(_COUNT), ListOf(Number()), ListOf(_ANY_NUMBER)
_INDICES = ListOf(Integer(0, MAX_FEATURES - 1))


class Parameters:
    """Parameters by name; those that a fitted model reads have narrower types."""

    known: ClassVar[dict[str, SchemaType]] = {
        "n_jobs": Nullable(Integer(-4096, 4096)),
        "tol": Number(),
        "margin": Choice(tuple(MARGINS)),
        "weak_learner": Choice((None,)),
    }

    def read(self, value: Any) -> JSONObject:
        """Return the parameters for the constructor of the estimator."""
        if not isinstance(value, dict):
            raise invalid(value, "an object")
        types = dict.fromkeys(value, Parameter()) | self.known
        return {name: read_key(value, name, types[name]) for name in value}

    def schema(self) -> Schema:
        """Return the schemas of the known parameters and that of all others."""
        return {
            "type": "object",
            "properties": {name: item.schema() for name, item in self.known.items()},
            "additionalProperties": Parameter().schema(),
        }


# --- Parts of a document ---------------------------------------------------------------------

_LABELS = Named("labels", LABELS, "Distinct values, and the dtype of their array.")
_LEARNERS = Named(
    "learners",
    LEARNERS,
    "Weak classifiers by kind, as lists with one value each. `order` lists the kinds in sequence "
    "with their counts. The threshold inf separates missing from present values.",
)
_FEATURES = Named(
    "features",
    Object({
        "count": Integer(1, MAX_FEATURES),
        "names": Nullable(ListOf(String())),
        "categories": ListOf(Object({
            "feature": Integer(0, MAX_FEATURES - 1), "levels": LEVELS
        })),
        "missing": _INDICES,
    }, {"boolean": _INDICES, "joined": _INDICES}),
    "Number and names of the columns of X; the levels of the categorical columns; the columns that "
    "had missing values in training; the columns of booleans; the categorical columns whose rare "
    "levels are joined with missing values. Columns are counted from 0.",
)  # fmt: skip
CERTIFICATE = Object({
    **dict.fromkeys(("primal", "dual", "gap", "relative_gap", "max_price", "nu"), _ANY_NUMBER),
    "dictionary": String(), "converged": Boolean(),
})  # fmt: skip
#: Columns of the history of a certified estimator.
HISTORY = Object({
    "round": _COUNTS, "columns": _COUNTS,
    **dict.fromkeys(
        ("primal", "dual", "gap", "relative_gap", "max_price", "nu", "seconds_pricing",
         "seconds_master", "seconds"), _ANY_NUMBERS),
    "bytes_moved": _COUNTS,
}, {"iterations": _COUNTS, "solved": ListOf(Boolean()), "learners": _COUNTS})  # fmt: skip
#: Columns of the history of a baseline.
ROUNDS = Object({
    "round": _COUNTS, "learners": _COUNTS,
    **dict.fromkeys(("vote", "error", "objective", "seconds"), _ANY_NUMBERS),
})  # fmt: skip
_LEARNER_CHOICE = Named(
    "learner_choice",
    Object({
        "learner": Choice(("stump", "pair")), "reason": String(),
        "pair_features": Nullable(Integer(2, MAX_FEATURES)),
        "stump_loss": Nullable(_ANY_NUMBER), "pair_loss": Nullable(_ANY_NUMBER),
    }),
    "The weak learner that the parameter value auto stands for in this model, and the reason.",
)  # fmt: skip
_CERTIFICATE = Named("certificate", CERTIFICATE, "The optimality certificate of the model.")
_HISTORY = Named("history", HISTORY, "One value per round of the fit.")
_OF_DIRECT: dict[str, SchemaType] = {
    "nu": Number(0.0),
    "nu_max": Number(0.0),
    "cost": Number(0.0),
    "mean_contributions": Object({"feature": _INDICES, "values": ListOf(_NUMBERS)}),
    "validation_path": Nullable(Object({"nu": _NUMBERS, "loss": _ANY_NUMBERS})),
    "certificate": _CERTIFICATE,
    "history": _HISTORY,
}
#: Parts of certified estimators that a file need not have.
_OPTIONAL: dict[str, SchemaType] = {"learner_choice": _LEARNER_CHOICE}
_SHARES = Object({"feature": _INDICES, "share": ListOf(Number(0.0, strict=True, high=1.0))})
_OF_MULTI_LABEL: dict[str, SchemaType] = {
    "labels": Object({
        "several": Boolean(), "single": Boolean(), "names": Nullable(ListOf(String())),
        "values": Nullable(ListOf(_LABELS)),
    }),
    **_OF_DIRECT,
}  # fmt: skip
_OF_BASELINE: dict[str, SchemaType] = {
    "n_learners": _COUNT,
    "n_nonzero": _COUNT,
    "common": _NUMBERS,
    "code": Nullable(ListOf(ListOf(Choice((1, -1)), min_length=1), min_length=2)),
    "decoding": Nullable(Choice(("loss", "hamming", "linear"))),
    "totals": Nullable(ListOf(Number(0.0))),
    "lam_max": Nullable(Number(0.0)),
    "history": ROUNDS,
}


# --- Documents -------------------------------------------------------------------------------


def _document(
    kinds: tuple[str, ...],
    weight: SchemaType,
    more: dict[str, SchemaType],
    optional: dict[str, SchemaType],
) -> Object:
    return Object({
        "format": Choice((FORMAT,)),
        "format_version": Choice((FORMAT_VERSION,)),
        "directboost_version": String(100),
        "kind": Choice(kinds),
        "classes": _LABELS,
        "features": _FEATURES,
        "parameters": Parameters(),
        "status": Choice(tuple(str(status) for status in Status)),
        "learners": _LEARNERS,
        "weights": Object({
            "outputs": Integer(1, 2**27), "count": _COUNTS, "output": _COUNTS,
            "value": ListOf(weight),
        }),
        "probabilities": Object({"prior": ListOf(Number(0.0)), "factor": _POSITIVE}),
        **more,
        "checksum": String(71),
    }, {"feature_importances": _SHARES, **optional})  # fmt: skip


_FORMS: dict[str, tuple[tuple[str, ...], Object]] = {
    "classifier": (DIRECT, _document(DIRECT, _POSITIVE, _OF_DIRECT, _OPTIONAL)),
    "multi_label": (MULTI_LABEL, _document(MULTI_LABEL, _POSITIVE, _OF_MULTI_LABEL, _OPTIONAL)),
    "baseline": (BASELINES, _document(BASELINES, Number(), _OF_BASELINE, {})),
}


def document_type(kind: str) -> Object:
    """Return the type of the document of an estimator, by the name of its class."""
    return next(document for kinds, document in _FORMS.values() if kind in kinds)


def schema() -> Schema:
    """Return the JSON schema, draft 2020-12, of a document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"directboost model, format {FORMAT_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{form}"} for form in _FORMS],
        "$defs": {
            **{form: document.schema() for form, (_, document) in _FORMS.items()},
            **{
                named.name: named.definition()
                for named in (
                    _LABELS,
                    _LEARNERS,
                    _FEATURES,
                    _CERTIFICATE,
                    _HISTORY,
                    _LEARNER_CHOICE,
                )
            },
            "value": Parameter().definition(),
        },
    }
