#!/bin/sh
# Runs after the removal. The data in /var/lib/dateline and the user that owns it stay,
# also after `apt purge`: posts are never deleted as a side effect.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
