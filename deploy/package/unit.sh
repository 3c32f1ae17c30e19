#!/bin/sh
# Prints the unit as packages install it: deploy/errata.service with /usr in the place of
# /usr/local, which belongs to those who install by hand.
set -eu
sed 's|/usr/local/|/usr/|g' "$(dirname "$0")/../errata.service"
