"""Says which modules of the package the tests only imported, from the coverage they left behind.

    make test COVER="--cov --cov-report=" && .venv/bin/python tests/reached.py

A module is reached when a line inside one of its functions has run. Lines that numba or Triton compile are not seen by
coverage and do not count; neither do modules that run in processes of their own.
"""

import ast
import sys
from pathlib import Path

from coverage import Coverage, CoverageData

SOURCE = Path(__file__).resolve().parents[1] / "src" / "cfmgml"
ELSEWHERE = {
    "cli/__main__.py": "python -m cfmgml.cli, started by tests as a process",
    "gpu/fused.py": "on a card, or in a process with Triton's interpreter",
}


def lines_of_functions(tree: ast.AST) -> set[int]:
    """The lines of all statements that run when a function is called."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_compiled(node):
            for statement in node.body:
                is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if not is_text:  # a docstring, or an ellipsis
                    lines |= {inner.lineno for inner in ast.walk(statement) if isinstance(inner, ast.stmt)}
    return lines


def _is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(one).startswith(("compiled", "triton", "overload")) for one in function.decorator_list)


def unreached(data: CoverageData, source: Path = SOURCE) -> list[str]:
    """Modules with functions of which none was called."""
    missing = []
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        lines = lines_of_functions(ast.parse(path.read_text(encoding="utf-8")))
        if lines and name not in ELSEWHERE and not lines & set(data.lines(str(path)) or []):
            missing.append(name)
    return missing


if __name__ == "__main__":
    coverage = Coverage()
    coverage.load()
    kept = coverage.get_data()
    if not kept.measured_files():
        sys.exit("there is no coverage here: run the tests with COVER='--cov --cov-report=' first.")
    if missing := unreached(kept):
        sys.exit(f"no function of these modules was run: {', '.join(missing)}. Give each a quick test.")
    print("Every module was run.")
