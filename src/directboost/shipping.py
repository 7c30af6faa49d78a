"""What takes a fitted model out of Python: a file, code for devices, a page to read."""

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted


class Shipping:
    """The part of an estimator that hands a fitted model on."""

    def save(self, path: Any) -> Path:
        """Write the fitted model to a JSON file, which `directboost.load` reads.

        A file that is there is replaced at once. Models with weak classifiers of scikit-learn are
        refused: they are kept by pickle or skops.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Path

        Raises
        ------
        ModelFileError
            A ValueError, where the format cannot hold the model.
        """
        from .export.model_file import write_model

        check_is_fitted(self)
        return write_model(self, Path(path))

    def to_c(
        self, path: Any, *, dtype: str = "float32", name: str | None = None, self_test: Any = None
    ) -> Path:
        """Write the fitted model as one C99 header, without heap, libm or other files.

        `<name>_predict(x)` is the number of the class, in the order of `classes_`, and
        `<name>_predict_used(x)` the same from the features that the model reads alone; the comment
        at the top says what it costs and how exact it is. Models of several labels have
        `<name>_predict_labels(x, has)`. Scikit-learn classifiers as weak learners, conjunctions
        and decodings that are no sums of votes are refused.

        Parameters
        ----------
        path : str or Path
        dtype : {"float32", "float64", "int16"}, default="float32"
            Type of the tables. "float64" adds up as Python does, to the bit, and is the fastest;
            the others are lists of the least size. "int16" counts scores in steps of one size;
            features and thresholds stay float32.
        name : str, optional
            Prefix of everything the header defines, a name in C; by default that of the file.
        self_test : array-like (m, d), optional
            Rows; the header then also holds a `main`, behind the macro `<NAME>_SELF_TEST`, that
            predicts them and compares with what Python answers.

        Returns
        -------
        Path
        """
        from .export import write_c

        check_is_fitted(self)
        return write_c(self, Path(path), dtype=dtype, name=name, self_test=self_test)

    def to_onnx(self) -> Any:
        """Return the fitted model as an ONNX model of standard operators.

        Needs the extra `onnx`. The input "X" (N, d) is float32, NaN where a value is missing; a
        category is the number of its level in `categories_`. The outputs are "label", as `predict`
        answers, "probabilities" (N, k), float32, and "scores" (N, k), double.

        Returns
        -------
        onnx.ModelProto
        """
        from .export import onnx_model

        check_is_fitted(self)
        return onnx_model(self)

    def report(self, path: Any, X: Any, y: Any, *, title: str | None = None) -> Path:
        """Write one HTML page about the model and how it does on some rows; it needs no network.

        It shows the certificate, the quality by class, what every feature adds, which classes
        share a rule, and rows to change. It stays below 5 MB and says what it leaves out.

        Parameters
        ----------
        path : str or Path
        X : array-like, sparse matrix or frame (m, d)
            Rows to judge the model by, best those it was not fitted to.
        y : array-like (m,) or (m, labels)
            Their classes, or labels.
        title : str, optional
            Heading of the page, "Model report" by default.

        Returns
        -------
        Path
        """
        from .export.report import write_report

        check_is_fitted(self)
        return write_report(self, Path(path), X, y, title=title)
