"""The API as programs ask it: a real server, real requests."""

import http.client
import json
import logging
import re
import socket
import time
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from cfmgml.common.tables import text_formats, write_table
from cfmgml.learning.predictions import LEVELS, prediction_kinds, prediction_table
from cfmgml.web.schemas import Answer

IMAGE = "/api/v1/models/photos/image"
TEXT = "/api/v1/models/texts/text"


@pytest.fixture
def client(live):
    with httpx.Client(base_url=live, timeout=180) as client:
        yield client


def post_image(client, data, url=IMAGE, kind="image/png", **options):
    return client.post(url, content=data, headers={"Content-Type": kind}, **options)


def check_problem(response, status, code):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    problem = response.json()
    assert set(problem) == {"error", "reason"}
    assert problem["error"] == code
    assert problem["reason"]


def test_the_same_numbers_as_python(client, photo_model, photo_file, tmp_path):
    (tmp_path / "photo.png").write_bytes(photo_file)
    bags = replace(photo_model.builder_, max_regions=4).rebuild([tmp_path / "photo.png"])
    answer = post_image(client, photo_file, params={"regions": 4}).raise_for_status().json()
    got = np.array([graph["scores"] for graph in answer["graphs"]])
    np.testing.assert_allclose(got, photo_model.decision_function_graphs(bags), rtol=0, atol=1e-9)
    columns = [photo_model.label_names_.tolist().index(name) for name in answer["explanation"]["labels"]]
    np.testing.assert_allclose(
        np.array(answer["explanation"]["contributions"]).T, photo_model.explain(bags)[:, columns], rtol=0, atol=1e-9
    )


def test_texts_and_digits(client, text_model):
    text = "Immune cells attack the tumour. Vessels grow."
    answer = client.post(TEXT, json={"text": text}).raise_for_status().json()
    scores = text_model.decision_function_graphs(text_model.builder_.rebuild([text]))
    np.testing.assert_allclose([graph["scores"] for graph in answer["graphs"]], scores, rtol=0, atol=1e-9)
    strip = client.get("/api/v1/models/digits/samples/0")
    answer = post_image(client, strip.content, "/api/v1/models/digits/image").raise_for_status().json()
    assert len(answer["graphs"]) == 4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl"])
def test_the_table_that_predict_writes(client, text_model, tmp_path, level, form):
    text = "Immune cells attack the tumour. Vessels grow."
    table = prediction_table(text_model, text_model.builder_.rebuild([text]), level)
    write_table(table, tmp_path / f"expected.{form}")
    response = client.post(TEXT, json={"text": text}, params={"table": level, "format": form}).raise_for_status()
    assert response.headers["content-type"].partition(";")[0] == text_formats()[form].media_type
    assert response.text == (tmp_path / f"expected.{form}").read_text()


def test_tables_of_images_and_those_that_are_refused(client, photo_model, photo_file):
    rows = post_image(client, photo_file, params={"regions": 4, "table": "node"}).raise_for_status().text
    assert rows.partition("\n")[0] == ",".join(prediction_kinds(photo_model, "node"))
    check_problem(post_image(client, photo_file, params={"table": "edge"}), 422, "bad_parameter")
    check_problem(post_image(client, photo_file, params={"table": "bag", "format": "parquet"}), 422, "bad_parameter")


def test_answers_follow_the_schema(client, photo_file):
    Answer.model_validate_json(post_image(client, photo_file).content, strict=True)
    Answer.model_validate_json(client.post(TEXT, json={"texts": ["Blood."]}).content, strict=True)


def test_the_catalogue(client, photo_model):
    catalogue = client.get("/api/v1/models").json()
    assert [model["name"] for model in catalogue["models"]] == ["photos", "digits", "texts", "graphs"]
    assert catalogue["limits"]["pixels"] == 1_000_000
    photos = client.get("/api/v1/models/photos").json()
    assert photos["labels"] == photo_model.label_names_.tolist()
    assert (photos["kind"], photos["regions"], photos["explains"]) == ("images", 8, True)
    sample = client.get("/api/v1/models/texts/samples/0")
    assert sample.headers["content-type"].startswith("text/plain")
    assert sample.text.startswith("The immune system")


def test_openapi_names_every_route_and_problem(client):
    document = client.get("/api/v1/openapi.json").json()
    routes = {f"/api/v1/models{rest}" for rest in ("", "/{model}", "/{model}/image", "/{model}/text")}
    assert routes <= set(document["paths"])
    asked = document["paths"]["/api/v1/models/{model}/image"]["post"]
    assert {"200", "413", "415", "422", "503", "504"} <= set(asked["responses"])
    assert set(asked["requestBody"]["content"]) >= {"image/png", "image/jpeg"}
    assert "http" not in json.dumps(document["paths"])  # nothing points elsewhere
    for url in ("/docs", "/redoc"):
        assert client.get(url).status_code == 404


# -- what is refused -------------------------------------------------------------------------


def test_bad_uploads(client, photo_file):
    check_problem(post_image(client, b"a text"), 415, "not_an_image")
    check_problem(post_image(client, photo_file[:2000]), 422, "damaged_image")
    check_problem(post_image(client, b""), 415, "not_an_image")
    check_problem(post_image(client, photo_file, kind="text/html"), 415, "wrong_type")
    check_problem(post_image(client, photo_file, params={"regions": 0}), 422, "bad_parameter")
    check_problem(post_image(client, photo_file, params={"regions": "many"}), 422, "bad_parameter")
    check_problem(post_image(client, photo_file, "/api/v1/models/nobody/image"), 404, "no_such_model")
    check_problem(post_image(client, photo_file, "/api/v1/models/texts/image"), 422, "wrong_input")


def test_bad_texts(client):
    check_problem(client.post(TEXT, json={"text": "x" * 2001}), 413, "text_too_long")
    check_problem(client.post(TEXT, json={"text": "\ufdfa" * 112}), 413, "text_too_long")  # 18 characters each
    assert client.post(TEXT, json={"text": "\ufdfa" * 111}).status_code == 200
    check_problem(client.post(TEXT, json={"texts": ["x"] * 21}), 413, "too_many_graphs")
    for body in ({}, {"text": "a", "texts": ["b"]}, {"text": 3}, {"words": "a"}, [], "a"):
        check_problem(client.post(TEXT, json=body), 422, "bad_text")
    headers = {"Content-Type": "application/json"}
    for body in (b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"[" * 20_000, b"null", b""):
        check_problem(client.post(TEXT, content=body, headers=headers), 422, "bad_text")
    check_problem(client.post(TEXT, content=b"text"), 415, "wrong_type")


def test_head_is_get_without_content(client):
    for url in (
        "/",
        "/healthz",
        "/static/app.js",
        "/api/v1/models",
        "/api/v1/models/texts/samples/0",
        "/nowhere",
        IMAGE,
    ):
        got, head = client.get(url), client.head(url)
        assert head.status_code == got.status_code, url
        assert head.content == b""
        assert head.headers["content-length"] == str(len(got.content))
        assert head.headers["content-type"] == got.headers["content-type"]
    assert 'requests_total{method="HEAD",route="/healthz",status="200"} 1' in client.get("/metrics").text


def test_many_faults_of_a_text_are_one(client):
    """Checked in the server's own process: thousands of faults must cost neither its time nor its memory."""
    for body in (b'{"texts": [' + b"1," * 9000 + b"1]}", b"{" + b'"a": 1,' * 3000 + b'"b": 1}'):
        response = client.post(TEXT, content=body, headers={"Content-Type": "application/json"})
        check_problem(response, 422, "bad_text")
        assert len(response.text) < 300


def test_other_addresses(client):
    check_problem(client.get("/api/v1/models/photos/samples/9"), 404, "no_such_sample")
    check_problem(client.get("/nowhere"), 404, "not_found")
    check_problem(client.get(IMAGE), 405, "wrong_method")
    for name in ("..%2fapp.py", "app.py", "%2e%2e/limits.py"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_large_body_is_refused_at_once(client):
    check_problem(post_image(client, bytes(3 * 2**20)), 413, "body_too_large")


def test_a_large_body_without_a_length(client):
    def parts():
        for _ in range(40):
            yield bytes(2**17)

    check_problem(post_image(client, parts()), 413, "body_too_large")


def test_a_length_that_lies(live):
    """More is promised than comes: the answer does not wait for ever, and the server lives on."""
    host = urlsplit(live)
    with socket.create_connection((host.hostname, host.port)) as wire:
        head = f"POST {IMAGE} HTTP/1.1\r\nHost: {host.netloc}\r\nContent-Type: image/png\r\nContent-Length: 999\r\n\r\n"
        wire.sendall(head.encode() + b"short")
    assert httpx.get(f"{live}/healthz").json()["status"] == "ok"


def test_host_names(live):
    """Another name that points here (DNS rebinding) gets nothing."""
    host = urlsplit(live)
    for name, status in (("evil.example", 421), (f"localhost:{host.port}", 200), ("127.0.0.1.evil.example", 421)):
        connection = http.client.HTTPConnection(host.hostname, host.port, timeout=10)
        connection.request("GET", "/healthz", headers={"Host": name})
        response = connection.getresponse()
        assert response.status == status, name
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        connection.close()


def test_pages_of_other_sites(client, photo_file):
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        check_problem(client.get("/healthz", headers=headers), 403, "foreign_origin")
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200  # a link in a mail may lead here
    check_problem(client.post(IMAGE, content=photo_file, headers=link), 403, "foreign_origin")
    own = {"Origin": f"http://{client.base_url.netloc.decode()}", "Content-Type": "image/png"}
    assert client.post(IMAGE, content=photo_file, headers=own).status_code == 200


# -- headers, health, counts and log ---------------------------------------------------------


def test_security_headers_are_on_everything(client):
    for url in ("/", "/static/app.js", "/healthz", "/nowhere", "/api/v1/models"):
        headers = client.get(url).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert not re.search(r"\son\w+=", page)  # no inline handlers
    files = [part.split('"')[0] for part in page.split('src="')[1:] + page.split('href="')[1:]]
    assert files
    assert all(file.startswith("/") for file in files)
    for file in files:
        assert client.get(file).status_code == 200


def test_health_and_metrics(client, photo_file):
    assert client.get("/healthz").json() == {"status": "ok", "workers": 1}
    post_image(client, b"no image")
    lines = client.get("/metrics").text.splitlines()
    counted = [line for line in lines if line.startswith("cfmgml_requests_total") and "/image" in line]
    assert any('status="415"' in line and 'route="/api/v1/models/{model}/image"' in line for line in counted)
    assert any(line.startswith('cfmgml_refused_total{code="not_an_image"}') for line in lines)
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(values["cfmgml_workers"]) == 1
    assert float(values["cfmgml_requests_inside"]) == 0
    assert float(values["cfmgml_resident_bytes"]) > 10**7
    buckets = [int(value) for name, value in values.items() if "bucket" in name and 'route="/healthz"' in name]
    assert buckets == sorted(buckets)
    assert float(values['cfmgml_request_seconds_count{route="/healthz"}']) == buckets[-1]


def test_logs_carry_no_content(client, caplog):
    secret = "Wolpertinger"
    with caplog.at_level(logging.DEBUG, logger="cfmgml.web"):
        client.post(TEXT, json={"text": f"{secret} cells grow."})
        client.post(TEXT, json={"text": secret * 400})
        client.get(f"/api/v1/models/{secret}", params={"q": secret})
        deadline = time.monotonic() + 5  # the answer may be here before the line is written
        while len(caplog.records) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(caplog.records) >= 3
    assert secret not in caplog.text
    assert secret not in client.get("/metrics").text
