"""Sphinx's settings for the manual: ``make docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE / "_ext")]

import perceptrons  # noqa: E402

project = "perceptrons"
author = copyright = "the perceptrons developers"
version = release = perceptrons.__version__
language = "en"

extensions = [
    "also_called",  # docs/_ext, as the next four
    "lectures",
    "mathml",
    "pages",
    "reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_ext",
    "_static",
    "_templates",
    "gallery/*.md",
    "sg_execution_times.rst",
    "gallery/sg_execution_times.rst",
]
templates_path = []

# ------------------------------------------------------------------------------------------ pages in Markdown

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

# -------------------------------------------------------------------------------------------------- reference

autosummary_generate = False  # docs/_ext/reference.py writes the pages
autodoc_typehints = "none"  # types are in the docstrings
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# ---------------------------------------------------------------------------------------------------- gallery

RUNS_GALLERY = os.environ.get("PERCEPTRONS_GALLERY", "1") != "0"
"""0: pages without pictures, for a quick look while one writes."""

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!plot_)",
    "download_all_examples": False,
    "min_reported_time": 1e9,  # times mean nothing to a reader
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": False,
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": "",
    "plot_gallery": RUNS_GALLERY,
}
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings cannot be pickled
if not RUNS_GALLERY:
    suppress_warnings.append("image.not_readable")

# ------------------------------------------------------------------------------------------------------- HTML

html_math_renderer = "mathml"  # docs/_ext/mathml.py
html_theme = "pydata_sphinx_theme"
html_title = f"perceptrons {version}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_search_scorer = str(HERE / "_ext/scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {name: [] for name in ("genindex", "glossary", "index", "search")}

GUIDE = sorted(f"guide/{page.stem}" for page in HERE.glob("guide/*.md") if page.stem != "speed_tables")
"""Pages of two screens, which need no list of their sections beside them."""

html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in GUIDE},
    "show_prev_next": False,
}
