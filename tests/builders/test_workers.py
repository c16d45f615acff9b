"""Worker processes that are killed in the middle of a build."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest
from joblib.externals.loky import reusable_executor

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.datasets import bags_from_images
from made_up import draw_photo

SMALL = {"features": "paper", "nodes": "labels", "n_jobs": 2}


def many_photos(n, size=(48, 72)):
    rng = np.random.default_rng(0)
    return [draw_photo(rng, size)[0] for _ in range(n)]


def deadly_picture():
    """A picture that kills whoever decodes it; made in here, so that it travels by value."""

    class Deadly:
        def __array__(self, dtype=None, copy=None):
            os.kill(os.getpid(), signal.SIGKILL)

    return Deadly()


def kill_workers(wanted, killed):
    """Kill a worker now and then while it is at work."""
    while len(killed) < wanted:
        time.sleep(0.1)
        processes = list(getattr(reusable_executor._executor, "_processes", None) or {})
        with contextlib.suppress(ProcessLookupError, IndexError):  # it has just ended, or there is none yet
            os.kill(processes[0], signal.SIGKILL)
            killed.append(processes[0])


@pytest.mark.slow
def test_a_build_outlives_its_workers():
    photos, killed = many_photos(500, (144, 216)), []
    bags_from_images(photos[:8], **SMALL)  # workers are there before one is killed
    killer = threading.Thread(target=kill_workers, args=(2, killed), daemon=True)
    killer.start()
    bags = bags_from_images(photos, **SMALL)
    assert killed
    expected = bags_from_images(photos, **{**SMALL, "n_jobs": 1})
    assert bags.fingerprint() == expected.fingerprint()


@pytest.mark.slow
def test_a_picture_that_kills_its_workers_is_named():
    photos = many_photos(30)
    names = [f"p{k}" for k in range(30)]
    photos[20] = deadly_picture()
    with pytest.raises(ImageError, match="image p20: its worker process was killed twice"):
        bags_from_images(photos, names=names, **SMALL)
    with pytest.warns(UserWarning, match="1 of 30 images were skipped, such as p20: its worker process was killed"):
        bags = bags_from_images(photos, names=names, on_error="skip", **SMALL)
    assert bags.bag_names.tolist() == [name for name in names if name != "p20"]
    assert list(bags.info["skipped"]) == ["p20"]
