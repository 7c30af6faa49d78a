"""Runs exported models in onnxruntime and compares them with Python."""

import numpy as np
import onnxruntime as ort


def session(model):
    """Return a session of onnxruntime, on one thread, for the exported model."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    made = model.to_onnx().SerializeToString()
    return ort.InferenceSession(made, options, providers=["CPUExecutionProvider"])


def run(model, X):
    """Return labels, probabilities and scores of the exported model for rows X."""
    return session(model).run(["label", "probabilities", "scores"], {"X": X.astype(np.float32)})


def scores_of(model, X):
    """Return the scores of all classes, (m, k), also for two classes."""
    return model._scores(X, model.ensemble_)


def assert_agrees(model, X, score_error=0.0, encoded=None):
    """Compare all outputs for rows that are rounded to float32; scores exactly by default.

    `encoded` are the rows with categories as level indices.
    """
    if encoded is None:
        X = encoded = np.asarray(X, dtype=np.float32).astype(np.float64)
    label, probabilities, scores = run(model, encoded)
    predicted = model.predict(X)
    np.testing.assert_array_equal(label, predicted)
    assert label.shape == predicted.shape
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0.0, atol=1e-6)
    assert scores.dtype == np.float64
    expected = scores_of(model, model._checked(X))
    np.testing.assert_allclose(scores, expected, rtol=0.0, atol=score_error)
