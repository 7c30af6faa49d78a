"""All baselines that are tested together, with few rounds."""

from directboost.baselines import AdaBoostMH

#: Every public class, with the settings that make it another method.
ESTIMATORS = [
    AdaBoostMH(6),
    AdaBoostMH(6, votes="classwise"),
    AdaBoostMH(6, votes="discrete", learning_rate=0.5),
    AdaBoostMH(6, votes="per_class", init="balanced"),
]
