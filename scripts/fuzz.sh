#!/usr/bin/env bash
# Runs every fuzz test in turn for the time given.
set -euo pipefail
time=${1:-30s}
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
	grep -oE '^func Fuzz\w+' "$file" | sed 's/^func //' | while read -r name; do
		echo "== $name ($(dirname "$file"))"
		go test "$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x
	done
done
