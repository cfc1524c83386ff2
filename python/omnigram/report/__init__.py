"""The report of a run: report.html and summary.json from what the stages left in its folder."""

from .page import write_report
from .read import ReportError

__all__ = ["ReportError", "write_report"]
