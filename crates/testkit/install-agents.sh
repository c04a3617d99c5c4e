#!/usr/bin/env bash
# Puts the real agents of the end-to-end tests into a cache outside the tree, each in a folder named after its
# version. What is there already is left alone. An agent that cannot be had is only reported: the tests decide
# what that means.
set -euo pipefail
cd "$(dirname "$0")"

cache="${TILLGREEN_TEST_CACHE:-${HOME:?names the folder for the cache, unless TILLGREEN_TEST_CACHE does}/.cache/tillgreen-agents}"
time_max=600

install_agent() {
    local name="$1" version="$2" package="$3" program="$4"
    local folder="$cache/$name-$version"
    [ -e "$folder/$program" ] && return 0
    local scratch
    scratch="$(mktemp -d "$cache/.$name-$version.XXXXXX")"
    # No scripts of packages are run, and nothing but the folder is written to.
    if timeout "$time_max" npm install --prefix "$scratch/agent" --cache "$scratch/npm" --ignore-scripts --omit=optional \
        --no-audit --no-fund --no-update-notifier --no-package-lock --loglevel=error "$package" >"$scratch/log" 2>&1 &&
        [ -e "$scratch/agent/$program" ]; then
        # Somebody else may have been faster; what is there then is as good.
        mv -T "$scratch/agent" "$folder" 2>/dev/null || [ -e "$folder/$program" ] || echo "cannot put $name into $folder"
    else
        echo "cannot install $package:"
        tail -n 5 "$scratch/log"
    fi
    rm -rf "$scratch"
}

mkdir -p "$cache"
while read -r name version package program; do
    case "$name" in '' | '#'*) continue ;; esac
    install_agent "$name" "$version" "$package" "$program" </dev/null &
done <agents.txt
wait
