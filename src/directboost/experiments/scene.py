"""Scenes of 15 kinds: accuracy of 1000 weak classifiers beside support vector machines.

The paper takes the 4485 images of 15 scenes, 100 of each for training and the others for testing,
five times. An image is 6200 numbers: counts of 200 code words of CENTRIST descriptors in 31
windows, the code book made of the training images alone. It compares eight boosting methods of 1000
weak classifiers with LIBSVM, linear and with the histogram intersection kernel (HIK).

Not printed are `nu`, the votes of AdaBoost.MH, and the cost C of the machines. SAMME and JointBoost
were quoted from other work. Here the features are those of a file: of copies of the images scaled
to 200 x 200 pixels, with a code book by k-means (the paper's: by HIK) of the training images of the
stored split. That split is the first; others are drawn by the paper's rule, but keep this code
book, so that some of their test images have helped to make it, without their labels. `nu` was
chosen once, by three folds of the stored training rows among 1e-3, 1e-4, 1e-5 and 1e-6 of the
printed grid; C by five folds. AdaBoost.MH has votes by class, JointBoost no background. A full run
has five splits and one column a round; the usual one has the stored split and ten columns a round,
a quick one 100 weak classifiers.

Why all methods of stumps stay behind the printed numbers, by `benchmarks/misses.py scene ceiling`.
It is not the choice of `nu`: optima over all stumps, however many, with the one of 18 that is best
on the test images themselves, have 73.0% (group) and 74.2% (fast) on the stored split, and forests
of 1000 trees 72.8%. It is what single counts of these copies tell: a 200 x 200 image has about half
of the pixels, and so of the descriptors, of an original, and 92 of 100 counts in the 25 small
windows are zero. Keeping a random half of the descriptors once more costs the optimum of the fast
form 3.3 points (73.9% to 70.6%), HIK 0.8 and the linear machine 0.5: who adds up many counts
suffers less. The linear machine even passes the printed 76.3% when it gets the square roots of the
counts (77.8%), which to a stump are the same.
"""

from functools import lru_cache

import numpy as np

from .. import datasets
from . import methods
from .base import Effort
from .kernel_machines import intersection_kernel, linear_kernel
from .recognition import Recognition
from .recognition_setting import Setting
from .sampling import Part, draw_of_each

_TRAINING = 100  # of each class


class Scene(Recognition):
    """Accuracies on 15 scenes."""

    name = "scene"
    title = "Scenes of 15 kinds: accuracy by weak classifiers"
    data = ("scene15_centrist",)
    setting = Setting(
        boosters={methods.SAMME_STUMPS: 25.0, methods.JOINT: 190.0, methods.SIP: 20.0,
            methods.ECC: 5.0, methods.MH: 35.0, methods.L1: 40.0, methods.GROUP: 22.0,
            methods.FAST: 20.0},
        machines={"Linear SVM": (linear_kernel, 4.0), "HIK SVM": (intersection_kernel, 11.0)},
        nus={methods.L1.name: 1e-6, methods.GROUP.name: 1e-4, methods.FAST.name: 1e-4},
        printed={"SAMME": "70.9 (0.4)", "JointBoost": "72.2 (0.7)", "MultiBoost-l1": "76.0 (0.5)",
            "AdaBoost.SIP": "75.7 (0.1)", "AdaBoost.ECC": "76.5 (0.7)",
            "AdaBoost.MH": "77.6 (0.6)", "MultiBoost-group": "77.8 (0.8)",
            "MultiBoost-fast": "79.2 (0.8)", "Linear SVM": "76.3 (0.9)", "HIK SVM": "81.4 (0.6)"},
        rounds={Effort.QUICK: 100, Effort.USUAL: 1000, Effort.FULL: 1000},
        repeats={Effort.QUICK: 1, Effort.USUAL: 1, Effort.FULL: 5},
        steps={Effort.QUICK: 10, Effort.USUAL: 10, Effort.FULL: 1},
    )  # fmt: skip

    def parts(self, seed: int) -> tuple[Part, Part]:
        """Return the stored split for 0, else 100 images of each scene drawn for training."""
        data = _scenes()
        if seed == 0:
            return data.train, data.test
        drawn = draw_of_each(data.y, _TRAINING, np.random.default_rng(seed))
        rest = np.setdiff1d(np.arange(data.y.size), drawn)
        return (data.X[drawn], data.y[drawn]), (data.X[rest], data.y[rest])


@lru_cache(maxsize=1)
def _scenes() -> datasets.Dataset:
    return datasets.load("scene15_centrist")
