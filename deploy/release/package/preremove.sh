#!/bin/sh
# Runs before the removal. deb: "remove" or "upgrade"; rpm: number of versions that stay.
set -e

if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now dateline.service
fi
