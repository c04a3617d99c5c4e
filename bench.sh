#!/usr/bin/env bash
# What the program costs, as ratios measured in one run: parser, engine, reading of outputs, whole runs, failures. `./bench.sh --full`
# runs every task of every plan, which takes long.
set -euo pipefail
cd "$(dirname "$0")"
cargo bench --locked -p plan --bench parse
cargo bench --locked -p engine --bench transitions
cargo bench --locked -p engine --bench outputs
cargo bench --locked -p tillgreen --bench run -- "$@"
cargo bench --locked -p tillgreen --bench retries
cargo bench --locked -p tillgreen --bench streams
cargo bench --locked -p tillgreen --bench batches
cargo bench --locked -p tillgreen --bench builds
cargo bench --locked -p tillgreen --bench proof
