#!/bin/bash
# The first step of action.yml: an environment of its own, so that the job's Python stays as it is.
set -euo pipefail
"$PYTHON" -m venv "$RUNNER_TEMP/dynamometer"
python="$RUNNER_TEMP/dynamometer/bin/python"
[ -e "$python" ] || python="$RUNNER_TEMP/dynamometer/Scripts/python" # on Windows
"$python" -m pip install --quiet --disable-pip-version-check "${GITHUB_ACTION_PATH}[${EXTRA:-lab}]"
