#!/bin/sh
# Runs after the installation and after an upgrade. deb: "configure [old version]";
# rpm: number of installed versions.
set -e

if ! getent group dateline >/dev/null; then
	groupadd --system dateline
fi
if ! getent passwd dateline >/dev/null; then
	useradd --system --gid dateline --home-dir /var/lib/dateline --no-create-home --shell /usr/sbin/nologin --comment Dateline dateline
fi
install -d -o dateline -g dateline -m 0700 /var/lib/dateline
chgrp dateline /etc/dateline/dateline.env # it may contain secrets

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ "$1" = configure ] && [ -n "$2" ] || [ "$1" = 2 ]; then
		systemctl try-restart dateline.service
	else
		systemctl enable --now dateline.service
	fi
fi
