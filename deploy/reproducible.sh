#!/bin/sh
# Builds the last commit twice, in two folders, and compares what came out byte by byte.
# Ends with 1 when it differs. It does not build uncommitted changes.
#
#   reproducible.sh           the programs, with compile caches of their own
#   reproducible.sh release   the files of a release, with the machine's compile cache
set -eu

root=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT INT TERM

version=$(git -C "$root" describe --tags --always)
for place in first a/longer/path/to/second; do
	mkdir -p "$work/$place"
	git clone -q "$root" "$work/$place/errata"
	(
		cd "$work/$place/errata"
		case "${1:-programs}" in
		programs) GOCACHE="$work/$place/cache" make --no-print-directory build VERSION="$version" ;;
		# The second one has other rights for new files, and another time zone.
		release)
			[ "$place" = first ] || { umask 027; export TZ=Pacific/Auckland; }
			make --no-print-directory release-dry SIGN_KEY=
			;;
		*) echo "usage: reproducible.sh [release]" >&2 && exit 2 ;;
		esac
	)
done
cd "$work"
if [ "${1:-}" = release ]; then
	cmp first/errata/dist/checksums.txt a/longer/path/to/second/errata/dist/checksums.txt
	cat first/errata/dist/checksums.txt
else
	for program in errata errata-engine; do
		cmp "first/errata/bin/$program" "a/longer/path/to/second/errata/bin/$program"
		sha256sum "first/errata/bin/$program" | sed 's| first/errata/bin/| |'
	done
fi
echo "both builds are the same, byte by byte"
