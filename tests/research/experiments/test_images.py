"""Features of images against formulas written pixel by pixel."""

import numpy as np
import pytest

from directboost.research.experiments.images import (
    LEVELS,
    block_starts,
    colour_histograms,
    deskew,
    hog_pyramid,
)


def slant_of(image):
    """Return the slope of the line through the ink: column by row, by least squares."""
    rows, columns = np.nonzero(image > 0)
    weights = image[rows, columns]
    return np.polyfit(rows, columns, 1, w=np.sqrt(weights))[0]


def slanted(slope):
    """Draw a thick stroke that leans by `slope` columns a row."""
    rows, columns = np.indices((28, 28))
    return np.clip(2.5 - np.abs(columns - 13.5 - slope * (rows - 13.5)), 0, 1) * (
        (rows > 4) & (rows < 23)
    )


@pytest.mark.parametrize("slope", [-0.4, 0.0, 0.3])
def test_deskewed_strokes_stand_upright(slope):
    image = slanted(slope)
    assert slant_of(image) == pytest.approx(slope, abs=0.02)
    upright = deskew(image[None])[0]
    assert abs(slant_of(upright)) < 0.02
    # A shear moves no ink from one row to another.
    np.testing.assert_allclose(upright.sum(axis=1), image.sum(axis=1), atol=0.05)


def test_images_without_a_slant_stay():
    row = np.zeros((28, 28))
    row[9, 4:20] = 1.0
    images = np.stack([np.zeros((28, 28)), row])
    np.testing.assert_array_equal(deskew(images), images)


def histogram_by_pixels(image, top, left, size):
    """Return the normed histogram of one block, pixel by pixel with angles in degrees."""
    counts = np.zeros(12)
    for r in range(top, top + size):
        for c in range(left, left + size):
            down = image[r + 1, c] - image[r - 1, c] if 0 < r < len(image) - 1 else 0.0
            right = image[r, c + 1] - image[r, c - 1] if 0 < c < len(image) - 1 else 0.0
            angle = np.degrees(np.angle(complex(right, down))) % 360.0
            length = abs(complex(right, down))
            for centre in range(12):
                apart = abs(angle - 30.0 * centre)
                apart = min(apart, 360.0 - apart)
                counts[centre] += length * max(0.0, 1.0 - apart / 30.0)
    return counts / np.sqrt(counts @ counts + (0.05 * size) ** 2)


def test_pyramid_by_pixels():
    images = np.random.default_rng(0).random((3, 28, 28))
    found = hog_pyramid(images)
    assert found.shape == (3, 2172)
    assert found.dtype == np.float32
    place = 0
    for size, count in LEVELS:
        starts = block_starts(28, size, count)
        level = found[:, place : place + 12 * count**2].reshape(3, count, count, 12)
        place += 12 * count**2
        for i, j in {(0, 0), (0, count - 1), (count // 2, count // 3), (count - 1, count - 1)}:
            wanted = histogram_by_pixels(images[1], starts[i], starts[j], size)
            np.testing.assert_allclose(level[1, i, j], wanted, rtol=1e-5, atol=1e-6)
    assert place == 2172


def test_blocks_are_half_of_their_size_apart_in_the_middle():
    np.testing.assert_array_equal(block_starts(28, 4, 12), np.arange(1, 25, 2))
    np.testing.assert_array_equal(block_starts(28, 4, 13), np.arange(0, 25, 2))
    np.testing.assert_array_equal(block_starts(28, 14, 1), [7])
    starts = block_starts(28, 7, 6)
    assert starts[0] > 0
    assert starts[-1] + 7 < 28
    assert set(np.diff(starts)) == {3, 4}


def test_batches_change_nothing():
    images = np.random.default_rng(2).random((501, 28, 28))
    np.testing.assert_array_equal(hog_pyramid(images)[-1:], hog_pyramid(images[-1:]))


def test_colours():
    red, grey = np.zeros((8, 8, 3)), np.full((8, 8, 3), 0.25)
    red[..., 0] = 1.0
    half = np.where(np.arange(8)[None, :, None] < 4, red, grey)
    found = colour_histograms(np.stack([red, half])).reshape(2, 8, 6, 6)
    assert found[0, 0, 5, 5] == 1.0  # hue 0, full saturation and value
    assert found[1, 0, 5, 5] == 0.5
    assert found[1, 0, 0, 1] == 0.5
    np.testing.assert_allclose(found.sum(axis=(1, 2, 3)), 1.0)
