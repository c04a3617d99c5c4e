#!/bin/sh
# Everything about runs on many machines: the house rules, and the programs over a real server. It needs protoc, and the
# server that install-temporal.sh fetches; without the server those tests are left out, and say so.
set -eu
cd "$(dirname "$0")"
(cd .. && cargo build --quiet --locked -p tillgreen)
target=${CARGO_TARGET_DIR:-../target}
TILLGREEN_PROGRAM=${TILLGREEN_PROGRAM:-$(cd "$target" && pwd)/debug/tillgreen}
export TILLGREEN_PROGRAM
cargo fmt --check
cargo clippy --quiet --locked --all-targets -- -D warnings
cargo test --quiet --locked -- --test-threads 1
