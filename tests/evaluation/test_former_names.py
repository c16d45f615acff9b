"""Names that docs showed before the experiments were split into rooms."""

import importlib
import subprocess
import sys

import pytest

from cfmgml.evaluation.protocol import Protocol

CODE = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from cfmgml.experiments.reproduction.catalogue import find_data_sets
    from cfmgml.experiments.reproduction.methods import find_methods
    from cfmgml.experiments.reproduction.planning import Protocol
    from cfmgml.experiments.reproduction.reproduce import Experiment
from cfmgml.evaluation import experiment, methods, protocol
from cfmgml.paper import catalogue
assert find_data_sets is catalogue.find_data_sets and find_methods is methods.find_methods
assert Protocol is protocol.Protocol and Experiment is experiment.Experiment
print([(each.category.__name__, each.filename) for each in told])
"""


def test_former_names_still_import_and_say_where_to():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[('DeprecationWarning', '<string>')]"


def test_a_name_that_was_never_there_is_an_error():
    code = "from cfmgml.experiments.reproduction.methods import nothing"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: cannot import name 'nothing'" in done.stderr


def test_former_names_in_this_process(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("cfmgml.experiments")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.warns(DeprecationWarning, match="split into cfmgml.evaluation and cfmgml.paper"):
        module = importlib.import_module("cfmgml.experiments.reproduction.planning")
    assert module.Protocol is Protocol
    for name in [name for name in sys.modules if name.startswith("cfmgml.experiments")]:
        del sys.modules[name]
