"""How long until work can begin: importing, and loading a model and a data set of so many bags."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from questions import Contender, Question


@cache
def files(n):
    from cfmgml import CfMGML, NodeSum
    from cfmgml.datasets import load_digit_bags

    folder = Path(tempfile.mkdtemp(prefix="cfmgml-bench-"))
    bags = load_digit_bags(subset="train", n_bags=n, random_state=0)
    bags.save(folder / "bags.cfmgml")
    CfMGML(NodeSum(), n_rounds=1, max_iter=2).fit(bags).save(folder / "model.cfmgml")
    return folder


def in_a_new_process(code):
    def run(given):
        subprocess.run([sys.executable, "-c", code], check=True)

    return run


def load_bags(folder):
    from cfmgml import BagDataset

    BagDataset.load(folder / "bags.cfmgml")


def load_model(folder):
    from cfmgml import CfMGML

    CfMGML.load(folder / "model.cfmgml")


QUESTION = Question(
    "Starting up",
    "bags",
    sizes=(100, 400),
    quick=(20, 40),
    contenders={
        "an empty Python": Contender(lambda n: None, in_a_new_process("pass")),
        "import cfmgml": Contender(lambda n: None, in_a_new_process("import cfmgml")),
        "import cfmgml.CfMGML": Contender(lambda n: None, in_a_new_process("from cfmgml import CfMGML")),
        "load bags": Contender(files, load_bags),
        "load a model": Contender(files, load_model),
    },
)
