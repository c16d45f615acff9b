"""What somebody does first with an installed cfmgml: the demo, a picture model, a text model, a server that answers.

Run by `scripts/try_wheel.py` with the interpreter of a fresh environment, in an empty folder. The pictures and texts
are those that the guides make up.
"""

import csv
import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

WAIT = 300


def cfmgml(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "cfmgml.cli", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"cfmgml {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    print("ok: cfmgml", *words, flush=True)
    return done.stdout


def rows(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def expect(holds: object, what: str) -> None:
    if not holds:
        raise SystemExit(f"not as it should be: {what}")


def demo() -> None:
    shown = cfmgml("demo")
    expect("CfMGML" in shown or "cfMGML" in shown, f"the demo's table, got {shown!r}")
    expect(Path("out/demo.html").stat().st_size > 10_000, "out/demo.html")


def pictures() -> None:
    subprocess.run([sys.executable, "make_photos.py"], check=True)
    cfmgml("build", "images", "photos", "--labels", "labels.csv", "-o", "photos.bags")
    cfmgml("train", "photos.bags", "-o", "photos.cfmgml", "--alpha", "1e-4")
    cfmgml("predict", "photos.cfmgml", "new", "-o", "new.csv")
    expect(
        {row["bag"] for row in rows("new.csv")} == {f"new{k:02}.png" for k in range(4)}, "a row for each new picture"
    )


def texts() -> None:
    subprocess.run([sys.executable, "make_texts.py"], check=True)
    cfmgml("build", "text", "letters.jsonl", "-o", "letters.bags")
    cfmgml("train", "letters.bags", "-o", "letters.cfmgml", "--alpha", "1e-3")
    cfmgml("predict", "letters.cfmgml", "new.jsonl", "--level", "graph", "-o", "sentences.csv")
    topic = {
        "melody": "music",
        "rhythm": "music",
        "goal": "sport",
        "match": "sport",
        "oven": "cooking",
        "flour": "cooking",
    }
    for row in rows("sentences.csv"):
        known = {topic[word] for word in topic if f" {word} " in row["text"]}
        expect(not known or row["best"] in known, f"the topic of {row['text']!r}, got {row['best']}")


def server() -> None:
    """Ask a server for a text and for its page."""
    words = [sys.executable, "-m", "cfmgml.cli", "serve", "letters.cfmgml", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = re.search(r"http://\S+", process.stderr.readline())
            expect(address, "the line that says where the server listens")
            assert address is not None
            ask = urllib.request.Request(
                f"{address[0].rstrip('/')}/api/v1/models/model/text",
                json.dumps({"text": "The goal and the referee and the match were good."}).encode(),
                {"Content-Type": "application/json"},
            )
            answer = json.loads(_open(ask))
            expect(answer["labels"][0]["name"] == "sport", f"an answer about sport, got {answer['labels'][0]}")
            expect("<title>" in _open(urllib.request.Request(address[0])), "the page")
        finally:
            process.terminate()
    print("ok: cfmgml serve letters.cfmgml answers", flush=True)


def _open(request: urllib.request.Request) -> str:
    until = time.monotonic() + WAIT
    while True:
        try:
            with urllib.request.urlopen(request, timeout=WAIT) as answer:
                return str(answer.read().decode())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    import cfmgml as installed

    print(f"cfmgml {installed.__version__} on Python {sys.version.split()[0]}, from {Path(installed.__file__).parent}")
    for step in (demo, pictures, texts, server):
        step()
    print("all of it works.")
