#!/bin/sh
# Runs after the files of the package are there. A first installation starts nothing,
# because the ClickHouse library is still missing. An update restarts the service only
# if it runs, and only if it could start again.
#
# Debian calls it with "configure" and the version before, Red Hat with the number of
# versions that are installed. DPKG_ROOT is the folder of another system, usually empty.
set -e

case "$1" in
configure) update=${2:+yes} ;;
1) update= ;;
[2-9]*) update=yes ;;
*) exit 0 ;;
esac

root=${DPKG_ROOT:-}
lib=/usr/lib/errata
fetch="ERRATA_CACHE=$lib sh $lib/fetch-libchdb.sh"

# Servers elsewhere, ingest nodes and a library of one's own need nothing from here.
ready() {
	grep -Eqs '^[[:space:]]*ERRATA_(CLICKHOUSE_DSN|NATS_LEAF|LIBCHDB)=.' "$root/etc/errata/errata.env" ||
		ERRATA_CACHE=$root$lib sh "$root$lib/fetch-libchdb.sh" -n >/dev/null 2>&1
}

if [ -d "$root/run/systemd/system" ]; then
	systemctl daemon-reload || true
	if [ -n "$update" ] && systemctl is-active --quiet errata.service; then
		if ready; then
			systemctl try-restart errata.service || true
		else
			echo "errata: the version before still runs, because this one needs another ClickHouse library. As root:"
			echo "    $fetch && systemctl restart errata"
		fi
	fi
fi

[ -z "$update" ] || exit 0
echo "errata is installed and not started."
ready || {
	echo "It needs the ClickHouse library, 178 MB, once, or ERRATA_CLICKHOUSE_DSN in /etc/errata/errata.env. As root:"
	echo "    $fetch"
}
echo "To start it: systemctl enable --now errata"
