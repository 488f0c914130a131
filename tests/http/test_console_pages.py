"""What a browser is told with pages, files, reports and downloads."""

from emulator.http.console_pages import download, page_file, report_page


def test_a_file_that_is_not_there_is_none():
    assert page_file("console/no_such.js") is None
    assert page_file("../api.py") is None


def test_a_report_is_in_a_sandbox_and_of_no_origin():
    response = report_page(b"<p>")
    assert "sandbox allow-scripts allow-downloads;" in response.field_lines
    assert "allow-same-origin" not in response.field_lines
    assert "connect-src" not in response.field_lines  # default-src 'none' forbids every request


def test_a_download_is_saved_and_never_shown():
    response = download("a.yaml", "application/json", b"{}")
    assert 'Content-Disposition: attachment; filename="a.yaml"' in response.field_lines
