#!/usr/bin/env bash
# Usage: scripts/under_load.sh RUNS [PYTEST ARGUMENTS]. Runs the suite again and again beside two busy
# processes, and fails if any run does: a test that depends on how threads meet is a defect.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=$1
shift

busy=()
trap 'kill "${busy[@]}" 2>/dev/null' EXIT
for _ in 1 2; do
    while :; do :; done &
    busy+=($!)
done

failed=0
for run in $(seq "$runs"); do
    log=$(mktemp)
    if make test PYTEST_ARGS="$*" >"$log" 2>&1; then
        echo "run $run of $runs: $(grep -E '[0-9]+ passed' "$log" | tr '\n' ' ')"
        rm "$log"
    else
        failed=$((failed + 1))
        echo "run $run of $runs failed, see $log:"
        grep -E '^(FAILED|ERROR) ' "$log" || tail -3 "$log"
    fi
done
echo "$failed of $runs runs failed"
[ "$failed" = 0 ]
