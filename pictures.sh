#!/usr/bin/env bash
# Makes the pictures in docs/pictures anew, from a real run in a real browser (Chromium and chromedriver).
set -euo pipefail
cd "$(dirname "$0")"
cargo build --locked -p tillgreen --example pictures --bin tillgreen
target="${CARGO_TARGET_DIR:-target}/debug"
"$target/examples/pictures" "$(realpath "$target/tillgreen")" docs/pictures
