"""Measurements as one HTML page that carries everything it needs: it can be mailed, archived, and read offline."""

from ragstone.serve.report.learning import forecast_page
from ragstone.serve.report.pages import comparison_page, evaluation_page, sweep_page

__all__ = ["comparison_page", "evaluation_page", "forecast_page", "sweep_page"]
