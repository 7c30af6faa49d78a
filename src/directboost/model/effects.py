"""The scores as a sum of effects of single features and of pairs of features.

A product h_a h_b of two stumps acts through each of its features alone, too, unless both stumps
have mean zero. With the weighted means mu_a and mu_b of their responses over the training rows,

    h_a h_b = (h_a - mu_a)(h_b - mu_b) + mu_b h_a + mu_a h_b - mu_a mu_b.

The first term is the purified effect of the pair: if the values of one feature are drawn from the
training rows, its mean is zero for every value of the other feature. The next two terms belong to
the main effects of the features, and the last one to the intercept. This is the functional ANOVA
decomposition of the scores under the product of the marginal distributions of the features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Ints, Numbers, column
from .learners import CategoryStump, Product, Stump
from .tables import PairTable, by_pair, codes_of, responses_by_cell, stump_tables


@dataclass(frozen=True, eq=False)
class PairEffect(PairTable):
    """The purified effect of a pair of features, as a table of their values.

    Attributes
    ----------
    shares : pair of arrays
        Share of the weight of the training rows in each row and in each column of the table,
        (c + 2,) and (d + 2,). All levels of a category without a cell of their own are in the
        first one.
    centred : pair of arrays
        Responses of the two stumps of every product, minus their means, by row and by column of
        the table, (n, c + 2) and (n, d + 2).
    weights : (n, k) array
        Weights of the products.
    """

    shares: tuple[Array, Array]
    centred: tuple[Array, Array]
    weights: Array

    @property
    def n_rules(self) -> int:
        """Number of products."""
        return int(self.weights.shape[0])

    @cached_property
    def deviations(self) -> Array:
        """Standard deviation of the effect on each score, (k,), for independent features."""
        first, second = self.shares
        return np.asarray(np.sqrt(np.einsum("a,b,abr->r", first, second, self.values**2)))

    @property
    def strength(self) -> float:
        """Root of the sum of the variances of the effect on all scores."""
        return float(np.linalg.norm(self.deviations))


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
    pairs : list of PairEffect
        Purified effects of the pairs, ascending.
    """

    intercept: Array
    features: Ints
    thresholds: list[Array]
    tables: list[Array]
    pairs: list[PairEffect]

    def strongest_pairs(self) -> list[int]:
        """Return the positions of the pairs in `pairs`, the strongest first."""
        strengths = np.array([pair.strength for pair in self.pairs])
        order: list[int] = np.argsort(-strengths, kind="stable").tolist()
        return order

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
        places = [*self.features.tolist(), *range(d, d + len(self.pairs))]
        for place, values in zip(places, self.terms(X), strict=True):
            out[:, place] = values
        return out

    def terms(self, X: Numbers) -> Iterator[Array]:
        """Yield the contributions of each of `features` and then of each of `pairs`, (m, k)."""
        in_pairs = {feature for pair in self.pairs for feature in pair.features}
        codes: dict[int, Ints] = {}
        for feature, cuts, table in zip(
            self.features.tolist(), self.thresholds, self.tables, strict=True
        ):
            own = codes_of(column(X, feature), cuts)
            if feature in in_pairs:
                codes[feature] = own.astype(np.int32)
            yield table[own]
        for pair in self.pairs:
            cells = []
            for feature, cuts in zip(pair.features, pair.thresholds, strict=True):
                thresholds, _ = self.main_effect(feature)
                below = np.searchsorted(cuts, thresholds, side="right")
                cell = np.concatenate([[0], below, [cuts.size + 1]])  # code in the pair, by code
                cells.append(cell[codes[feature]])
            yield pair.values[cells[0], cells[1]]


def purified_effects(
    stumps: tuple[Sequence[Stump | CategoryStump], Array],
    products: tuple[Sequence[Product], Array],
    intercept: Array,
) -> Effects:
    """Return the effects of a sum of stumps and products.

    Parameters
    ----------
    stumps : n stumps, (n, k) array
        Stumps and their weights, multiplied by their polarity.
    products : p products, (p, k) array
        Products and their weights.
    intercept : (k,) array
        Intercept of the effects.
    """
    own, weights = products
    means = np.array([h.means for h in own])
    factors = [h.first for h in own] + [h.second for h in own]
    # A factor adds to the main effect of its feature by the mean of the other one.
    signs = np.array([h.polarity for h in factors]) * means[:, ::-1].T.ravel()
    votes = signs[:, None] * np.tile(weights, (2, 1))
    tables = stump_tables([*stumps[0], *factors], np.concatenate([stumps[1], votes]))
    return Effects(intercept, *tables, pair_effects(own, weights))


def pair_effects(products: Sequence[Product], weights: Array) -> list[PairEffect]:
    """Return the purified effects of the pairs that products read, ascending.

    Parameters
    ----------
    products : n products
        The products.
    weights : (n, k) array
        Their weights.
    """
    effects = []
    for pair, numbers in by_pair(products).items():
        own = [products[number] for number in numbers]
        first, second = (
            _centred([(h.first, h.second)[axis] for h in own], own, axis) for axis in (0, 1)
        )
        centred, votes = (first[1], second[1]), weights[numbers]
        values = np.einsum("na,nb,nr->abr", *centred, votes, optimize=True)
        cuts, shares = (first[0], second[0]), (first[2], second[2])
        effects.append(PairEffect(pair, cuts, values, shares, centred, votes))
    return effects


def _centred(
    stumps: Sequence[Stump | CategoryStump], products: Sequence[Product], axis: int
) -> tuple[Array, Array, Array]:
    """Return thresholds, centred responses and shares along one feature of n products.

    Parameters
    ----------
    stumps : n stumps
        The stumps of the products on the feature.
    products : n products
        The products.
    axis : int
        0 or 1, whether they are the first or the second stumps.
    """
    cuts, responses = responses_by_cell(stumps)
    means = np.array([h.means[axis] for h in products])
    shares = _cell_shares(stumps, means, products[0].missing[axis], cuts)
    return cuts, responses - means[:, None], shares


def _cell_shares(
    stumps: Sequence[Stump | CategoryStump], means: Array, missing: float, cuts: Array
) -> Array:
    """Return the share of the weight in the cells between the thresholds of a feature, (c + 2,).

    A stump with the mean mu is +1 on a share (1 + mu) / 2 of the weight. Of a category, all that
    the stumps do not separate is in the first cell.
    """
    above, levels = np.zeros(cuts.size + 2), np.zeros(cuts.size + 2)
    for h, mean in zip(stumps, means.tolist(), strict=True):
        right = 0.5 * (1.0 + h.polarity * mean)
        if isinstance(h, CategoryStump):
            levels[int(np.searchsorted(cuts, h.level))] = right
        elif np.isinf(h.threshold):
            missing = right
        else:
            place = int(np.searchsorted(cuts, h.threshold)) + 1
            above[place] = right - missing * h.missing_right
    above[0] = 1.0 - missing
    shares = levels if levels.any() else above - np.append(above[1:], 0.0)
    shares[-1] = missing
    shares[0] = 0.0
    shares[0] = 1.0 - shares.sum()
    return np.maximum(shares, 0.0)
