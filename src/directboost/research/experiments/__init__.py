"""The experiments of the paper, to be reproduced."""

from .base import Effort, Experiment
from .caltech import Caltech
from .characters import Abcdetc, Mnist
from .clusters import Clusters
from .digit_blocks import DigitBlocks
from .feature_share import FeatureShare
from .recognition import Scene, TrafficSigns
from .rings import Rings
from .runner import Done, Reproduction, duration, run
from .uci import Uci

#: By their names on the command line, in the order of the paper.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Clusters(),
        Uci(),
        DigitBlocks(),
        Caltech(),
        Rings(),
        FeatureShare(),
        Mnist(),
        Abcdetc(),
        Scene(),
        TrafficSigns(),
    )
}

__all__ = ["EXPERIMENTS", "Done", "Effort", "Experiment", "Reproduction", "duration", "run"]
