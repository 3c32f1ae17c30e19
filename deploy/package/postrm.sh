#!/bin/sh
# Takes away the ClickHouse library, which the package did not bring but its script
# fetched. The data stays, also when the package is purged: it is all that the service
# has ever accepted.
#
# Debian calls it with "remove" and "purge", Red Hat with the number of versions that stay.
set -e

case "$1" in
remove | purge | 0) ;;
*) exit 0 ;;
esac
root=${DPKG_ROOT:-}
rm -rf "$root"/usr/lib/errata/libchdb-*
rmdir "$root/usr/lib/errata" 2>/dev/null || true
if [ -d "$root/run/systemd/system" ]; then
	systemctl daemon-reload || true
fi
if [ -e "$root/var/lib/errata" ]; then
	echo "errata: the data stays in /var/lib/errata, with its keys"
fi
