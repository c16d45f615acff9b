"""Small models of each kind, a real server in a thread, and a real browser."""

import contextlib
import io
import threading
import time

import pytest
import uvicorn

from browsers import launched  # noqa: F401
from cfmgml import CfMGML
from cfmgml.datasets import bags_from_texts
from cfmgml.demo import models as demo
from cfmgml.kernels import WeisfeilerLehman
from cfmgml.web import Exhibit, Limits, Sample, create_app
from cfmgml.web.server import server_config
from made_up import rings_and_chains

TEXTS = [
    "Tumour cells grow fast. They evade the immune system.",
    "Blood vessels feed the tumour. New vessels sprout from old vessels.",
    "The immune system attacks tumour cells. Immune cells remember.",
    "Vessels carry blood. Growth of cells needs blood.",
]
TEXT_LABELS = [[1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1]]


@pytest.fixture(scope="session")
def photos():
    return {name: pixels for name, pixels in demo.load_photos().items() if name in ("chelsea", "china", "flower")}


@pytest.fixture(scope="session")
def photo_model(photos):
    return demo.train_photos(photos, n_crops=4, features="rich")


@pytest.fixture(scope="session")
def digit_model():
    return demo.train_digits(n_bags=60)


@pytest.fixture(scope="session")
def text_model():
    bags = bags_from_texts(TEXTS, TEXT_LABELS, label_names=["growth", "immunity", "vessels"])
    return CfMGML(WeisfeilerLehman(n_iter=1), alpha=1e-3, probability=True, random_state=0).fit(bags)


@pytest.fixture(scope="session")
def graph_model():
    """Of graphs that somebody made: rings and chains of labelled nodes."""
    bags, _ = rings_and_chains(12)
    return CfMGML(WeisfeilerLehman(n_iter=2), alpha=1e-3).fit(bags)


@pytest.fixture(scope="session")
def photo_file(photos):
    """A photo as a file's bytes: nobody's but scikit-image's."""
    return image_file(photos["chelsea"][:200, :280])


def image_file(pixels, kind="PNG", **options):
    from PIL import Image

    stream = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(stream, kind, **options)
    return stream.getvalue()


@pytest.fixture(scope="session")
def make_file():
    return image_file


@contextlib.contextmanager
def running(app):
    """Serve an application on a free port, as `serve` does; gives its address."""
    server = uvicorn.Server(server_config(app, app.state.service.limits, port=0))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def serving():
    return running


@pytest.fixture(scope="session")
def app(photo_model, digit_model, text_model, graph_model, photo_file, tmp_path_factory):
    """Models of all kinds: one in memory, two in files; with limits that a test can reach."""
    folder = tmp_path_factory.mktemp("models")
    digit_model.save(folder / "digits.cfmgml")
    text_model.save(folder / "texts.cfmgml")
    exhibits = {
        "photos": Exhibit(photo_model, "Photos", "Crops of photos.", (Sample("cat", photo_file, "image/png"),)),
        "digits": Exhibit(folder / "digits.cfmgml", "Digits", samples=demo.digit_strips()),
        "texts": Exhibit(folder / "texts.cfmgml", "Texts", samples=(Sample("immune", TEXTS[2]),)),
        "graphs": Exhibit(graph_model, "Graphs"),
    }
    limits = Limits(body_bytes=2 * 2**20, pixels=1_000_000, characters=2000, texts=20, edges=500, workers=1, waiting=8)
    return create_app(exhibits, limits=limits)


@pytest.fixture(scope="session")
def live(app):
    """The address of a running server."""
    with running(app) as address:
        yield address


@pytest.fixture
def open_page(launched, live):  # noqa: F811
    """Open the page, in light, dark or forced colours and of any size; fails at the end if the console had an error.

    ``address`` is what follows the server's; ``script`` runs before those of the page.
    """
    wrong, pages = [], []

    def opened(scheme="light", width=1180, height=860, address="", script=""):
        page = launched(scheme, width, height)
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: request.url.startswith((live, "blob:")) or wrong.append(request.url))
        page.add_init_script(script)
        page.goto(f"{live}/{address}")
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert not [text for text in wrong if not _expected(text)]


def _expected(text):
    """Chromium notes every answer of 4xx on its console, and the page shows it to the user; Firefox notes that it
    refuses the style that Playwright adds for a screenshot (that the page has none of its own is tested elsewhere)."""
    refused = "Failed to load resource: the server responded with a status of 4"
    return text.startswith((refused, "The page\u2019s settings blocked an inline style"))
