"""Filings of companies in the United States: what their covers say, and the reports that questions name by a period.

A cover becomes metadata of its document when the PDF reader reads it: ``company``, ``form``, ``period`` and
``fiscal_period``. `ragstone.engine.by_report` limits a question to the reports that it names. A knowledge base without
such metadata has no reports, so no setting switches this off. Nothing else in Ragstone knows forms or filings.
"""

from ragstone.filings.choice import companies_named, of_kind, of_period
from ragstone.filings.cover import Cover, cover_of
from ragstone.filings.named import NamedReport, named_report

__all__ = ["Cover", "NamedReport", "companies_named", "cover_of", "named_report", "of_kind", "of_period"]
