"""Configuration of the documentation build."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "directboost"
author = "The directboost developers"
version = release = installed_version("directboost")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docstrings",
    "mathml",
    "paper_map",
]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_default_options = {
    "members": True,
    # made by scikit-learn for metadata routing, with references into its own manual
    "exclude-members": "set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_predict_proba_request, set_decision_function_request, set_score_request",
}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["In the paper"]

html_theme = "furo"
html_title = f"directboost {release}"
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
