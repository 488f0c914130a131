#!/bin/bash
# The main step of action.yml: runs one command and keeps its exit code, so that a comment can be
# posted before the step fails. Inputs come by the environment only.
set -uo pipefail
PATH="$RUNNER_TEMP/dynamometer/bin:$RUNNER_TEMP/dynamometer/Scripts:$PATH"
read -r -a options <<< "${ARGUMENTS:-}"
comment="$RUNNER_TEMP/dynamometer-comment"
rm -f "$comment" # of a diff before this one in the same job

has() { git cat-file -e "$1^{commit}" 2> /dev/null; }

case "$COMMAND" in
  check) dynamometer check "$TARGET" --format github ${options[@]+"${options[@]}"} ;;
  lab) dynamometer lab "$TARGET" --no-html ${options[@]+"${options[@]}"} ;;
  diff) # a checkout has one commit only, unless it was asked for more
    if [ -n "${BASE:-}" ]; then
      has "$BASE" || git fetch --quiet --depth=1 origin "$BASE"
    else
      has HEAD^ || git fetch --quiet --deepen=1 origin
    fi
    dynamometer diff --base "${BASE:-HEAD^}" "$TARGET" --tag "${TAG:-default}" --format markdown \
      --output "$comment" ${options[@]+"${options[@]}"}
    ;;
  *) echo "::error::command is check, lab, diff or serve, not $COMMAND"; (exit 2) ;;
esac
echo "exit-code=$?" >> "$GITHUB_OUTPUT"
