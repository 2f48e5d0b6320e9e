#!/usr/bin/env bash
# Builds a release twice and compares the checksums: in two folders with names of
# different lengths, from two clones, each with an empty build cache of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 targets=${2:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || { echo "VERSION must be set: make bench/reproducible VERSION=0.1.0"; exit 1; }

dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
tools=.tools
commit=$(git rev-parse HEAD) # of both, even if someone commits meanwhile
for clone in first the-second-one; do
	git clone -q . "$dir/$clone"
	git -C "$dir/$clone" checkout -q "$commit"
	# nfpm is pinned, and downloads must have the checksums in the code: neither has to be fetched twice.
	mkdir -p "$dir/$clone/.tools"
	find "$tools" -maxdepth 1 \( -name 'nfpm-*' -o -name postgres \) -exec cp -a {} "$dir/$clone/.tools/" \;
	tools="$dir/first/.tools"
	(
		cd "$dir/$clone"
		started=$SECONDS
		GOCACHE="$dir/$clone-cache" make --no-print-directory release VERSION="$version" TARGETS="$targets" >"$dir/$clone.log" 2>&1 ||
			{ cat "$dir/$clone.log"; exit 1; }
		echo "built in $((SECONDS - started)) s"
	)
done
for clone in first the-second-one; do
	cat "$dir/$clone/dist/$version/SHA256SUMS" >"$dir/$clone.sums"
done
cat "$dir/first.sums"
diff "$dir/first.sums" "$dir/the-second-one.sums" || { echo "The builds differ."; exit 1; }
echo "Both builds have the same checksums."
