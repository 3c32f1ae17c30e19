#!/bin/sh
# Runs a test binary with its temporary files below $ERRATA_TEST_MEMORY, as `go test -exec`.
# On a disk the engines' fsync takes up to half of the processor time of a package. In
# the packages that are about disks, where TMPDIR is set, and where that folder cannot be
# made, is small or may hold no programs, temporary files stay where they are.
case $PWD in
*/datadir | */engine | */logfiles | */watchdog | */test/crash | */test/gate) exec "$@" ;;
esac

# In KiB, 0 where nobody can tell.
free() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 {n = $4} END {print n + 0}'; }
available() { awk '$1 == "MemAvailable:" {n = $2} END {print n + 0}' /proc/meminfo 2>/dev/null || echo 0; }

dir=$ERRATA_TEST_MEMORY
if [ -n "$dir" ] && [ -z "$TMPDIR" ] && mkdir -p "$dir" 2>/dev/null &&
	[ "$(free "$dir")" -gt $((4 << 20)) ] && [ "$(available)" -gt $((8 << 20)) ] &&
	cp /bin/true "$dir/true.$$" && "$dir/true.$$" 2>/dev/null; then
	export TMPDIR="$dir"
fi
[ -z "$dir" ] || rm -f "$dir/true.$$"
exec "$@"
