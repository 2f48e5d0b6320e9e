#!/bin/sh
# Writes .env from .env.example, with a random secret for every empty value.
# A value that .env already has is never changed: on a second run only what is
# new in .env.example, or still empty in .env, is added at the end (the last
# line for a name wins). Give another directory as the first argument.
set -eu

cd "${1:-$(dirname "$0")/..}"
umask 077

secret() {
	od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

fresh=$(mktemp .env.XXXXXX)
trap 'rm -f "$fresh"' EXIT

existing=no
if [ -e .env ]; then
	existing=yes
fi

added=
while IFS= read -r line || [ -n "$line" ]; do
	case $line in
	'' | '#'*)
		if [ "$existing" = no ]; then
			printf '%s\n' "$line" >>"$fresh"
		fi
		continue
		;;
	esac
	name=${line%%=*}
	value=${line#*=}
	if [ "$existing" = yes ] && grep -q "^$name=." .env; then
		continue
	fi
	printf '%s=%s\n' "$name" "${value:-$(secret)}" >>"$fresh"
	added="$added $name"
done <.env.example

if [ "$existing" = no ]; then
	# noclobber: a file that appears meanwhile is not overwritten either.
	set -C
	cat "$fresh" >.env
	echo "Wrote .env with new secrets. Keep it: the data volumes are bound to them."
elif [ -n "$added" ]; then
	# The last line may lack its newline.
	if [ -n "$(tail -c 1 .env)" ]; then
		echo >>.env
	fi
	cat "$fresh" >>.env
	echo "Kept .env and added:$added"
else
	echo "Kept .env: nothing is missing."
fi
chmod 600 .env
