#!/usr/bin/env bash
# Does what the README says on a fresh machine: a Debian root with Go, git, make and pip, and nothing else. Runs as root.
# Prints how long each step took, and the processor time from the clone to the start; publishes a post, kills everything
# with -9, starts again and compares the counts, and runs the tests. DEBIAN: folder of an existing root; MIRROR: of
# Debian; TESTS=no leaves the tests out.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${DEBIAN:-$(mktemp -d)}
root=$(realpath "$root")
# processes prints the ids of what runs in the root: also engines, which have process groups of their own.
# find fails when one ends meanwhile.
processes() { find /proc -maxdepth 2 -name root -lname "$root" 2>/dev/null | cut -d/ -f3 || true; }
killed() {
	while pids=$(processes) && [ -n "$pids" ]; do
		xargs -r kill -9 <<<"$pids" 2>/dev/null || true
		sleep .1
	done
}
# A bind mount that cannot be undone would make rm delete the devices of this machine.
cleanup() {
	killed
	for mounted in proc dev; do
		! mountpoint -q "$root/$mounted" || umount "$root/$mounted" || umount -l "$root/$mounted"
	done
	[ -n "${DEBIAN:-}" ] || rm -rf --one-file-system "$root" "$root.log"
}
trap cleanup EXIT
step() { printf '%-60s %6.1f s\n' "$1" "$(bc <<<"$(date +%s.%N) - $started")"; started=$(date +%s.%N); }
started=$(date +%s.%N)

if [ ! -x "$root/usr/bin/make" ]; then
	debootstrap --variant=minbase --include=ca-certificates,git,make,procps,python3,python3-pip stable "$root" ${MIRROR:+"$MIRROR"} >"$root.log" 2>&1 ||
		{ tail "$root.log"; exit 1; }
	step "Debian"
fi
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
# What a run before this one left in DEBIAN.
rm -rf "$root/usr/local/go" "$root/src" "$root/root" "$root/var/cache/dateline" "$root/var/lib/dateline"
cp -a "$(go env GOROOT)" "$root/usr/local/go"
git clone -q . "$root/src"
# Proxies, mirrors and certificates of this machine, and its downloaded modules.
mkdir -p "$root/root/go/pkg"
modules=$(go env GOMODCACHE)
cp -al "$modules" "$root/root/go/pkg/mod" 2>/dev/null || { rm -rf "$root/root/go/pkg/mod" && cp -a "$modules" "$root/root/go/pkg/mod"; }
settings=(HOME=/root PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin LANG=C.UTF-8
	"GOPROXY=$(go env GOPROXY)" "GONOSUMDB=$(go env GONOSUMDB)" "GOFLAGS=-buildvcs=false" "GOSUMDB=$(go env GOSUMDB)")
while IFS= read -r name; do
	settings+=("$name=${!name}")
done < <(compgen -e | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|PIP_.*|SSL_CERT_.*|REQUESTS_CA_BUNDLE)$' || true)
for file in /etc/ssl/certs/ca-certificates.crt /etc/pip.conf; do
	[ ! -e "$file" ] || cp -L "$file" "$root$file"
done
inside() { chroot "$root" env -i "${settings[@]}" bash -c "cd /src && $1"; }
step "Go, the checkout and downloaded modules"

# up starts the program and waits for its last line.
up() {
	: >"$root/tmp/up.log"
	setsid chroot "$root" env -i "${settings[@]}" bash -c "cd /src && echo \$\$ >/tmp/up.pid && exec make run >/tmp/up.log 2>&1" &
	for ((i = 0; i < 12000; i++)); do
		if grep -q '^Stop with' "$root/tmp/up.log"; then
			# Another port than 8080 if that is taken on this machine.
			host=$(sed -nE 's|^ *API +(http://[^ ]*)/api/v1 .*|\1|p' "$root/tmp/up.log")
			return
		fi
		kill -0 $! 2>/dev/null || break
		sleep .1
	done
	tail -30 "$root/tmp/up.log"
	exit 1
}
# cpu prints the processor time of what runs in the root and of its children that ended.
cpu() {
	local total=0 pid stat
	for pid in $(processes); do
		read -r -a stat < <(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) || continue
		total=$((total + stat[11] + stat[12] + stat[13] + stat[14]))
	done
	bc <<<"scale=1; $total / $(getconf CLK_TCK)"
}
up
step "make run: compile, fetch engines, start"
echo "processor time of that: $(cpu) s"
grep -E 'fetch|download' "$root/tmp/up.log" || true
token=$(grep -o 'dl_[A-Za-z0-9_-]*' "$root/tmp/up.log" | head -1)
api() { inside "python3 scripts/bare_test.py $host $token $*"; }
api publish
step "first post"
api read
before=$(api counts)
killed
started=$(date +%s.%N)
up
step "make run again after kill -9"
after=$(api counts)
echo "counts before: $before, after: $after"
[ "$before" = "$after" ] || { echo "The counts differ."; exit 1; }
kill -TERM -- "-$(cat "$root/tmp/up.pid")"
wait || true
[ -z "$(processes)" ] || { echo "Stopping left processes:"; ps -o pid,args -p "$(processes | paste -sd,)"; exit 1; }
started=$(date +%s.%N)
[ "${TESTS:-yes}" = no ] || { inside "make test"; step "make test"; }
