"""docs/api.md is followed word for word: its commands ask a running server, its program makes one."""

import json
import shlex
import subprocess

from doc_pages import blocks, commands, follow
from needs import needs_program

MODELS = {"image": "photos", "text": "texts", "graphs": "graphs"}  # what the server of these tests calls them


def test_the_commands(live, make_file, photos, tmp_path):
    needs_program("curl")
    (tmp_path / "photo.jpg").write_bytes(make_file(photos["chelsea"][:200, :280], "JPEG"))
    said = [line for block in blocks("docs/api.md") if block.name == "client" for line in commands(block.body)]
    asked = [shlex.split(line) for line in said]
    table = next(words for words in asked if "?" in words[-1])
    asked.remove(table)
    address = table[-1].replace("http://127.0.0.1:8000/api/v1/models/model", f"{live}/api/v1/models/texts")
    done = subprocess.run([*table[:-1], "--silent", address], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.startswith(b"bag,graph,text,labels,best,words,score:")
    assert [words[-1].rpartition("/")[2] for words in asked] == list(MODELS)
    for words, route in zip(asked, MODELS, strict=True):
        assert words[-1] == f"http://127.0.0.1:8000/api/v1/models/model/{route}"
        address = f"{live}/api/v1/models/{MODELS[route]}/{route}"
        done = subprocess.run([*words[:-1], "--silent", address], cwd=tmp_path, capture_output=True, check=True)
        answer = json.loads(done.stdout)
        assert sorted(label["name"] for label in answer["labels"]) == sorted(answer["label_names"]), answer


def test_the_program(photo_model, make_file, photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photo_model.save("model.cfmgml")
    (tmp_path / "cow.jpg").write_bytes(make_file(photos["chelsea"], "JPEG"))
    known = follow("docs/api.md")
    assert "/api/v1/models/{model}/image" in {route.path for route in known["app"].routes}
