"""Reports: a comparison as a page, as pictures, and as text for a terminal."""

from emulator.lab.report.charts import Chart
from emulator.lab.report.html import html_page
from emulator.lab.report.side_by_side import charts
from emulator.lab.report.svg import standalone
from emulator.lab.report.text import print_report, text_report

__all__ = ["Chart", "charts", "html_page", "print_report", "standalone", "text_report"]
