"""The scores as a sum of effects of single features and of pairs of features.

A product h_a h_b of two stumps acts through each of its features alone, too, unless both stumps
have mean zero. With the weighted means mu_a and mu_b of their responses over the training rows,

    h_a h_b = (h_a - mu_a)(h_b - mu_b) + mu_b h_a + mu_a h_b - mu_a mu_b.

The first term is the purified effect of the pair: if the values of one feature are drawn from the
training rows, its mean is zero for every value of the other feature. The next two terms belong to
the main effects of the features, and the last one to the intercept. This is the functional ANOVA
decomposition of the scores under the product of the marginal distributions of the features.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints, Numbers, column
from .learners import CategoryStump, Product, Stump
from .tables import PairTable, codes_of, pair_tables, stump_tables


@dataclass(frozen=True, eq=False)
class Effects:
    """Scores F(x) = intercept + sum of the main effects + sum of the purified pair effects.

    Attributes
    ----------
    intercept : (k,) array
    features : (t,) int array
        Features with a main effect, ascending.
    thresholds : list of t arrays
        Ascending thresholds of each feature, (c,) each; those of its pairs are among them.
    tables : list of t arrays
        Main effect of each feature, (c + 2, k) each, as in `Ensemble.tables`.
    pairs : list of PairTable
        Purified effects of the pairs, ascending.
    """

    intercept: Array
    features: Ints
    thresholds: list[Array]
    tables: list[Array]
    pairs: list[PairTable]

    def main_effect(self, feature: int) -> tuple[Array, Array]:
        """Return thresholds and table of a feature; an unused one has no thresholds and zeros."""
        place = int(np.searchsorted(self.features, feature))
        if place < self.features.size and self.features[place] == feature:
            return self.thresholds[place], self.tables[place]
        return np.empty(0), np.zeros((2, self.intercept.size))

    def contributions(self, X: Numbers) -> Array:
        """Return the contribution of every feature of X and of every pair, (m, d + p, k)."""
        m, d = X.shape
        out = np.zeros((m, d + len(self.pairs), self.intercept.size))
        codes = np.empty((self.features.size, m), dtype=np.intp)
        for place, feature in enumerate(self.features.tolist()):
            codes[place] = codes_of(column(X, feature), self.thresholds[place])
            out[:, feature] = self.tables[place][codes[place]]
        for number, pair in enumerate(self.pairs, start=d):
            cells = []
            for feature, cuts in zip(pair.features, pair.thresholds, strict=True):
                place = int(np.searchsorted(self.features, feature))
                below = np.searchsorted(cuts, self.thresholds[place], side="right")
                own = np.concatenate([[0], below, [cuts.size + 1]])  # code in the pair, by code
                cells.append(own[codes[place]])
            out[:, number] = pair.values[cells[0], cells[1]]
        return out


def purified_effects(
    stumps: tuple[Sequence[Stump | CategoryStump], Array],
    products: tuple[Sequence[Product], Array],
    intercept: Array,
) -> Effects:
    """Return the effects of a sum of stumps and products.

    Parameters
    ----------
    stumps : n stumps, (n, k) array
        Stumps and their coefficients, multiplied by their polarity.
    products : p products, (p, k) array
        Products and their coefficients.
    intercept : (k,) array
        Intercept of the effects.
    """
    pairs, coef = products
    means = np.array([h.means for h in pairs])
    factors = [h.first for h in pairs] + [h.second for h in pairs]
    # A factor adds to the main effect of its feature by the mean of the other one.
    signs = np.array([h.polarity for h in factors]) * means[:, ::-1].T.ravel()
    votes = signs[:, None] * np.tile(coef, (2, 1))
    tables = stump_tables([*stumps[0], *factors], np.concatenate([stumps[1], votes]))
    return Effects(intercept, *tables, pair_tables(pairs, coef, purified=True))
