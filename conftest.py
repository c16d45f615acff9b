"""What pytest must not open: modules of an optional library that is not installed (in CI it must be)."""

import importlib.util
import os

collect_ignore = []
if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
    collect_ignore += ["src/cfmgml/baselines/_gin_network.py", "src/cfmgml/baselines/gin_attention.py"]
if importlib.util.find_spec("triton") is None and not os.environ.get("CI"):  # comes with torch for a card
    collect_ignore += ["src/cfmgml/gpu/fused.py"]
