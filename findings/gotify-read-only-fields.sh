#!/usr/bin/env bash
# Gotify: POST /message refuses a body with an unrelated text in the fields id or appid, which its API calls read-only.
#
# Guess: a JSON body with "message" and fields that the server does not need is accepted, as webhooks send them; "read only" in
# its API description means that a client's value is ignored.
#
# Seen (Gotify 2.9.1): unknown fields are ignored, and so is the id 7; but the whole message is refused with 400 and "json:
# cannot unmarshal string into Go struct field MessageExternal.id of type uint" if the id is a text such as a UUID, because the
# body is read into the type of its answers. One body for Gotify and other receivers must not have these names.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
source=$(go mod download -json github.com/gotify/server/v2@v2.9.1 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
cp -r "$source" "$dir/source" && chmod -R u+w "$dir/source"
mkdir -p "$dir/source/ui/build/static" # the module has no dashboard to embed
touch "$dir/source/ui/build/index.html" "$dir/source/ui/build/manifest.json" "$dir/source/ui/build/static/none"
(cd "$dir/source" && CGO_ENABLED=1 go build -o "$dir/gotify" .) # SQLite needs a C compiler
echo "Gotify 2.9.1"

port=18932
mkdir "$dir/run"
(cd "$dir/run" && exec env GOTIFY_SERVER_LISTENADDR=127.0.0.1 GOTIFY_SERVER_PORT=$port "$dir/gotify" >"$dir/log" 2>&1) &
server=$!
for ((i = 0; i < 100; i++)); do
	! curl -sf "http://127.0.0.1:$port/version" >/dev/null || break
	sleep .1
done
account=admin # and password, of a new server
token=$(curl -sf -u "$account:$account" -H "Content-Type: application/json" "http://127.0.0.1:$port/application" -d '{"name":"test"}' |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])')
post() {
	curl -s -o "$dir/answer" -w '%{http_code}' -H "Authorization: Bearer $token" -H "Content-Type: application/json" \
		"http://127.0.0.1:$port/message" -d "$1"
}
other=$(post '{"message": "Hello", "text": "Hello", "events": []}')
number=$(post '{"message": "Hello", "id": 7}')
text=$(post '{"message": "Hello", "id": "01a222af-5c96-72a5-908b-6859fbb7caa0"}')
echo "other fields: $other, id 7: $number, id as text: $text $(cat "$dir/answer")"
[ "$other $number $text" = "200 200 400" ] || { echo "changed"; exit 1; }
