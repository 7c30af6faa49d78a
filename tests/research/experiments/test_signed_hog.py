"""Histograms of gradients: those of scikit-image for half a turn, by hand for a whole one."""

import numpy as np
import pytest
from skimage.feature import hog as hog_of_skimage

from directboost.research.experiments.images import hog


@pytest.mark.parametrize(
    ("orientations", "cell", "size"), [(8, 5, 1568), (9, 4, 2916), (6, 8, 384)]
)
def test_half_a_turn_is_that_of_scikit_image(rng, orientations, cell, size):
    images = rng.random((3, 40, 40))
    images[1, 10:] = 0.5  # flat: gradients of length zero
    images[2] = np.round(images[2] * 2.0)  # many gradients in directions between two bins
    expected = [
        hog_of_skimage(image, orientations, (cell, cell), (2, 2), block_norm="L2-Hys")
        for image in images
    ]
    found = hog(images, orientations, cell)
    assert found.shape == (3, size)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_whole_turn_tells_opposite_gradients_apart():
    ramp = np.tile(np.arange(20.0), (20, 1))
    right, left = hog(np.stack([ramp, ramp[:, ::-1]]), 8, 5, signed=True)
    down, up = hog(np.stack([ramp.T, ramp.T[::-1]]), 8, 5, signed=True)
    bins = [set(np.flatnonzero(one) % 8) for one in (right, down, left, up)]
    assert bins == [{0}, {2}, {4}, {6}]


def test_a_whole_turn_folded_is_half_a_turn(rng):
    """Cells of 16 bins of a whole turn, added to their opposites, are those of 8 bins of a half."""
    from directboost.research.experiments.images import _cells

    images = rng.random((2, 20, 20))
    whole, half = _cells(images, 16, 5, True), _cells(images, 8, 5, False)
    np.testing.assert_allclose(whole[..., :8] + whole[..., 8:], half, atol=1e-12)


def test_batches_do_not_show(rng):
    images = rng.random((1003, 10, 10))
    found = hog(images, 4, 5, signed=True)
    np.testing.assert_array_equal(found[[0, 499, 500, 1002]],
        hog(images[[0, 499, 500, 1002]], 4, 5, signed=True))  # fmt: skip


def test_a_flat_image_has_no_gradients():
    assert not hog(np.full((1, 20, 20), 7.0), 8, 5, signed=True).any()
