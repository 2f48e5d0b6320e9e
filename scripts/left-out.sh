#!/usr/bin/env bash
# Lists the tests that `make test` left out because a program is not installed, and what brings them. With CI=true those
# tests fail instead.
set -euo pipefail
missing=()
need() { # PROGRAM WHAT PACKAGE
	command -v "$1" >/dev/null || missing+=("$2|apt-get install $3")
}
need chromium "pages as a browser shows them" chromium
need ffmpeg "videos of the media library" ffmpeg
need exiftool "locations in videos, read by ExifTool" libimage-exiftool-perl
need promtool "alerts and panels (also: make bench/alerts)" prometheus
need node "Bluesky's own server, an OpenID provider, the dashboard (also: make test-web)" "nodejs npm"
if ((${#missing[@]} == 0)); then
	echo "No tests were left out."
	exit
fi
echo
echo "Left out, because a program is not installed:"
for row in "${missing[@]}"; do
	printf '  %-78s %s\n' "${row%|*}" "${row#*|}"
done
