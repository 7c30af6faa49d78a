"""Invalid files raise errors that report the place; unsupported models raise errors in `save`."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import directboost
from directboost import DirectBoostClassifier, ModelFileError
from directboost.baselines import AdaBoostMH
from directboost.callbacks import TimeLimit
from directboost.losses import SmoothLoss
from directboost.penalties import GroupNorm
from tests.export.model_file.documents import GOLDEN, golden, loaded, signed
from tests.export.model_file.models import X, Y, fitted

#: golden file, key path and its new value, place of the error
ERRORS = [
    ("stumps", "learners.stump.feature.3", 4, "learners.stump.feature[3]"),
    ("stumps", "learners.stump.feature.3", True, "learners.stump.feature[3]"),
    ("stumps", "learners.stump.feature.3", 1.0, "learners.stump.feature[3]"),
    ("stumps", "learners.stump.threshold.0", "-inf", "learners.stump.threshold[0]"),
    ("stumps", "learners.stump.polarity.0", 0, "learners.stump.polarity[0]"),
    ("stumps", "learners.stump.polarity", [1], "learners.stump.polarity"),
    ("stumps", "learners.order.count", [6], "learners.stump"),
    ("stumps", "learners.level", {"feature": [0], "level": [0], "polarity": [1]},
     "learners.level"),
    ("stumps", "learners.extra", [], "learners.extra"),
    ("stumps", "weights.value.0", -1.0, "weights.value[0]"),
    ("stumps", "weights.value.0", 1e308, "weights.value"),
    ("stumps", "weights.output.0", 3, "weights.output (row 0)[0]"),
    ("stumps", "weights.outputs", 4, "weights.outputs"),
    ("stumps", "weights.count.0", 9, "weights.output"),
    ("stumps", "classes.values.1", 0, "classes.values"),
    ("stumps", "classes.values.1", 2**63, "classes.values[1]"),
    ("stumps", "classes.values.1", 2**61 * 2**61, "classes.values[1]"),
    ("stumps", "classes.values", [2, 1, 0], "classes.values"),
    ("stumps", "parameters.class_weight", {"dict": [[2**64, 1]]},
     "parameters.class_weight.dict[0]"),
    ("stumps", "classes.values.1", "one", "classes.values[1]"),
    ("stumps", "classes.dtype", "complex128", "classes.dtype"),
    ("stumps", "probabilities.factor", 0.0, "probabilities.factor"),
    ("stumps", "probabilities.prior", [0.5, 0.5], "probabilities.prior"),
    ("stumps", "probabilities.prior", [0, 0.0, 0], "probabilities.prior"),
    ("stumps", "features.count", 10**12, "features.count"),
    ("stumps", "features.missing", [2, 1], "features.missing[1]"),
    ("stumps", "history.gap", [], "history.gap"),
    ("stumps", "certificate.gap", None, "certificate.gap"),
    ("stumps", "status", "perfect", "status"),
    ("stumps", "kind", "os.system", "kind"),
    ("stumps", "parameters.nus", 3, "parameters.nus"),
    ("stumps", "parameters.n_jobs", 0, "parameters.n_jobs"),
    ("stumps", "parameters.penalty", "l1,0.5", "parameters.penalty"),
    ("stumps", "parameters.loss", {"eval": "1"}, "parameters.loss.eval"),
    ("stumps", "parameters.loss", {"tuple": [1, [[[[[2]]]]]]}, "parameters.loss.tuple[1]"),
    ("stumps", "parameters.learner", {"object": {"name": "TreeOracle", "max_leaves": 1}},
     "parameters.learner"),
    ("stumps", "parameters.class_weight", {"dict": [[[0], 1]]},
     "parameters.class_weight.dict[0]"),
    ("stumps", "parameters.feature_costs",
     {"array": {"dtype": "float64", "shape": [2], "values": [1.0]}},
     "parameters.feature_costs.array.shape"),
    ("categories", "features.names.1", "n0", "features.names"),
    ("categories", "features.names.1", "\ud800", "features.names[1]"),
    ("categories", "learners.level.level.0", 3, "learners.level.level[0]"),
    ("categories", "learners.level.feature.0", 0, "learners.level.level[0]"),
    ("trees", "learners.leaf.tree.0", 99, "learners.leaf.tree[0]"),
    ("trees", "learners.leaf.leaf.0", 99, "learners.leaf.leaf[0]"),
    ("trees", "learners.trees.0.left.0", 0, "learners.trees[0].left[0]"),
    ("trees", "learners.trees.0.right.0", -1, "learners.trees[0]"),
    ("trees", "learners.trees.0.feature.0", 6, "learners.trees[0].feature[0]"),
    ("trees", "learners.trees.0.is_level.0", 1, "learners.trees[0].value[0]"),
    ("labels", "labels.values", None, "labels.values"),
    ("labels", "labels.names", ["a"], "labels.names"),
    ("labels", "labels.single", True, "labels.single"),
    ("code", "code.1", [1], "code[1]"),
    ("code", "code", None, "code"),
    ("code", "common", [], "common"),
    ("code", "totals", [1.0, 1.0, 1.0], "totals"),
    ("normalised", "totals", [1.0], "totals"),
    ("conjunctions", "learners.conjunction.items.0", 9, "learners.items"),
    ("stumps", "lam_max", 1.0, "lam_max"),
]  # fmt: skip


def with_value(document, path, value):
    """Set a value of a document by its key path."""
    *keys, last = (int(key) if key.isdigit() else key for key in path.split("."))
    inner = document
    for key in keys:
        inner = inner[key]
    inner[last] = value
    return document


@pytest.mark.parametrize(("name", "path", "value", "place"), ERRORS)
def test_errors_report_their_place(name, path, value, place, tmp_path):
    document = signed(with_value(golden(name), path, value))
    with pytest.raises(ModelFileError) as error:
        loaded(document, tmp_path)
    assert error.value.place.startswith(place)
    assert f"changed.json: {place}" in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("learners.product.first_mean.0", 1.5, "learners.product.first_mean[0]"),
        ("learners.product.second_mean.0", "nan", "learners.product.second_mean[0]"),
        ("learners.product.first_mean", [0.5], "learners.product"),
        ("learners.product", {"items": [2]}, "learners.product.first_mean"),
    ],
)
def test_products_need_their_means(path, value, place, tmp_path):
    """Without the means, no effect of a pair can be separated from those of its features."""
    saved = json.loads(fitted("pairs").save(tmp_path / "model.json").read_text(encoding="utf-8"))
    document = signed(with_value(saved, path, value))
    with pytest.raises(ModelFileError) as error:
        loaded(document, tmp_path)
    assert error.value.place.startswith(place)


PAGE = Path(__file__).parents[3] / "docs" / "model_file.md"


def test_the_page_quotes_the_messages(tmp_path):
    """The block of messages on the page is what `load` raises, shortened at "..."."""
    stumps = golden("stumps")
    changes = [
        ("learners.stump.feature.1", 7), ("weights.value.0", -1.0), ("parameters.nus", 3),
    ]  # fmt: skip
    documents = [signed(with_value(golden("stumps"), path, value)) for path, value in changes]
    documents.append({**stumps, "checksum": "sha256:0"})
    path, block = tmp_path / "model.json", PAGE.read_text(encoding="utf-8")
    quoted = block.split("```text\nmodel.json: ")[1].split("\n```")[0].split("\nmodel.json: ")
    for document, expected in zip(documents, quoted, strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(ModelFileError) as error:
            directboost.load(path)
        found, shortened = str(error.value).removeprefix(f"{path}: "), expected.split("...")
        assert found.startswith(shortened[0])
        assert len(shortened) == 2 or found == expected


@pytest.mark.parametrize("key", [key for key in golden("stumps") if key != "checksum"])
def test_missing_keys_are_rejected(key, tmp_path):
    document = golden("stumps")
    del document[key]
    with pytest.raises(ModelFileError, match=key):
        loaded(signed(document), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("{", '{"kind": "SAMME",', 1), "duplicate key 'kind'"),
        (lambda text: text.replace('"nu": 0.05', '"nu": NaN'), "NaN"),
        (lambda text: text.replace('"nu": 0.05', '"nu": -Infinity'), "Infinity"),
        (lambda text: text.replace('"nu": 0.05', '"nu": 1e999'), "checksum"),
        (lambda text: text.replace('"nu": 0.05', '"nu": ' + "9" * 5000), "not JSON"),
        (lambda text: text + "{}", "not JSON"),
        (lambda text: text[:500], "not JSON"),
        (lambda text: "[" * 100_000, "nested too deeply"),
        (lambda text: "[1, 2]", "does not contain a JSON object"),
        (lambda text: "{}", "not a model file"),
        (lambda text: "", "not JSON"),
    ],
)
def test_only_strict_json_is_accepted(change, message, tmp_path):
    text = (GOLDEN / "stumps.json").read_text(encoding="utf-8")
    path = tmp_path / "model.json"
    path.write_text(change(text), encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        directboost.load(path)


def test_other_encodings_are_rejected(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes((GOLDEN / "stumps.json").read_text(encoding="utf-8").encode("utf-16"))
    with pytest.raises(ModelFileError, match="not UTF-8"):
        directboost.load(path)


def test_later_formats_require_an_upgrade(tmp_path):
    document = {"format": "directboost model", "format_version": 7, "directboost_version": "9.1"}
    words = "written by directboost 9.1, format 7; this version reads up to 1: upgrade"
    with pytest.raises(ModelFileError, match=words):
        loaded(document, tmp_path)


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, True, None])
def test_the_format_version_must_be_an_integer(version, tmp_path):
    with pytest.raises(ModelFileError, match="format_version"):
        loaded(signed({**golden("stumps"), "format_version": version}), tmp_path)


def test_large_files_are_rejected_before_they_are_read():
    path = GOLDEN / "stumps.json"
    size = path.stat().st_size
    with pytest.raises(ModelFileError, match=f"larger than max_bytes={size - 1}"):
        directboost.load(path, max_bytes=size - 1)
    assert directboost.load(path, max_bytes=size).n_learners_ > 0
    with pytest.raises(ValueError, match="max_bytes=0"):
        directboost.load(path, max_bytes=0)


def test_short_files_cannot_request_large_arrays(tmp_path):
    """The sizes are checked before any array is allocated."""
    document = with_value(golden("stumps"), "weights.outputs", 2**27)
    with pytest.raises(ModelFileError, match="is too large"):
        loaded(signed(document), tmp_path)


def test_weak_classifiers_of_other_packages_cannot_be_saved(tmp_path):
    model = DirectBoostClassifier(nu=0.3, learner=LogisticRegression()).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"type LogisticRegression: .* pickle or skops"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_subclasses_and_unsupported_labels_cannot_be_saved(tmp_path):
    class Mine(DirectBoostClassifier):
        pass

    with pytest.raises(ModelFileError, match="not a subclass"):
        Mine(nu=0.3).fit(X, Y).save(tmp_path / "model.json")
    model = DirectBoostClassifier(nu=0.3).fit(X, Y)
    model.classes_ = np.array([(0,), (1,), (2,), None], dtype=object)[:3]
    with pytest.raises(ModelFileError, match="the classes contain values of type tuple"):
        model.save(tmp_path / "model.json")


def test_files_do_not_store_the_rounds(tmp_path):
    model = DirectBoostClassifier(nu=0.1, columns_per_round=1).fit(X, Y)
    for one in (model, AdaBoostMH(3).fit(X, Y)):
        again = directboost.load(one.save(tmp_path / "model.json"))
        for stages in (again.staged_predict(X), again.staged_features_used()):
            with pytest.raises(ValueError, match="stores the final model, not the rounds"):
                list(stages)
    again = directboost.load(fitted("stumps").save(tmp_path / "model.json"))
    with pytest.raises(ValueError, match="columns_per_round='auto'"):
        list(again.staged_predict(X))


def logistic():
    return SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"loss": logistic()}, "loss"),
        ({"callbacks": TimeLimit(60.0)}, "callbacks"),
        ({"random_state": np.random.RandomState(0)}, "random_state"),
    ],
    ids=["loss", "callbacks", "random_state"],
)
def test_custom_objects_are_not_stored_and_only_fit_needs_them(parameters, name, tmp_path):
    learner = "tree" if name == "random_state" else "stump"
    model = DirectBoostClassifier(nu=0.1, learner=learner, **parameters).fit(X, Y)
    again = directboost.load(model.save(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert "not stored in the model file" in repr(getattr(again, name))
    with pytest.raises(ValueError, match="not stored in the model file; set it again before fit"):
        again.fit(X, Y)
    again.set_params(**parameters).fit(X, Y)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X))


def test_penalties_of_the_package_are_stored_by_name(tmp_path):
    model = DirectBoostClassifier(nu=0.1, penalty=GroupNorm(3.0)).fit(X, Y)
    path = model.save(tmp_path / "model.json")
    assert json.loads(path.read_text(encoding="utf-8"))["parameters"]["penalty"] == 3.0
    assert directboost.load(path).summary() == model.summary()
