#!/usr/bin/env bash
# Runs the fuzzers, each for so many seconds: ./fuzz.sh SECONDS [TARGET…]. It begins with the seeds and with what was
# found before; a corpus grows in the target folder, and what fails is put there and named at the end.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: ./fuzz.sh SECONDS [TARGET…]" >&2
    exit 2
fi
shift

missing() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 1; }
command -v cargo >/dev/null || missing "there is no cargo" "install Rust from https://rustup.rs"
{ command -v "${CXX:-c++}" || command -v g++ || command -v clang++; } >/dev/null \
    || missing "the fuzzer needs a C++ compiler" "install one, for example with apt-get install g++"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls fuzz/seeds)
for target in "${targets[@]}"; do
    [ -d "fuzz/seeds/$target" ] || missing "there is no target $target" "there are: $(ls fuzz/seeds | xargs)"
done

work="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
# The compiler counts what is reached. With a target named, build scripts are left as they are. What is compared is not
# told: that is slower by half, and the words of the seeds are a better guess.
flags=(--cfg fuzzing -Cpasses=sancov-module)
for argument in level=3 inline-8bit-counters pc-table; do
    flags+=("-Cllvm-args=-sanitizer-coverage-$argument")
done
RUSTFLAGS="${flags[*]}" CARGO_INCREMENTAL=0 cargo build --release --locked \
    --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$work/build" \
    || missing "the fuzzers cannot be built" "what the compiler says above; they are built from crates.io once"
program="$work/build/$host/release/fuzz"

# What other folders hold that a target can begin with; recordings and plans beside the project are read where they are.
beside() {
    case $1 in
        tasks) echo ../shared/corpus/tasks ;;
        phases) echo ../shared/corpus/plans ;;
        foreign | imports) echo ../shared/corpus/foreign ;;
        events) echo crates/engine/tests/fixtures ;;
        streams) echo ../shared/agents/streams ;;
        claims | outputs) echo crates/engine/tests/fixtures/output ;;
    esac
}

failed=()
for target in "${targets[@]}"; do
    folder="$work/$target"
    mkdir -p "$folder/corpus" "$folder/failed"
    inputs=("$folder/corpus" "fuzz/seeds/$target")
    for more in "fuzz/found/$target" "$(beside "$target")"; do
        if [ -n "$more" ] && [ -d "$more" ]; then inputs+=("$more"); fi
    done
    # The words of what it begins with are worth trying elsewhere.
    find "${inputs[@]:1}" -type f -size -64k -exec cat {} + | tr -cs 'A-Za-z_:/.*[]<>-' '\n' | grep -aE '^.{3,30}$' \
        | sort | uniq -c | sort -rn | sed -n '1,1000s/^ *[0-9]* \(.*\)/"\1"/p' >"$folder/words"
    printf '\n== %s, %s s\n' "$target" "$seconds"
    if ! FUZZ_TARGET=$target "$program" -max_total_time="$seconds" -max_len=2048 -timeout=20 -rss_limit_mb=2048 \
        -dict="$folder/words" -artifact_prefix="$folder/failed/" -print_final_stats=1 -verbosity=0 \
        "${inputs[@]}" >"$folder/log" 2>&1; then
        failed+=("$target")
        tail -n 40 "$folder/log"
    fi
    sed -n 's/^stat::number_of_executed_units: */executions: /p' "$folder/log"
done
if [ ${#failed[@]} -gt 0 ]; then
    printf '\nfailed: %s; what failed is in %s/TARGET/failed\n' "${failed[*]}" "$work" >&2
    echo "hint: put it into fuzz/found/TARGET, and cargo test -p tillgreen --test it fuzzed shows it" >&2
    exit 1
fi
