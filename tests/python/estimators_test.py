#!/usr/bin/env python3
"""The estimators: what they find, that they need no scikit-learn, and scikit-learn's own checks, with the reason of those
that fail. Exit code 77: there is no scikit-learn.

usage: estimators_test.py LEHR, from the root of the repository
"""
import subprocess
import sys
import traceback
import unittest
import warnings

import numpy as np

import lehr

try:
    from sklearn.utils import estimator_checks
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)

sys.argv.pop(1)

class WholeCounts(lehr.LDA):
    """LDA of data that are rounded up to counts: what its checks are about besides that."""

    def _checked(self, X, reset):
        X = super()._checked(X, reset)
        return X.ceil() if hasattr(X, "ceil") else np.ceil(X)


def all_checks(estimator):
    """Checks and what each is of; scikit-learn has had another name for them since 1.6."""
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)


def failed_checks(estimator):
    """The checks that fail, and what they say, with what that came from."""
    out = {}
    for instance, check in all_checks(estimator):
        try:
            check(instance)
        except unittest.SkipTest:
            pass
        except Exception:  # whatever a check raises
            out[check.func.__name__] = traceback.format_exc()
    return out


class Checks(unittest.TestCase):
    def test_checks_of_scikit_learn(self):
        for estimator in (lehr.GaussianMixture(2, max_iter=20), lehr.HMM(2, max_iter=20), WholeCounts(3, max_iter=20)):
            with self.subTest(type(estimator).__name__):
                self.assertEqual(failed_checks(estimator), {})

    def test_checks_that_need_other_data(self):
        """Those that LDA does not pass have one reason: their data are no counts. WholeCounts passes them."""
        failed = failed_checks(lehr.LDA(3, max_iter=20))
        for name, said in failed.items():
            with self.subTest(name):
                self.assertIn("but it must be a count (0, 1, 2, ...)", said)
        print(f"{len(failed)} checks have no counts for LDA: {', '.join(sorted(failed))}")


class Finds(unittest.TestCase):
    def test_a_mixture(self):
        rng = np.random.default_rng(1)
        X = np.concatenate([rng.normal(-4, 1, (200, 2)), rng.normal(4, 2, (300, 2))])
        g = lehr.GaussianMixture(4).fit(X)
        order = np.argsort(g.weights_)[-2:]
        np.testing.assert_allclose(np.sort(g.weights_)[-2:], [0.4, 0.6], atol=0.01)
        np.testing.assert_allclose(g.means_[order], [[-4, -4], [4, 4]], atol=0.3)
        np.testing.assert_allclose(g.covariances_[order][:, 0, 0], [1, 4], rtol=0.2)
        self.assertEqual(len(set(g.labels_[:200])), 1)
        self.assertGreater(g.score(X), g.score(X + 10))
        x, z = g.sample(50)
        self.assertEqual((x.shape, z.shape), ((50, 2), (50,)))
        np.testing.assert_array_equal(lehr.GaussianMixture(4, random_state=7).fit(X).means_,
                                      lehr.GaussianMixture(4, random_state=7).fit(X).means_)

    def test_columns_in_any_units(self):
        """Grams and years, far from 0: the same groups, numbers in these units, densities as of them."""
        rng = np.random.default_rng(1)
        X = np.concatenate([rng.normal(-4, 1, (200, 2)), rng.normal(4, 2, (300, 2))])
        units, origin = np.array([800.0, 0.01]), np.array([4000.0, 2020.0])
        for make, lengths in ((lambda: lehr.GaussianMixture(4), {}), (lambda: lehr.HMM(2), {"lengths": [500]})):
            a, b = make().fit(X, **lengths), make().fit(origin + units * X, **lengths)
            np.testing.assert_allclose(b.means_, origin + units * a.means_, rtol=1e-6)
            far = origin + units * X[:9]
            share = np.log(units).sum() if not lengths else np.log(units).mean()
            few = {"lengths": [9]} if lengths else {}
            self.assertAlmostEqual(b.score(far, **few), a.score(X[:9], **few) - share, 5)
            np.testing.assert_array_equal(b.predict(far, **few), a.predict(X[:9], **few))
        x, _ = lehr.GaussianMixture(4).fit(origin + units * X).sample(400)
        np.testing.assert_allclose(x.mean(0), (origin + units * X).mean(0), rtol=0.3)

    def test_a_chain(self):
        rng = np.random.default_rng(1)
        path = np.repeat([0, 1, 0, 1], 50)
        X = rng.normal(6.0 * path, 1)[:, None]
        h = lehr.HMM(2).fit(X, lengths=[100, 100])
        found = h.predict(X, lengths=[100, 100])
        self.assertIn(np.mean(found == path), (0, 1))
        self.assertGreater(h.transitions_[0, 0], 0.9)
        np.testing.assert_allclose(h.predict_proba(X, [100, 100]).sum(1), 1)
        second = lehr.HMM(2).fit(X, [100, 100])  # as hmmlearn has it
        self.assertEqual((second.elbo_, second.score(X, [100, 100])), (h.elbo_, h.score(X, lengths=[100, 100])))
        self.assertNotEqual(h.score(X), h.score(X, [100, 100]))
        self.assertEqual(lehr.HMM(2).fit(X, path).elbo_, lehr.HMM(2).fit(X).elbo_)  # labels, as scikit-learn's pipelines pass them
        for wrong in ([100, 90], [100.5, 99.5], [[100], [100]], ["a", "b"]):
            for call in (lehr.HMM(2).fit, h.score, h.predict, lambda X, lengths: h.score(X, lengths=lengths)):
                with self.assertRaisesRegex(lehr.DataError, "lengths: error: they are whole numbers whose sum is the number of rows, 200"):
                    call(X, wrong)
        with self.assertRaisesRegex(lehr.UsageError, "lengths are given twice"):
            lehr.HMM(2).fit(X, [100, 100], lengths=[200])

    def test_topics(self):
        rng = np.random.default_rng(1)
        topics = np.array([[8, 8, 8, 0, 0, 0], [0, 0, 0, 8, 8, 8]])
        X = rng.poisson(topics[np.arange(40) % 2])
        lda = lehr.LDA(2).fit(X)
        proportions = lda.transform(X)
        np.testing.assert_allclose(proportions.sum(1), 1)
        self.assertEqual(len(set(proportions[::2].argmax(1))), 1)
        self.assertNotEqual(proportions[0].argmax(), proportions[1].argmax())
        np.testing.assert_allclose(lda.components_.sum(1), 1)

    def test_without_scikit_learn(self):
        code = """
import sys
sys.modules["sklearn"] = None
import numpy as np, lehr
X = np.concatenate([np.zeros((20, 2)), np.ones((20, 2))]) + np.arange(40)[:, None] * 0.01
g = lehr.GaussianMixture(2, random_state=np.random.RandomState(1)).set_params(n_components=3)
assert g.fit_predict(X).shape == (40,) and g.get_params()["n_components"] == 3
for wrong in (X[:, :1], X[0], X * np.nan):
    try:
        g.predict(wrong)
    except ValueError:
        continue
    sys.exit(f"{wrong} was taken")
assert lehr.LDA(2).fit_transform(np.eye(4) * 3).shape == (4, 2)
"""
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
