"""Custom oracles as weak learners, with and without a catalogue."""

import pickle
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.data.binning import bin_features
from directboost.model.learners import Constant
from directboost.oracles import LEARNERS, Catalogue, Oracle, OracleData, Pricing, StumpOracle
from directboost.problem.columns import Proposals
from tests.conftest import make_blobs
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

DATA = make_blobs(4, m=20, d=4)
COSTS = np.array([1.0, 0.5, 2.0, 1.0])


@dataclass(frozen=True)
class Product:
    """tanh(x_f) tanh(x_g), times a sign."""

    features: tuple[int, ...]
    sign: int = 1

    def predict(self, X):
        return self.sign * np.tanh(X[:, list(self.features)]).prod(axis=1)

    def describe(self, name):
        return f"product of {name}"


PAIRS = list(combinations(range(4), 2))


class WithCatalogue(Oracle):
    """All products, in a catalogue."""

    dictionary = "all products"

    def start(self, data):
        self.source = Catalogue(data)
        self.costs = self.source.costs
        for pair in PAIRS:
            self.source.add(Product(pair))

    def price(self, A, penalty, rule="exact"):
        return self.source.price(A, penalty, rule)


class WithoutCatalogue(Oracle):
    """All products, with names (number of the pair, 7, sign); the constant is last."""

    dictionary = "all products, by hand"

    def start(self, data):
        self.H = np.column_stack(
            [*(Product(p).predict(data.X) for p in PAIRS), np.ones(len(data.X))]
        )
        self.costs = np.append([data.costs[list(p)].sum() for p in PAIRS], 1.0)
        self.source, self.n_rows = self, len(data.X)

    def response(self, number, seven, sign):
        assert seven == 7
        return sign * self.H[:, number]

    def learner(self, number, seven, sign):
        return Constant(sign) if number == len(PAIRS) else Product(PAIRS[number], sign)

    def price(self, A, penalty, rule="exact"):
        both = [penalty.dual_norm(s * self.H.T @ A) / self.costs for s in (1, -1)]
        prices = np.concatenate(both)
        order = np.argsort(-prices)
        number, sign = order % len(self.costs), np.where(order < len(self.costs), 1, -1)
        seven = np.full(order.size, 7)
        return Pricing(prices.max(), 1e-12, Proposals(number, seven, sign, prices[order]))


def fit(oracle, **settings):
    settings = {"nu": 0.05, "tol": 1e-6, "feature_costs": COSTS, **settings}
    return DirectBoostClassifier(learner=oracle, **settings).fit(DATA.X, DATA.y, DATA.s)


@pytest.mark.parametrize(
    ("loss", "penalty", "p"),
    [("logistic", "l1,2", 2.0), ("hinge", "l1", 1.0), ("exponential", "l1,inf", np.inf)],
)
@pytest.mark.parametrize("make", [WithCatalogue, WithoutCatalogue])
def test_the_optimum_over_the_dictionary(make, loss, penalty, p):
    model = fit(make(), loss=loss, penalty=penalty)
    products = [Product(pair).predict(DATA.X) for pair in PAIRS]
    H = np.column_stack([*products, *(-h for h in products), np.ones(20), -np.ones(20)])
    kappa = np.array([COSTS[list(pair)].sum() for pair in PAIRS])
    costs = np.concatenate([kappa, kappa, [1.0, 1.0]])
    best, _ = solve_twin(H, DATA.y, 4, DATA.s, loss, "pairwise", p, model.nu_, costs)
    proof = model.certificate_
    assert proof.converged
    assert proof.dictionary == make.dictionary
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.dual <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("make", [WithCatalogue, WithoutCatalogue])
def test_the_model_uses_the_custom_classifiers(make):
    model = fit(make(), nu=0.02)
    F = np.column_stack([h.predict(DATA.X) for h in model.learners_]) @ model.weights_
    np.testing.assert_allclose(model.decision_function(DATA.X), F, atol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    expected = model.decision_function(DATA.X)
    np.testing.assert_array_equal(again.decision_function(DATA.X), expected)
    assert "product of x" in model.summary()
    assert model.cost_ == pytest.approx(COSTS[model.features_used_].sum())
    with pytest.raises(ValueError, match="product of 2 features at once"):
        model.explain(DATA.X)


def test_a_warm_start_without_recall_starts_from_scratch():
    """An oracle without `recall` still reaches the same optimum."""
    model = fit(WithCatalogue(), nu=0.3, warm_start=True)
    model.set_params(nu=0.05).fit(DATA.X, DATA.y, DATA.s)
    assert model.history_[0].columns == 0
    assert model.certificate_.primal == pytest.approx(
        fit(WithCatalogue()).certificate_.primal, rel=1e-6
    )


def test_the_stump_oracle_as_an_object():
    """Passed as an object it prices the rows of the fit, not those it was made with."""
    H, _, _ = enumerate_dictionary(DATA.X)
    oracle = StumpOracle(bin_features(np.ones((5, 2)), np.ones(5), None), np.ones(3))
    model = fit(oracle, max_bins=None, penalty="l1", loss="hinge", feature_costs=None)
    best, _ = solve_twin(
        H, DATA.y, 4, DATA.s, "hinge", "pairwise", 1.0, model.nu_, np.ones(H.shape[1])
    )
    assert model.certificate_.dictionary == "all stumps"
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert oracle.binned.n_rows == 5


@pytest.mark.parametrize("name", LEARNERS)
def test_a_name_is_its_oracle_with_default_arguments(name):
    named, passed = fit(name), fit(LEARNERS[name]())
    np.testing.assert_array_equal(named.weights_, passed.weights_)
    assert named.certificate_ == passed.certificate_


class TestCatalogue:
    """Numbered weak classifiers."""

    def catalogue(self, kind=np.float64):
        return Catalogue(OracleData(DATA.X, DATA.s, 1.0, np.append(COSTS, 1.0)), kind)

    def test_the_constant_is_number_zero(self):
        catalogue = self.catalogue()
        assert len(catalogue) == 1
        assert catalogue.learner(0, 0, -1) == Constant(-1)
        assert catalogue.costs == [1.0]
        assert catalogue.add(Constant(-1)) == (0, -1)

    def test_equal_and_opposite_responses_are_one_column(self):
        catalogue = self.catalogue()
        assert catalogue.add(Product((0, 1))) == (1, 1)
        assert catalogue.add(Product((1, 0))) == (1, 1)
        assert catalogue.add(Product((0, 1), -1)) == (1, -1)
        assert len(catalogue) == 2
        np.testing.assert_array_equal(
            catalogue.learner(1, 0, -1).predict(DATA.X), catalogue.response(1, 0, -1)
        )

    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_cheaper_of_equal_columns_is_kept(self, sign):
        @dataclass(frozen=True)
        class Named(Product):
            def predict(self, X):
                return self.sign * np.sign(X[:, 0])

        catalogue = self.catalogue(np.int8)
        assert catalogue.add(Named((2,))) == (1, 1)
        assert catalogue.add(Named((1,), sign)) == (2, 1)
        assert catalogue.costs == [1.0, 2.0, 0.5]
        assert catalogue.add(Named((3,))) == (2, sign)

    def test_many_columns(self, rng):
        """The buffer grows, and edges are computed from the responses block by block."""

        @dataclass(frozen=True)
        class Fixed:
            features: tuple[int, ...]
            responses: tuple[float, ...]

            def predict(self, X):
                return np.array(self.responses)

        catalogue, H = self.catalogue(), rng.uniform(-1.0, 1.0, (20, 300))
        for h in H.T:
            catalogue.add(Fixed((0,), tuple(h)))
        A = rng.normal(size=(20, 3))
        expected = np.column_stack([np.ones(20), H]).T @ A
        np.testing.assert_allclose(catalogue.edges(A), expected, atol=1e-13)
