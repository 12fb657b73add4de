"""Measurements as one self-contained HTML page: it can be mailed, archived and read offline."""

from ragstone.serve.report.pages import comparison_page, evaluation_page, sweep_page

__all__ = ["comparison_page", "evaluation_page", "sweep_page"]
