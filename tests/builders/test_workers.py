"""Worker processes that are killed in the middle of a build."""

import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest
from PIL import Image

from cfmgml.builders.pictures import EncodedNodes, descriptions
from cfmgml.builders.pictures.builder import PictureBuilder, PictureFiles
from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.data.builder import FileInput
from cfmgml.datasets import bags_from_images
from made_up import draw_photo

SMALL = {"features": "paper", "nodes": "labels", "n_jobs": 2}


class Halves:
    """An encoder without a network: what it sees is described in the parent process, as with ``deep``."""

    name, digest, widths = "halves", "1", {"colours": 3}

    def maps(self, pictures, device="cpu"):
        return [[one[::2, ::2].astype(np.float32)] for one in pictures]


@pytest.fixture(params=["workers", "parent"])
def small(request):
    """Builds whose nodes are described in the workers, or in the parent from what the workers made ready."""
    yield SMALL if request.param == "workers" else {"features": EncodedNodes(Halves()), "n_jobs": 2}
    descriptions._registered.clear()


def many_photos(n, size=(48, 72)):
    rng = np.random.default_rng(0)
    return [draw_photo(rng, size)[0] for _ in range(n)]


def deadly_picture():
    """A picture that kills whoever decodes it; made in here, so that it travels by value."""

    class Deadly:
        def __array__(self, dtype=None, copy=None):
            os.kill(os.getpid(), signal.SIGKILL)

    return Deadly()


def workers():
    """Processes of ours among this one's children, which other tests may have left there."""
    return [child for child in psutil.Process().children() if "cfmgml.common.processes" in " ".join(child.cmdline())]


def kill_workers(wanted, killed):
    """Kill so many workers at once while they are at work: one after the other might hit the same picture twice."""
    while len(killed) < wanted:
        time.sleep(0.1)
        found = workers()
        if len(found) >= wanted:
            for worker in found[:wanted]:
                worker.kill()
                killed.append(worker.pid)


@pytest.mark.slow
def test_a_build_outlives_its_workers(small):
    photos, killed = many_photos(500, (144, 216)), []
    killer = threading.Thread(target=kill_workers, args=(2, killed), daemon=True)
    killer.start()
    bags = bags_from_images(photos, **small)
    assert len(killed) == 2
    assert not workers()
    expected = bags_from_images(photos, **{**small, "n_jobs": 1})
    assert bags.fingerprint() == expected.fingerprint()


@pytest.mark.slow
def test_a_picture_that_kills_its_workers_is_named(small):
    photos = many_photos(30)
    names = [f"p{k}" for k in range(30)]
    photos[20] = deadly_picture()
    with pytest.raises(ImageError, match="image p20: its worker process was killed twice"):
        bags_from_images(photos, names=names, **small)
    with pytest.warns(UserWarning, match="1 of 30 images were skipped, such as p20: its worker process was killed"):
        bags = bags_from_images(photos, names=names, on_error="skip", **small)
    assert bags.bag_names.tolist() == [name for name in names if name != "p20"]
    assert list(bags.info["skipped"]) == ["p20"]


@pytest.mark.slow
def test_a_failure_of_the_work_names_its_picture():
    """Of the code, not of the picture: it says where it was."""

    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("a failure")

    photos = [*many_photos(8), Failing()]
    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError, match="a failure") as caught:
            bags_from_images(photos, names=[f"p{k}" for k in range(9)], **{**SMALL, "n_jobs": n_jobs})
        assert "This was image p8." in caught.value.__notes__
    assert not workers()


@pytest.mark.slow
def test_a_stream_that_is_left_leaves_no_process(tmp_path):
    for k, photo in enumerate(many_photos(80)):
        Image.fromarray(photo).save(tmp_path / f"{k:03}.png")
    stream = PictureBuilder("paper", "labels").stream(FileInput([tmp_path], options=PictureFiles(n_jobs=2)))
    stream.settle(None)
    pieces = stream.pieces(0)
    next(pieces)
    assert workers()
    pieces.close()
    assert not workers()
