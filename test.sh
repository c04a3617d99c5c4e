#!/usr/bin/env bash
# Everything that has to hold, in one command: format, lints, documentation, tests (licences among them). With `--all`,
# matrices of which a part is usual are gone through as a whole, which takes long.
set -euo pipefail
cd "$(dirname "$0")"

case "${1:-}" in
    "") ;;
    --all) export TILLGREEN_TEST_ALL=1 TILLGREEN_EXPLORE=large ;;
    *) echo "usage: ./test.sh [--all]" >&2; exit 2 ;;
esac

# Real agents are fetched while the rest is built, once, into a folder outside the tree if there is one.
if [ -z "${TILLGREEN_TEST_CACHE:-}" ]; then
    if [ -n "${HOME:-}" ] && [ -w "$HOME" ]; then cache="$HOME/.cache"; else cache="${CARGO_TARGET_DIR:-$PWD/target}"; fi
    export TILLGREEN_TEST_CACHE="$cache/tillgreen-agents"
fi
crates/testkit/install-agents.sh &
agents=$!

# Sandboxes lie in memory where there is enough of it: what a test makes durable does not wait for a disk.
if [ -z "${TMPDIR:-}" ] && free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) && [ "${free:-0}" -gt 6000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/tillgreen-tests-XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi

step() { printf '\n== %s\n' "$*"; }

# Also what only other systems need: the licences of all are looked at.
step "dependencies";  cargo fetch --locked --quiet
step "format";        cargo fmt --all --check
step "lints";         cargo clippy --workspace --all-targets --locked -- -D warnings
step "documentation"; RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
step "agents";        wait "$agents" || echo "no real agents: their tests are skipped, or fail in CI"
# Random cases are the same everywhere, so that a red run is red for everybody; PROPTEST_RNG_SEED=N tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20260126}"
step "tests";         cargo test --workspace --locked
