"""The report of runs: report.html and summary.json from what the stages left in their folders."""

from .page import write_report
from .read import ReportError

__all__ = ["ReportError", "write_report"]
