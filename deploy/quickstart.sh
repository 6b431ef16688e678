#!/bin/sh
# From a fresh checkout to a printed distance: installs what is missing, builds, starts the daemon on
# a free port, uploads a generated graph, asks one distance.
set -eu

usage='usage: deploy/quickstart.sh [--keep]
  --keep  leave the daemon running, with its state in ./apspd-state'

keep=no
for argument; do
    case $argument in
    --keep) keep=yes ;;
    --help)
        echo "$usage"
        exit 0
        ;;
    *)
        echo "$usage" >&2
        exit 2
        ;;
    esac
done

cd "$(dirname "$0")/.."
. deploy/toolchain.sh
sh deploy/setup.sh --build
# A compiler newer than ours may warn of more: that is for the tests' builds, not for a first try.
[ -f build/build.ninja ] || configure build -Dwerror=false
compile build apspd apsp

scratch=$(mktemp -d)
state=$scratch/state
log=$scratch/log
if [ $keep = yes ]; then
    state=apspd-state
    log=apspd-state/log
    mkdir -p apspd-state
fi
daemon=
leave() {
    code=$?
    trap - EXIT
    if [ -n "$daemon" ]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait "$daemon" || true
    fi
    if [ $code -ne 0 ] && [ -s "$log" ]; then
        echo 'quickstart: the end of the log of the daemon:' >&2
        tail -n 20 "$log" >&2
    fi
    rm -rf "$scratch"
    exit $code
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

# The line with the address comes once requests are answered; the end of the pipe, when the daemon
# left without it.
mkfifo "$scratch/output"
build/apspd --listen 127.0.0.1:0 --state-dir "$state" >"$scratch/output" 2>"$log" &
daemon=$!
exec 3<"$scratch/output"
url=
while [ -z "$url" ] && read -r line <&3; do
    case $line in
    'listening on http://'*) url=${line#listening on } ;;
    esac
done
if [ -z "$url" ]; then
    echo 'quickstart: the daemon did not start' >&2
    exit 1
fi
echo "apspd answers at $url"

# member NAME: the first string member of that name in the JSON on standard input.
member() {
    tr ',{}' '\n\n\n' | sed -n 's/^ *"'"$1"'": *"\([^"]*\)".*/\1/p' | head -n 1
}
ask() {
    curl --silent --show-error --fail-with-body "$@"
}

build/apsp generate --shape road --n 500 --seed 1 "$scratch/example.gr"
job=$(ask --header 'Prefer: wait=30' --data-binary "@$scratch/example.gr" "$url/v1/jobs") || {
    echo "quickstart: the upload was refused: $job" >&2
    exit 1
}
id=$(printf '%s\n' "$job" | member id)
while :; do
    case $(printf '%s\n' "$job" | member state) in
    queued | running) job=$(ask "$url/v1/jobs/$id?wait=30") ;;
    *) break ;;
    esac
done
printf '%s\n' "$job"
distance=$(ask --header 'Accept: text/plain' "$url/v1/graphs/$id/distance?source=1&target=500")

if [ $keep = yes ]; then
    echo "apspd stays at $url, state and log in ./apspd-state; kill $daemon stops it"
    daemon=
else
    kill -TERM "$daemon"
    wait "$daemon"
    daemon=
fi
echo "distance from 1 to 500: $distance"
