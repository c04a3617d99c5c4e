#!/usr/bin/env bash
# Everything that has to hold, in one command: format, lints, documentation, tests (licences among them).
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

step "format";        cargo fmt --all --check
step "lints";         cargo clippy --workspace --all-targets --locked -- -D warnings
step "documentation"; RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
step "tests";         cargo test --workspace --locked
