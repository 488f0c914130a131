"""Reports: a comparison as a page, as pictures, and as text for a terminal."""

from emulator.lab.report.charts import Chart, charts
from emulator.lab.report.html import html_page

__all__ = ["Chart", "charts", "html_page"]
