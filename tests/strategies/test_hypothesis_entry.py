"""What importing hypothesis costs where the package is installed."""

import subprocess
import sys


def test_importing_hypothesis_loads_the_model_and_nothing_else_of_ours():
    script = (
        "import sys, hypothesis; print(*sorted(m for m in sys.modules if m[:9] == 'emulator.'))"
    )
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    rooms = {name.split(".")[1] for name in loaded}
    assert rooms <= {"hypothesis_entry", "strategies", "model", "service"}
    strategies = {name for name in loaded if name.startswith("emulator.strategies.")}
    assert strategies <= {"emulator.strategies.table_schema"}
