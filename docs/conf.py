"""How `make docs` turns these pages, the docstrings and examples/ into the site; nothing is fetched."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

project = "cfmgml"
author = "The cfmgml developers"
copyright = author
release = version = installed_version("cfmgml")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "accessible",
    "docstrings",
    "gallery_checks",
    "generated_tables",
    "mathml",
]
# No intersphinx: inventories of numpy, scipy and scikit-learn would have to be kept in the repository (and kept up to
# date) for links that readers rarely follow.

exclude_patterns = ["_ext", "gallery/**/*.ipynb", "gallery/**/*.md5", "gallery/**/*.zip", "gallery/**/*.py"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
nitpicky = False
suppress_warnings = ["myst.header"]  # tables made by commands are parts of pages: they begin with small headings

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.ExampleOrder",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "image_srcset": [],
    "show_signature": False,
    "reset_modules": ("matplotlib", "gallery_checks.time_example"),
    "reset_modules_order": "both",
    "write_computation_times": False,
    "backreferences_dir": None,
    "remove_config_comments": True,
    "capture_repr": (),  # what a script prints is shown; what a drawing function returns is not
}

html_theme = "pydata_sphinx_theme"
html_title = "cfmgml"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which browsers refuse where pages are files
html_theme_options = {
    "logo": {"text": "cfmgml"},
    "show_prev_next": False,
    "header_links_before_dropdown": 9,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_as_you_type": True,
}
html_sidebars = {page: [] for page in ("index", "start", "changelog", "method", "performance", "scale")}
