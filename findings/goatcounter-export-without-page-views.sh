#!/usr/bin/env bash
# GoatCounter: the export of a new site is an empty file, and one of a site without sessions has the session "0-0".
#
# Guess: the CSV export (POST /api/v0/export) of a site that shows visitors has their page views, or at least the header with
# the format's version; and "Session" is empty where the site collects no sessions.
#
# Seen (GoatCounter 2.7.0): since 2.6 single page views are stored only after "Individual pageviews" is turned on. Until then
# the statistics show visitors, the export is reported as finished with 0 rows, and its file has no byte behind gzip, not even
# the header, because the CSV writer is flushed with the first rows. Without sessions every row has the session "0-0", the
# number 0 of 128 bits: a reader that groups rows by session gets one visit for all of them. (PATCH /api/v0/sites/ID can turn
# on what a site collects, but not off: flags are added.)
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
source=$(go mod download -json zgo.at/goatcounter/v2@v2.7.0 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
(cd "$source" && CGO_ENABLED=1 GOFLAGS=-mod=readonly go build -o "$dir/goatcounter" ./cmd/goatcounter) # SQLite needs a C compiler
echo "GoatCounter 2.7.0"

port=18931
# export_of FLAGS prints the export of a site that collects what the flags say (settings.go: CollectReferrer and so on).
export_of() {
	local db=$dir/$1.sqlite3 token
	"$dir/goatcounter" db create site -createdb -db "sqlite+$db" -vhost stats.example -user.email a@news.example \
		-user.password "correct horse battery" >"$dir/log" 2>&1
	"$dir/goatcounter" db create apitoken -db "sqlite+$db" -user 1 -perm count,export -name test >"$dir/log" 2>&1
	token=$(python3 - "$db" "$1" <<'PY'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
settings = json.loads(db.execute("select settings from sites").fetchone()[0])
db.execute("update sites set settings = ?", [json.dumps({**settings, "collect": int(sys.argv[2])})])
db.commit()
print(db.execute("select token from api_tokens").fetchone()[0])
PY
	)
	TMPDIR=$dir "$dir/goatcounter" serve -db "sqlite+$db" -listen "127.0.0.1:$port" -tls http -store-every 1 >"$dir/log" 2>&1 &
	server=$!
	ask() { curl -sf -H "Host: stats.example" -H "Authorization: Bearer $token" -H "Content-Type: application/json" "$@"; }
	for ((i = 0; i < 100; i++)); do
		! ask "http://127.0.0.1:$port/api/v0/me" >/dev/null 2>&1 || break
		sleep .1
	done
	ask -X POST "http://127.0.0.1:$port/api/v0/count" -d '{"hits": [
		{"path": "/a", "session": "1", "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		{"path": "/b", "session": "2", "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}]}' >/dev/null
	sleep 4
	python3 -c 'import sqlite3, sys; assert sqlite3.connect(sys.argv[1]).execute("select sum(total) from hit_counts").fetchone()[0] == 2' "$db"
	ask -X POST "http://127.0.0.1:$port/api/v0/export" -d '{}' >/dev/null
	sleep 3
	ask "http://127.0.0.1:$port/api/v0/export/1/download" | gunzip
	kill "$server"
	wait "$server" 2>/dev/null || true
}

fresh=$(export_of 190 | wc -c)      # what a new site collects
anonymous=$(export_of 318 | cut -d, -f7) # page views, no sessions
echo "export of a new site: $fresh bytes"
echo "sessions of a site without sessions:" $anonymous
[ "$fresh" = 0 ] && [ "$(sed 1d <<<"$anonymous" | sort -u)" = 0-0 ] || { echo "changed"; exit 1; }
