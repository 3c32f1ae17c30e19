#!/bin/sh
# Stops the service before the package is removed. Before an update it does nothing: the
# service runs on, and the script of the new version restarts it.
#
# Debian calls it with "remove", Red Hat with the number of versions that stay.
set -e

case "$1" in
remove | deconfigure | 0) ;;
*) exit 0 ;;
esac
if [ -d "${DPKG_ROOT:-}/run/systemd/system" ]; then
	systemctl --no-reload disable --now errata.service || true
fi
