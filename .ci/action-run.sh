#!/bin/bash
# The main step of action.yml: runs one command and keeps its exit code, so that a comment can be
# posted before the step fails. Inputs come by the environment only.
set -uo pipefail
read -r -a options <<< "${ARGUMENTS:-}"
case "$COMMAND" in
  check) dynamometer check "$TARGET" --format github ${options[@]+"${options[@]}"} ;;
  lab) dynamometer lab "$TARGET" --no-html ${options[@]+"${options[@]}"} ;;
  diff)
    if [ -n "${BASE:-}" ] && ! git cat-file -e "$BASE^{commit}" 2> /dev/null; then
      git fetch --quiet --depth=1 origin "$BASE"
    fi
    dynamometer diff --base "${BASE:-HEAD^}" "$TARGET" --tag "${TAG:-default}" --format markdown \
      --output "${RUNNER_TEMP:-/tmp}/dynamometer-comment" ${options[@]+"${options[@]}"}
    ;;
  *) echo "::error::command is check, lab or diff, not $COMMAND"; (exit 2) ;;
esac
echo "exit-code=$?" >> "$GITHUB_OUTPUT"
