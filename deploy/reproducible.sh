#!/bin/sh
# Builds the last commit twice, in two folders with caches of their own, and
# compares the programs byte by byte. Ends with 1 when they differ. It does not
# build uncommitted changes.
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
		GOCACHE="$work/$place/cache" make --no-print-directory build VERSION="$version"
	)
done
cd "$work"
for program in errata errata-engine; do
	cmp "first/errata/bin/$program" "a/longer/path/to/second/errata/bin/$program"
	sha256sum "first/errata/bin/$program" | sed 's| first/errata/bin/| |'
done
echo "both builds are the same, byte by byte"
