"""What testcontainers-rs waits for, in Rust."""

import subprocess
from pathlib import Path

from tests.drop_in.conftest import required


def test_testcontainers_rs_waits_for_the_first_line(image, tmp_path):
    required("rustc")
    program = tmp_path / "started"
    source = Path(__file__).parent / "started.rs"
    subprocess.run(["rustc", "-D", "warnings", "-o", str(program), str(source)], check=True)
    done = subprocess.run(
        [str(program), *image.entry, *image.command, "-port", "0"],
        env=image.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, '{"TableNames":[]}\n'), done.stderr
