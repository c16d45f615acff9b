"""The arrows between rooms point one way, and the front door opens quickly."""

import ast
import functools
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1] / "src" / "cfmgml"

# The rooms, lowest first. A room may import those that stand before it in this list, never one that stands after it.
ROOMS = [
    "common",
    "gpu",
    "data",
    "stores",
    "kernels",
    "metrics",
    "learning",
    "checks",
    "scale",
    "model",
    "model_selection",
    "mining",
    "baselines",
    "plots",
    "reading",
    "builders",
    "datasets",
    "recipes",
    "inputs",
    "evaluation",
    "experiments",  # former names
    "web",
    "paper",
    "demo",
    "cli",
]
FORBIDDEN = [
    ("gpu", "data", "a card's code knows arrays"),
    ("kernels", "data/bags", "kernels know no bags"),
    ("learning/objective", "data", "the objective knows no graphs"),
    ("learning/objective", "kernels", "the objective knows no kernels"),
    ("learning/solvers", "data", "solvers know no graphs"),
    ("learning/solvers", "kernels", "solvers know no kernels"),
    ("scale", "model", "scale knows what was learned, not the model"),
    ("baselines", "datasets", "models know no data sets"),
    ("web", "evaluation", "the page shows a model, it compares none"),
    ("demo", "paper", "only `cfmgml reproduce` needs what is the paper's"),
]


def read_arrows():
    """(importing module, imported module) for every import of ours, wherever it stands."""
    for file in ROOT.rglob("*.py"):
        parts = file.relative_to(ROOT).with_suffix("").parts
        if parts == ("__init__",):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cfmgml":
                names = ["/".join([*node.module.split(".")[1:], alias.name]) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [a.name.replace(".", "/")[7:] for a in node.names if a.name.startswith("cfmgml.")]
            for name in names:
                if not name.startswith("__"):
                    yield "/".join(parts), name


@functools.cache
def arrows():
    return list(read_arrows())


def room_of(module):
    return module.split("/")[0]


@functools.cache
def chain(room):
    """The longest way down from a room."""
    below = {room_of(to) for module, to in arrows() if room_of(module) == room} - {room}
    return [room, *max((chain(lower) for lower in below), key=len, default=[])]


def test_there_are_arrows():
    assert len(arrows()) > 500


def test_the_rooms_are_those_listed():
    rooms = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert rooms - {"__init__"} == set(ROOMS), "a new room, or one that is gone: mend the list and docs/architecture.md"


def test_no_arrow_points_backwards():
    level = {room: k for k, room in enumerate(ROOMS)}
    assert not [f"{m} -> {to}" for m, to in arrows() if level[room_of(m)] < level[room_of(to)]]


def test_the_longest_chain_of_rooms():
    longest = max((chain(room) for room in ROOMS), key=len)
    assert len(longest) <= 10, " -> ".join(longest)


def test_what_is_private_to_a_room_stays_there():
    wrong = [f"{m} -> {to}" for m, to in arrows() if room_of(m) != room_of(to) and "/_" in f"/{to}"]
    assert not wrong


@pytest.mark.parametrize(("room", "to", "why"), FORBIDDEN)
def test_rooms_that_do_not_know_each_other(room, to, why):
    assert any(f"{m}/".startswith(f"{room}/") for m, _ in arrows()), "there is no such room"
    assert not [m for m, n in arrows() if f"{m}/".startswith(f"{room}/") and f"{n}/".startswith(f"{to}/")], why


def test_only_the_command_knows_the_paper():
    """What only the paper needs is a room that nothing imports but `cfmgml reproduce`, and that only when it runs."""
    assert {m for m, to in arrows() if room_of(to) == "paper" and room_of(m) != "paper"} == {"cli/reproduce"}
    code = "import cfmgml.cli, sys; print([m for m in sys.modules if m.startswith('cfmgml.paper')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_module_hashes():
    users = [str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py") if "hashlib" in file.read_text()]
    assert users == ["common/digests.py"]


def test_import_is_light():
    """No heavy optional library comes in with `import cfmgml`, nor numba, which waits for its first use."""
    heavy = [
        "torch",
        "matplotlib",
        "skimage",
        "fastapi",
        "numba",
        "networkx",
        "grakel",
        "rich",
        "typer",
        "PIL",
        "rdkit",
    ]
    code = f"import cfmgml, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


COMPILED = {"gpu/fused.py:_tile"}  # a kernel of Triton, which is given pointers and numbers one by one


def private_functions():
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.startswith("__"):
                yield f"{file.relative_to(ROOT)}:{node.name}", node.args


def test_no_private_function_takes_more_than_eight():
    counts = {name: len(a.posonlyargs + a.args + a.kwonlyargs) for name, a in private_functions()}
    assert {name for name, count in counts.items() if count > 8} == COMPILED


def test_no_kind_of_input_is_compared_as_a_string():
    """Who wants to know a kind asks the builder; the registry alone compares names."""
    kinds = {"images", "texts", "digits", "melodies", "molecules"}
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Compare)
        for side in [node.left, *node.comparators]
        if isinstance(side, ast.Constant) and side.value in kinds
    ]
    assert wrong == ["builders/pictures/tasks.py:50"]  # the name of a parameter


def test_any_is_rare():
    words = sum(len(re.findall(r"\bAny\b", file.read_text())) for file in ROOT.rglob("*.py"))
    assert words <= 431, "half of what there was before types were said"
