"""The tables and figures of the paper, run again: one module each."""

from .abcdetc import Abcdetc
from .base import Effort, Experiment
from .caltech import Caltech
from .clusters import Clusters
from .digit_blocks import DigitBlocks
from .feature_share import FeatureShare
from .mnist import Mnist
from .report import duration
from .rings import Rings
from .runner import Done, Plan, run
from .scene import Scene
from .traffic_signs import TrafficSigns
from .uci import Uci

#: By the name the command line takes, in the order of the paper.
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

__all__ = ["EXPERIMENTS", "Done", "Effort", "Experiment", "Plan", "duration", "run"]
