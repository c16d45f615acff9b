"""Change the code in one place at a time, and see whether a test notices: which do not, and the share that do.

    python benchmarks/mutation.py [objective lbfgs ...] [--again] [--out out/mutation]

The changes are cosmic-ray's (`pip install cosmic-ray` into an environment that has the project's `dev` extra) and, as
it leaves them alone, statements left out and the signs of ``+=`` and ``-=``. cosmic-ray's own runner starts Python for
each of them, 4 seconds before the first test; here one process imports everything and forks for each change, and the
child gives functions their changed code (or, for a change outside functions, imports cfmgml anew). No file is touched.
A child that takes too long, or too much memory, is killed, and its change counts as noticed. Results are written to
``<out>/<module>.jsonl``; ``--again`` tries only those that survived the last time. What survives is explained in
docs/testing.md.
"""

import argparse
import ast
import gc
import importlib
import inspect
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("numpy", "scipy.optimize", "scipy.sparse", "sklearn.metrics", "networkx", "numba", "hypothesis", "pytest")
MEMORY = 16 * 2**30  # of address space: numba and torch reserve much of it
SECONDS = 120  # for a change that is imported anew
CHANGED = "<changed>"


class Target(NamedTuple):
    """A module, the tests that have to notice, whether compiled loops run as plain Python (what is compiled would be
    compiled anew for every change, and reads outside an array in silence), and whether every change is imported anew
    (torch warns once in a process)."""

    path: str
    tests: list[str]
    plain_python: bool = False
    always_anew: bool = False

    @property
    def file(self) -> Path:
        return ROOT / "src/cfmgml" / self.path

    @property
    def module(self) -> str:
        return "cfmgml." + self.path.removesuffix(".py").replace("/", ".")


TARGETS = {
    "_segments": Target("common/segments.py", ["tests/common/test_segments.py", "src/cfmgml/common/segments.py"]),
    "metrics": Target("metrics.py", ["tests/test_metrics.py", "src/cfmgml/metrics.py"]),
    "annotation": Target(
        "learning/annotation.py", ["tests/learning/test_annotation.py", "src/cfmgml/learning/annotation.py"]
    ),
    "context": Target(
        "kernels/context.py", ["tests/kernels/test_context.py", "-k", "written_out_by_hand or both_ways or no_share"]
    ),
    "objective": Target(
        "learning/objective.py", ["tests/learning/test_objective.py", "-k", "not thousand"], plain_python=True
    ),
    "lbfgs": Target("learning/solvers/lbfgs.py", ["tests/learning/solvers/test_lbfgs.py"]),
    "cccp": Target("learning/solvers/cccp.py", ["tests/learning/solvers/test_problem.py"]),
    "paper": Target(
        "learning/solvers/paper.py",
        ["tests/learning/solvers/test_paper.py", "-k", "not theorem and not frozen and not served"],
    ),
    "on_device": Target("learning/solvers/on_device.py", ["tests/gpu/test_on_device.py"], always_anew=True),
}


class Mutant(NamedTuple):
    line: int
    column: int
    operator: str
    before: str  # the line as it is
    after: str  # and as it is changed
    in_function: bool
    code: str

    @property
    def name(self) -> tuple[str, str, int]:
        return self.operator, self.after, self.column


# -- changes -----------------------------------------------------------------------------------


ARITHMETIC = {"Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul", "FloorDiv": "Mul", "Pow": "Mul"}
BITS = {"BitAnd": "BitOr", "BitOr": "BitAnd"}
COMPARISONS = {  # moved by one case, and turned round
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",),
    "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt"),
}  # fmt: skip


def useful(operator: str) -> bool:
    """One change of an operator, two of a comparison; what needs arguments is left out."""
    kind, _, change = operator.removeprefix("core/").partition("_")
    old, _, new = change.partition("_")
    if kind == "ReplaceBinaryOperator":
        return new == {**ARITHMETIC, **BITS}.get(old)
    if kind == "ReplaceComparisonOperator":
        return new in COMPARISONS[old]
    return not kind.startswith("Variable")


def annotations(tree: ast.AST) -> list[ast.expr]:
    found = [getattr(node, part, None) for node in ast.walk(tree) for part in ("annotation", "returns")]
    return [node for node in found if isinstance(node, ast.expr)]


def cosmic_ray_mutants(source: str) -> Iterator[Mutant]:
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(source)
    for name in filter(useful, operator_names()):
        operator = get_operator(name)()
        places = [place for node in ast_nodes(tree) for place in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(places):
            yield make_mutant(source, mutate_code(source, operator, occurrence), name.removeprefix("core/"), *start)


def statement_mutants(source: str, tree: ast.AST) -> Iterator[Mutant]:
    lines = source.splitlines(keepends=True)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {node for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if node not in inside or text or not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise):
            continue
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        whole = "".join(lines[first:last])
        head = whole[: node.col_offset]
        changes = [("LeaveOut", f"{head}pass\n")]
        if isinstance(node, ast.AugAssign):
            for old, new in ((" += ", " -= "), (" -= ", " += "), (" += ", " = "), (" *= ", " = ")):
                if old in whole:
                    changes.append((f"Change{old}to{new}", whole.replace(old, new, 1)))
        for operator, changed in changes:
            code = "".join([*lines[:first], changed, *lines[last:]])
            yield make_mutant(source, code, operator, node.lineno, node.col_offset)


def make_mutant(source: str, code: str, operator: str, line: int, column: int) -> Mutant:
    before, after = source.splitlines(), code.splitlines()
    row = next((k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), line - 1)
    return Mutant(line, column, operator, before[row].strip(), after[row].strip(), False, code)


def mutants(source: str) -> list[Mutant]:
    """All changes but those to annotations, which mean nothing when the code runs."""
    tree = ast.parse(source)
    silent = [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in annotations(tree)]
    bodies = [(f.body[0].lineno, f.end_lineno) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    found = [*cosmic_ray_mutants(source), *statement_mutants(source, tree)]
    kept = [m for m in found if not any(a <= (m.line, m.column) < b for a, b in silent) and m.code != source]
    kept = [m._replace(in_function=any(a <= m.line <= b for a, b in bodies)) for m in kept]
    return sorted({m.code: m for m in kept}.values(), key=lambda m: m[:3])


# -- running -----------------------------------------------------------------------------------


class Served(SourceFileLoader):
    """Imports a module from changed code."""

    def __init__(self, module: str, path: Path, code: str) -> None:
        super().__init__(module, str(path))
        self.code = code

    def get_code(self, fullname: str) -> Any:
        return compile(self.code, self.path, "exec")

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        return spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None


def graft(old: Any, new: dict[str, Any]) -> None:
    """Give the functions of an imported module, and of its classes, the changed module's code."""
    for name, fresh in new.items():
        kept = vars(old).get(name)
        if isinstance(fresh, type) and fresh.__module__ == new.get("__name__", fresh.__module__):
            graft(kept, dict(vars(fresh)))
        kept, fresh = (getattr(f, "fget", None) or getattr(f, "func", None) or f for f in (kept, fresh))
        kept, fresh = (inspect.unwrap(getattr(f, "__func__", f)) for f in (kept, fresh))
        if isinstance(fresh, FunctionType) and fresh.__code__.co_filename == CHANGED:
            kept.__code__, kept.__defaults__ = fresh.__code__, fresh.__defaults__


def call_pytest(target: Target, *plugins: Any) -> int:
    import pytest

    return int(pytest.main(["-x", "-q", "-s", "--tb=no", "-p", "no:cacheprovider", *target.tests], plugins=plugins))


class Clock:
    """A plugin that notes how long each test takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


class InsteadOfTests:
    """A plugin that calls a function where pytest would run what it has collected."""

    def __init__(self, function: Callable[[Any], None]) -> None:
        self.function = function

    def pytest_runtestloop(self, session: Any) -> bool:
        self.function(session)
        return True


def run_collected(session: Any) -> int:
    """Until a test fails."""
    for item, after in zip(session.items, [*session.items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            return 1
    return 0


def be_brief() -> None:
    """Leave out the search for a smaller example of what failed."""
    from hypothesis.internal.conjecture.engine import ConjectureRunner

    ConjectureRunner.shrink_interesting_examples = lambda runner: None


def in_child(function: Callable[[], int], seconds: float = SECONDS) -> str:
    """``survived`` where the function gives 0 in a forked child, else ``noticed`` or ``timeout``."""
    child = os.fork()
    if not child:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            os._exit(function())
        finally:
            os._exit(99)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "noticed"
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def imported_anew(target: Target, mutant: Mutant) -> int:
    sys.meta_path.insert(0, Served(target.module, target.file, mutant.code))
    return call_pytest(target)


def grafted(target: Target, mutant: Mutant, session: Any) -> int:
    changed: dict[str, Any] = {"__name__": target.module}
    exec(compile(mutant.code, CHANGED, "exec"), changed)
    graft(sys.modules[target.module], changed)
    return run_collected(session)


def try_module(name: str, record: Path, again: bool) -> None:
    target, begun, rows = TARGETS[name], time.monotonic(), list[dict[str, Any]]()
    source = target.file.read_text()
    tried = [m._replace(in_function=m.in_function and not target.always_anew) for m in mutants(source)]
    if again:
        survived = [json.loads(line) for line in record.read_text().splitlines()]
        names = {(m["operator"], m["after"], m["column"]) for m in survived if m["outcome"] == "survived"}
        tried = [mutant for mutant in tried if mutant.name in names]

    def note(mutant: Mutant, outcome: str) -> None:
        rows.append({**mutant._asdict(), "outcome": outcome})
        del rows[-1]["code"]
        if outcome == "survived":
            tell(f"{target.path}:{mutant.line} {mutant.operator}\n  - {mutant.before}\n  + {mutant.after}")
        if len(rows) % 50 == 0:
            tell(f"# {name}: {len(rows)} of {len(tried)}, {time.monotonic() - begun:.0f} s")

    def try_functions(session: Any) -> None:
        session.items.sort(key=lambda item: clock.seconds.get(item.nodeid, 0.0))  # most changes are noticed by any test
        gc.freeze()
        assert in_child(lambda: grafted(target, unchanged, session)) == "survived", f"{name} fails in a child"
        limit = 10 + 5 * sum(clock.seconds.values())
        for mutant in tried:
            if mutant.in_function:
                note(mutant, in_child(lambda mutant=mutant: grafted(target, mutant, session), limit))

    unchanged = Mutant(0, 0, "", "", "", True, source)
    assert in_child(lambda: imported_anew(target, unchanged)) == "survived", f"{name} fails when imported in a child"
    for mutant in tried:
        if not mutant.in_function:
            note(mutant, in_child(lambda mutant=mutant: imported_anew(target, mutant)))
    clock = Clock()
    assert call_pytest(target, clock) == 0, f"the tests of {name} fail without a change"
    call_pytest(target, InsteadOfTests(try_functions))
    assert len(rows) == len(tried), f"{len(tried) - len(rows)} changes of {name} were not tried"
    n = sum(row["outcome"] != "survived" for row in rows)
    late = sum(row["outcome"] == "timeout" for row in rows)
    tell(f"# {name}: {n} of {len(rows)} noticed, {late} by taking too long; {time.monotonic() - begun:.0f} s")
    if not again:
        record.write_text("".join(json.dumps(row) + "\n" for row in rows))


def tell(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="module", help=f"of {', '.join(TARGETS)}; all if none is given")
    parser.add_argument("--again", action="store_true", help="only what survived the last time")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutation")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for name in options.modules or TARGETS:  # a process a module: numba reads its settings once
        child = os.fork()
        if not child:
            os.environ["NUMBA_DISABLE_JIT"] = str(int(TARGETS[name].plain_python))
            for library in LIBRARIES:
                importlib.import_module(library)
            be_brief()
            try_module(name, options.out / f"{name}.jsonl", options.again)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
