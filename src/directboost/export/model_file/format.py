"""The form of a document, format 1: one description for the reader and for the published schema."""

from typing import Any, ClassVar

from ...history import Status
from ...margins import MARGINS
from .learners import LEARNERS, MOST_FEATURES
from .schema_types import (
    Choice,
    Integer,
    Kind,
    Listing,
    Maybe,
    ModelFileError,
    Named,
    Number,
    Record,
    Schema,
    Text,
    Truth,
    read_key,
    shown,
)
from .values import LABELS, Value, definition

FORMAT = "directboost model"
FORMAT_VERSION = 1
DIRECT = ("DirectBoostClassifier",)
MULTI_LABEL = ("DirectBoostMultiLabelClassifier",)
BASELINES = (
    "AdaBoostM1", "SAMME", "AdaBoostMH", "AdaBoostMO", "AdaBoostOC", "AdaBoostECC", "AdaBoostSIP",
    "JointBoost", "GradBoost", "OneVsAllBoost", "LPBoost", "CGBoost", "MultiBoostCW",
)  # fmt: skip

_COUNT = Integer(0, 2**53)
_ANY_NUMBER = Number(spelled=("inf", "-inf", "nan"))
_NUMBERS = Listing(Number())
_COUNTS, _ANY_NUMBERS = Listing(_COUNT), Listing(_ANY_NUMBER)
_INDICES = Listing(Integer(0, MOST_FEATURES - 1))


class Parameters:
    """Parameters by name; those that a fitted model still reads are known more closely."""

    known: ClassVar[dict[str, Kind]] = {
        "n_jobs": Maybe(Integer(-4096, 4096)),
        "tol": Number(),
        "margin": Choice(tuple(MARGINS)),
        "weak_learner": Choice((None,)),
    }

    def read(self, value: Any) -> dict[str, Any]:
        """Return the parameters as an estimator takes them."""
        if not isinstance(value, dict):
            raise ModelFileError(f"it is {shown(value)}, but takes an object")
        kinds = dict.fromkeys(value, Value()) | self.known
        return {name: read_key(value, name, kinds[name]) for name in value}

    def schema(self) -> Schema:
        """Return the schemas of the known ones, and that of all others."""
        return {
            "type": "object",
            "properties": {name: kind.schema() for name, kind in self.known.items()},
            "additionalProperties": Value().schema(),
        }


_LABELS = Named("labels", LABELS, "Different values, and the type of the array that holds them.")
_LEARNERS = Named(
    "learners",
    LEARNERS,
    "Weak classifiers, by kind: lists with one value each. Their order is that of `order`: so many "
    "of a kind, then so many of the next. A threshold of inf parts missing from present values.",
)
_FEATURES_RECORD = Record({
    "count": Integer(1, MOST_FEATURES),
    "names": Maybe(Listing(Text())),
    "categories": Listing(Record({"feature": Integer(0, MOST_FEATURES - 1), "levels": _LABELS})),
    "missing": _INDICES,
})  # fmt: skip
_FEATURES = Named(
    "features",
    _FEATURES_RECORD,
    "Number and names of the columns of X; the levels of those that hold categories, and which had "
    "missing values in training. Columns are counted from 0.",
)
_ROWS = Record({"feature": _INDICES, "values": Listing(_NUMBERS)})
_PATH = Record({"nu": _NUMBERS, "loss": _ANY_NUMBERS})


def _weights(value: Kind) -> Record:
    return Record({
        "outputs": Integer(1, 2**27), "count": _COUNTS, "output": _COUNTS,
        "value": Listing(value),
    })  # fmt: skip


def _document(kinds: tuple[str, ...], weight: Kind, more: dict[str, Kind]) -> Record:
    return Record({
        "format": Choice((FORMAT,)),
        "format_version": Choice((FORMAT_VERSION,)),
        "directboost_version": Text(100),
        "kind": Choice(kinds),
        "classes": _LABELS,
        "features": _FEATURES,
        "parameters": Parameters(),
        "status": Choice(tuple(str(status) for status in Status)),
        "learners": _LEARNERS,
        "weights": _weights(weight),
        "probabilities": Record({
            "prior": Listing(Number(0.0)), "factor": Number(0.0, strict=True)
        }),
        **more,
        "checksum": Text(71),
    })  # fmt: skip


CERTIFICATE = Record({
    **dict.fromkeys(("primal", "dual", "gap", "relative_gap", "max_price", "nu"), _ANY_NUMBER),
    "dictionary": Text(), "converged": Truth(),
})  # fmt: skip
HISTORY = Record({
    "round": _COUNTS, "columns": _COUNTS,
    **dict.fromkeys(
        ("primal", "dual", "gap", "relative_gap", "max_price", "nu", "seconds_pricing",
         "seconds_master", "seconds"), _ANY_NUMBERS),
    "bytes_moved": _COUNTS,
})  # fmt: skip
ROUNDS = Record({
    "round": _COUNTS, "learners": _COUNTS,
    **dict.fromkeys(("vote", "error", "objective", "seconds"), _ANY_NUMBERS),
})  # fmt: skip
_CERTIFICATE = Named("certificate", CERTIFICATE, "What is proved of the model.")
_HISTORY = Named("history", HISTORY, "One value for every round of the fit.")
_PROOF: dict[str, Kind] = {
    "nu": Number(0.0),
    "nu_max": Number(0.0),
    "cost": Number(0.0),
    "mean_contributions": _ROWS,
    "validation_path": Maybe(_PATH),
    "certificate": _CERTIFICATE,
    "history": _HISTORY,
}
_LABELS_OF_ROWS = Record({
    "several": Truth(), "single": Truth(), "names": Maybe(Listing(Text())),
    "values": Maybe(Listing(_LABELS)),
})  # fmt: skip
_VOTES: dict[str, Kind] = {
    "n_learners": _COUNT,
    "n_nonzero": _COUNT,
    "common": _NUMBERS,
    "code": Maybe(Listing(Listing(Choice((1, -1)), least=1), least=2)),
    "decoding": Maybe(Choice(("loss", "hamming", "linear"))),
    "totals": Maybe(Listing(Number(0.0))),
    "lam_max": Maybe(Number(0.0)),
    "history": ROUNDS,
}
_WEIGHT = Number(0.0, strict=True)

#: What the schema defines once.
NAMED = (_LABELS, _LEARNERS, _FEATURES, _CERTIFICATE, _HISTORY)
#: What the documents of this format look like, by their form.
FORMS: dict[str, Record] = {
    "classifier": _document(DIRECT, _WEIGHT, _PROOF),
    "multi_label": _document(MULTI_LABEL, _WEIGHT, {"labels": _LABELS_OF_ROWS, **_PROOF}),
    "baseline": _document(BASELINES, Number(), _VOTES),
}


def form_of(kind: str) -> Record:
    """Return what the document of an estimator of that name looks like."""
    form = "classifier" if kind in DIRECT else "multi_label"
    return FORMS["baseline" if kind in BASELINES else form]


def schema() -> dict[str, Any]:
    """Return the JSON schema, draft 2020-12, of a document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"directboost model, format {FORMAT_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{form}"} for form in FORMS],
        "$defs": {
            **{form: record.schema() for form, record in FORMS.items()},
            **{named.name: named.definition() for named in NAMED},
            "value": definition(),
        },
    }
