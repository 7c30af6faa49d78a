"""What learner="auto" chooses, and the error, log loss and time of stumps, pairs and auto.

    DIRECTBOOST_DATA=... python benchmarks/learner_choice.py [DATA ...]

All fits have the default parameters and one thread. `choice` is the learner that auto takes, and
`held out` is the loss of pairs on the held-out rows relative to that of stumps. Errors and log
losses are those on the test rows; the seconds are processor time. Cover type and MNIST have 10 000
rows.
"""

import sys
import time

import numpy as np

from directboost import DirectBoostClassifier
from directboost.datasets import load
from directboost.research.bench.measure import row_losses, split_parts
from directboost.research.bench.pairs import draw_rows, error_of

NAMES = (
    *("iris", "wine", "breast_cancer", "glass", "svmguide2", "segment", "vowel", "digits", "dna"),
    *("thyroid", "optdigits", "satimage", "usps", "pendigits", "covtype", "mnist", "letter"),
)
FEWER_ROWS = ("covtype", "mnist")
LEARNERS = ("stump", "pair", "auto")


def main() -> None:
    print(
        "| data | rows x features, classes | choice | held out | error % | log loss | seconds |\n"
        "|---|---|---|---:|---:|---:|---:|"
    )
    for name in sys.argv[1:] or NAMES:
        parts = split_parts(load(name))
        if name in FEWER_ROWS:
            parts = draw_rows(parts, 10_000, 10_000)
        models, seconds = {}, {}
        for learner in LEARNERS:
            started = time.process_time()
            models[learner] = DirectBoostClassifier(learner=learner).fit(parts.X, parts.y)
            seconds[learner] = time.process_time() - started
        choice = models["auto"].learner_choice_
        errors = [100.0 * error_of(m, parts.X_test, parts.y_test) for m in models.values()]
        losses = [np.mean(row_losses(m, parts.X_test, parts.y_test)) for m in models.values()]
        compared = choice.pair_loss is not None
        cells = (
            name,
            parts.shape(),
            choice.learner,
            f"{choice.pair_loss / choice.stump_loss:.2f}" if compared else "-",
            " / ".join(f"{error:.1f}" for error in errors),
            " / ".join(f"{loss:.3f}" for loss in losses),
            " / ".join(f"{value:.2f}" for value in seconds.values()),
        )
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
