"""Model files: whole, of any version, or refused; nothing in them is ever run."""

import ast
import hashlib
import importlib.util
import io
import json
import pathlib
import signal
import zipfile

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, NodeSum, WeisfeilerLehman
from cfmgml.common.files import header_digest, read_header, save_arrays
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels import SAVED_KERNELS

RUNS_CODE = ("pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"


@pytest.fixture(scope="module")
def fuzz():
    """The script that does ten thousand of these."""
    spec = importlib.util.spec_from_file_location("fuzz", ROOT / "benchmarks" / "fuzz_model_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    bags = load_digit_bags(n_bags=8)
    path = tmp_path_factory.mktemp("model") / "m.cfmgml"
    CfMGML(NodeSum(), alpha=1e-3, n_rounds=1, max_iter=5, probability=True).fit(bags).save(path)
    return path, bags


def rewrite(path, new, change=None, members=()):
    """The file again with its header changed, and with other members; the digest is made right."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    header = json.loads(parts["header.json"])
    if change is not None:
        change(header)
    header["digest"] = header_digest(header)
    parts |= {"header.json": json.dumps(header).encode(), **dict(members)}
    with zipfile.ZipFile(new, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return new


@pytest.fixture
def no_hang():
    def hang(*_):
        raise TimeoutError("a mutated file hangs")

    before = signal.signal(signal.SIGALRM, hang)
    yield
    signal.signal(signal.SIGALRM, before)


def test_some_hundred_mutated_files(fuzz, tmp_path, no_hang):
    counts = fuzz.run(400, seed=1, folder=tmp_path, kinds=("bytes", "content"))
    outcomes = [name for found in counts.values() for name in found]
    assert not [name for name in outcomes if name.startswith("fault")]
    assert counts["bytes"]["refused"] > 150
    assert counts["content"]["refused"] > 50
    assert counts["content"]["loads and predicts"] > 10  # the mutations are not all too coarse to get in


@pytest.mark.slow
def test_some_hundred_files_of_huge_numbers(fuzz, tmp_path, no_hang):
    counts = fuzz.run(180, seed=1, folder=tmp_path, kinds=("counts", "weights", "bombs"))
    assert not [name for found in counts.values() for name in found if name.startswith("fault")]
    for kind in counts:
        assert counts[kind]["refused"] > 20
        assert counts[kind]["loads and predicts"] > 5


def test_a_file_has_all_that_raw_input_needs(saved):
    path, bags = saved
    header = read_header(path)
    meta = header["meta"]
    assert meta["info"]["builder"] == "digits"
    assert meta["kernel"]["class"] == "NodeSum"
    assert meta["fingerprint"] == bags.fingerprint()
    assert {"cfmgml", "python", "numpy", "scipy", "sklearn"} <= set(meta["versions"])
    assert header["version"] == 2
    assert header["written_by"].startswith("cfmgml ")
    assert CfMGML.load(path).label_names_.tolist() == list("0123456789")


def test_files_of_version_1_load(saved, tmp_path):
    """They had no digest of the header, and did not say who wrote them."""
    path, bags = saved

    def downgrade(header):
        header["version"] = 1
        del header["written_by"]

    old = rewrite(path, tmp_path / "old.cfmgml", downgrade)
    with zipfile.ZipFile(old) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts["header.json"])
    del header["digest"]
    with zipfile.ZipFile(old, "w") as archive:
        for name, data in (parts | {"header.json": json.dumps(header).encode()}).items():
            archive.writestr(name, data)
    expected = CfMGML.load(path).decision_function(bags)
    np.testing.assert_array_equal(CfMGML.load(old).decision_function(bags), expected)


def test_files_of_newer_versions_say_what_to_install(saved, tmp_path):
    def upgrade(header):
        header.update(version=3, written_by="cfmgml 7.1")

    with pytest.raises(ValueError, match=r"version 3, written by cfmgml 7.1; this is cfmgml .*: install cfmgml 7.1 or"):
        CfMGML.load(rewrite(saved[0], tmp_path / "new.cfmgml", upgrade))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version="2"), "its version, '2', is none"),
        (lambda h: h.update(version=0), "its version, 0, is none"),
        (lambda h: h["meta"].pop("info"), "does not hold a whole CfMGML model (KeyError('info'))"),
        (lambda h: h["meta"].update(info=3), "info must be an object, got int"),
        (lambda h: h["meta"].update(scorer="Evil"), "does not hold a whole CfMGML model (KeyError('Evil'))"),
        (lambda h: h["meta"]["kernel"].update({"class": "os.system"}), "the file's kernel cannot be read"),
        (lambda h: h["meta"]["kernel"]["settled"].update(gamma_=-1.0), "does not hold a whole CfMGML model"),
        (lambda h: h["meta"]["kernel"]["settled"].update(tile=3), "settled attribute 'tile'"),
        (lambda h: h["meta"]["params"].update(dtype="O"), "dtype must be float32 or float64"),
        (lambda h: h["meta"]["params"].update(wings=2), "wings"),
        (lambda h: h["meta"]["params"].update(rank=10**12), "rank must be below 2.14748e+09"),
        (lambda h: h["meta"]["params"].update(n_rounds=2**40), "n_rounds must be below 2.14748e+09"),
        (lambda h: h["meta"]["params"].update(alpha=-1), "alpha must be above 0"),
        (lambda h: h["meta"]["params"].update(thresholds={"0": 0.1}), "thresholds must be 0 or less"),
        (lambda h: h["meta"]["params"].update(thresholds=[0.0]), "thresholds must be 'zero', 'counts' or a mapping"),
        (lambda h: h["meta"]["kernel"]["settled"].update(n_attributes_=10**8), "n_attributes_ must be 10,000,000 or"),
        (lambda h: h["meta"]["kernel"]["settled"].update(gamma_=1e200), "gamma_ must be at most 1e+100 in size"),
        (lambda h: h["meta"]["kernel"]["params"].update(n_components=10**30), "n_components must be 9,223"),
        (lambda h: h["meta"].update(n_bags=-1), "n_bags must be 0 or more"),
        (lambda h: h["meta"].update(n_iter=10**400), "n_iter must be finite"),
    ],
)
def test_strange_content_with_right_hashes_is_refused(saved, tmp_path, change, message):
    with pytest.raises(ValueError) as error:
        CfMGML.load(rewrite(saved[0], tmp_path / "strange.cfmgml", change))
    assert message in str(error.value)


def test_a_changed_header_is_noticed(saved, tmp_path):
    with zipfile.ZipFile(saved[0]) as archive:
        header = archive.read("header.json")
    changed = header.replace(b'"alpha": 0.001', b'"alpha": 0.002')
    assert changed != header
    path = tmp_path / "changed.cfmgml"
    rewrite(saved[0], path, members={"header.json": changed})
    with pytest.raises(ValueError, match="its header does not match its checksum"):
        CfMGML.load(path)


class Payload:
    """Runs code if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def test_a_pickle_inside_is_not_run(saved, tmp_path):
    import pickle  # to make what must never be read

    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    data = stream.getvalue() + pickle.dumps(np.array([Payload(tmp_path / "ran")], dtype=object))
    np.lib.format.read_array(io.BytesIO(data), allow_pickle=True)
    assert (tmp_path / "ran").exists()  # the payload works where pickles are read
    (tmp_path / "ran").unlink()

    def trust(header):
        header["sha256"]["intercept_"] = hashlib.sha256(data).hexdigest()

    evil = rewrite(saved[0], tmp_path / "evil.cfmgml", trust, {"intercept_.npy": data})
    with pytest.raises(ValueError, match="'intercept_' is not an array"):
        CfMGML.load(evil)
    assert not (tmp_path / "ran").exists()


def reads_code(node):
    """What in a piece of source could run something that a file brings along; None if nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        return next((name for name in names if name in RUNS_CODE), None)
    if not isinstance(node, ast.Call):
        return None
    given = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
    if given.get("allow_pickle", False) is not False or given.get("weights_only", True) is not True:
        return "allow_pickle or weights_only"
    if isinstance(node.func, ast.Name):
        return node.func.id if node.func.id in ("eval", "exec") else None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "load":
        owner = getattr(node.func.value, "id", "")
        needed = {"np": "allow_pickle", "numpy": "allow_pickle", "torch": "weights_only"}.get(owner)
        return f"{owner}.load" if owner in ("joblib", "yaml") or (needed and needed not in given) else None
    return None


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from dill import loads", "eval(text)", "np.load(path)", "np.load(path, allow_pickle=True)",
     "torch.load(path, weights_only=False)", "torch.load(path)", "joblib.load(path)"],
)  # fmt: skip
def test_the_search_finds(line):
    assert any(reads_code(node) for node in ast.walk(ast.parse(line)))


def test_no_way_to_run_code_from_a_file_in_the_source():
    """A search of the package: no pickle, no eval, and torch and numpy told to read data only."""
    files = list((ROOT / "src").rglob("*.py"))
    assert len(files) > 50
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {reads_code(node)}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if reads_code(node)
    ]
    # What this one unpickles comes from a process that it has started itself, by a pipe that nobody else holds.
    own_pipes = "src/cfmgml/common/processes.py:"
    assert {line.split()[1] for line in found if line.startswith(own_pipes)} == {"pickle", "cloudpickle"}
    assert not [line for line in found if not line.startswith(own_pipes)]


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def with_array(path, new, name, change):
    """The file again with one of its arrays changed, and every hash right."""
    with zipfile.ZipFile(path) as archive:
        data = npy(change(np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")))))

    def trust(header):
        header["sha256"][name] = hashlib.sha256(data).hexdigest()

    return rewrite(path, new, trust, {f"{name}.npy": data})


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.7e308, -1e101])
@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("nodes-rbf", "dual_coef"),
        ("nodes-rbf", "intercept_"),
        ("nodes-rbf", "kernel.centre_"),
        ("wl", "coef"),
        ("wl-tfidf", "kernel.idf_"),
        ("hopper-nystrom", "kernel.basis_"),
        ("precomputed", "kernel.K"),
        ("nodes-rank-probability", "calibration"),
    ],
)
def test_weights_that_make_no_finite_score_are_refused(tmp_path, model, name, value):
    def spoil(array):
        array.flat[-1] = value
        return array

    with pytest.raises(ValueError, match="finite"):
        CfMGML.load(with_array(FIXTURES / f"{model}.cfmgml", tmp_path / "m", name, spoil))


@pytest.mark.parametrize("value", [0.1, np.nan, -np.inf])
def test_thresholds_above_0_are_refused(saved, tmp_path, value):
    with pytest.raises(ValueError, match=r"thresholds_ must be (0 or less|finite)"):
        CfMGML.load(with_array(saved[0], tmp_path / "m", "thresholds_", lambda array: array + value))


def remembering(folder, kernel):
    """A file of a model that remembers rows of training graphs."""
    bags = BagDataset.load(FIXTURES / "new.bags")
    many = BagDataset.concatenate([bags] * (1 + 20 // bags.n_graphs))
    CfMGML(kernel, max_iter=2).fit(many, np.arange(2 * many.n_bags).reshape(-1, 2) % 3 == 0).save(folder / "seen")
    return folder / "seen"


@pytest.mark.parametrize(
    ("kernel", "name", "change"),
    [
        (NodeSum("linear"), "rows", lambda array: array[:, 1:]),
        (NodeSum("linear"), "rows", lambda array: np.repeat(array, 100, axis=0)),
        (NodeSum("linear"), "rows", lambda array: array * np.inf),
        (WeisfeilerLehman(1), "shape", lambda array: array + np.array([10**15, 0])),
        (WeisfeilerLehman(1), "shape", lambda array: array + np.array([0, 10**15])),
        (WeisfeilerLehman(1), "shape", lambda array: array + 0.5),
        (WeisfeilerLehman(1), "places", lambda array: array - 1),
        (WeisfeilerLehman(1), "places", lambda array: array + 10**6),
        (WeisfeilerLehman(1), "places", lambda array: array[:, 1:]),
        (WeisfeilerLehman(1), "values", lambda array: array * np.nan),
    ],
)
def test_rows_of_training_graphs_that_do_not_fit_are_refused(tmp_path, kernel, name, change):
    path = remembering(tmp_path, kernel)
    assert CfMGML.load(path).learned_.seen is not None
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="does not hold a whole CfMGML model"):
        CfMGML.load(with_array(path, tmp_path / "m", f"seen.{name}", change))


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        ("wl", lambda k: k["params"].update(n_iter=10**9), "n_iter must be 1,000 or less"),
        ("wl-hashed", lambda k: k["params"].update(n_bits=60), "n_bits must be 30 or less"),
        ("hopper-linear", lambda k: k["settled"].update(width_=10**6), "width_ must be at most the"),
        ("sum", lambda k: k["settled"]["kernels_"][1]["kernel"]["params"].update(n_iter=10**9), "n_iter must be 1,000"),
        ("sum", lambda k: k["params"].update(kernels=2000 * k["params"]["kernels"]), "more than 1,000"),
    ],
)
def test_counts_beyond_what_a_kernel_can_mean_are_refused(tmp_path, model, change, message):
    changed = rewrite(FIXTURES / f"{model}.cfmgml", tmp_path / "m", lambda header: change(header["meta"]["kernel"]))
    with pytest.raises(ValueError, match=message):
        CfMGML.load(changed)


def test_more_refinements_than_can_be_meant_are_refused_at_once():
    bags = BagDataset.load(FIXTURES / "new.bags")
    with pytest.raises(ValueError, match="n_iter must be below 1001"):
        CfMGML(WeisfeilerLehman(10**9)).fit(bags, np.eye(bags.n_bags, 2))


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.cfmgml")), ids=lambda path: path.stem)
def test_models_saved_before_load_and_score_as_they_did(path):
    """Written by 0.1.0 (minmax: by 0.2.0), one of every kind of kernel and scorer; the scores they gave these bags."""
    expected = json.loads((FIXTURES / "scores.json").read_text())[path.stem]
    scores = CfMGML.load(path).decision_function_graphs(BagDataset.load(FIXTURES / "new.bags"))
    np.testing.assert_allclose(scores, expected, atol=1e-7)


def test_there_is_an_old_model_of_every_kernel():
    assert {read_header(path)["meta"]["kernel"]["class"] for path in FIXTURES.glob("*.cfmgml")} == set(SAVED_KERNELS)


def test_too_large_to_unpack_is_refused(tmp_path, monkeypatch):
    save_arrays(tmp_path / "big", "CfMGML", {}, {"zeros": np.zeros(10**6)})
    monkeypatch.setattr("cfmgml.common.files.physical_gib", lambda: 1e-3)
    with pytest.raises(ValueError, match="too large: it unpacks to 0.0 GiB"):
        CfMGML.load(tmp_path / "big")
