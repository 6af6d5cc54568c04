"""Sphinx's configuration of the Python package's pages: one per function, from its help text."""

import upsweep

project = "upsweep"
release = version = upsweep.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "myst_parser"]
autodoc_typehints = "none"
default_role = "code"  # `x` in help texts
html_title = f"upsweep {release}"
html_copy_source = False
