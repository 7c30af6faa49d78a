"""The methods that the paper compares with, on the binned data and tables of the main estimator."""

from .adaboost_mh import AdaBoostMH
from .adaboost_mo import AdaBoostMO
from .adaboost_oc import AdaBoostECC, AdaBoostOC
from .adaboost_sip import AdaBoostSIP
from .cg_boost import CGBoost
from .grad_boost import GradBoost
from .joint_boost import JointBoost
from .lp_boost import LPBoost
from .multiboost_cw import MultiBoostCW
from .one_vs_all import OneVsAllBoost
from .samme import SAMME, AdaBoostM1

__all__ = [
    "SAMME",
    "AdaBoostECC",
    "AdaBoostM1",
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostOC",
    "AdaBoostSIP",
    "CGBoost",
    "GradBoost",
    "JointBoost",
    "LPBoost",
    "MultiBoostCW",
    "OneVsAllBoost",
]
