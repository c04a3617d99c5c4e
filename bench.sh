#!/usr/bin/env bash
# What the program costs, as ratios measured in one run: engine, parser, whole runs. `./bench.sh --full` runs every
# task of every plan, which takes long.
set -euo pipefail
cd "$(dirname "$0")"
cargo bench --locked -p plan --bench parse
cargo bench --locked -p engine --bench transitions
cargo bench --locked -p tillgreen --bench run -- "$@"
