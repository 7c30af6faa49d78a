"""Profile of a fit: the share of every kernel and of the rest.

Run it as ``python benchmarks/profile_fit.py [NAME ...]``; names are those of
`directboost.datasets.load`. Prints a Markdown table.
"""

import cProfile
import pstats
import sys

from directboost import DirectBoostClassifier, datasets

PARTS = {
    "binning": ("find_cuts", "encode", "ranges"),
    "pricing": ("price",),
    "loss passes": ("loss_pass", "dual_parts"),
    "sums over bins": ("histograms",),
    "block descent": ("model_epoch",),
    "Newton steps": ("model_newton",),
    "scores": ("add_tables",),
}


def shares(name: str) -> dict[str, float]:
    """Fit one data set; return the total seconds and the share of every part."""
    X, y = datasets.load(name).train
    clf = DirectBoostClassifier(nu=0.01, n_jobs=2)
    clf.fit(X, y)
    profile = cProfile.Profile()
    profile.runcall(clf.fit, X, y)
    stats = pstats.Stats(profile)
    spent: dict[str, float] = {}
    for (path, _, function), row in stats.stats.items():  # type: ignore[attr-defined]
        if path.endswith("native.py"):
            spent[function] = spent.get(function, 0.0) + row[3]
    total = stats.total_tt  # type: ignore[attr-defined]
    found = {part: sum(spent.get(f, 0.0) for f in kernels) for part, kernels in PARTS.items()}
    found["Python and NumPy around them"] = total - sum(found.values())
    return {"seconds": total} | {part: seconds / total for part, seconds in found.items()}


def main(names: list[str]) -> None:
    """Print the table of all data sets."""
    columns = {name: shares(name) for name in names}
    print("| part | " + " | ".join(names) + " |")
    print("|---|" + "---:|" * len(names))
    print("| seconds | " + " | ".join(f"{c['seconds']:.2f}" for c in columns.values()) + " |")
    for part in [*PARTS, "Python and NumPy around them"]:
        print(f"| {part} | " + " | ".join(f"{c[part]:.0%}" for c in columns.values()) + " |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["digits"])
