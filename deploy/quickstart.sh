#!/bin/sh
# Takes a fresh checkout to a printed distance: installs missing packages, builds, starts the daemon on a
# free port (with --keep on the default port), uploads a generated graph and queries one distance. Each
# step prints one line; the output of the tools goes to a file.
set -eu

usage='usage: deploy/quickstart.sh [--keep]
  --keep  leave the daemon running on 127.0.0.1:8080, with its state in ./apspd-state'

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

# The output of installing and building goes to this log in the build folder.
mkdir -p build
told=build/quickstart.log
: >"$told"
started=$(date +%s)
scratch=$(mktemp -d)
state=$scratch/state
log=$scratch/log
listen=127.0.0.1:0
if [ $keep = yes ]; then
    state=apspd-state
    log=apspd-state/log
    listen=127.0.0.1:8080
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
        echo "quickstart: the last lines of the daemon's log:" >&2
        tail -n 20 "$log" >&2
    elif [ $code -ne 0 ]; then
        echo "quickstart: the last lines of $told:" >&2
        tail -n 20 "$told" >&2
    fi
    rm -rf "$scratch"
    exit $code
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

step() {
    echo "[$1/4] $2"
}

step 1 'Checking for the packages that the build needs, and installing those that are missing'
sh deploy/setup.sh --build >>"$told" 2>&1
step 2 'Building apspd and apsp (a few minutes the first time)'
# A newer compiler may print warnings that ours does not. The tests treat warnings as errors; a first try
# should not fail because of them.
[ -f build/build.ninja ] || configure build -Dwerror=false >>"$told" 2>&1
compile build apspd apsp >>"$told" 2>&1
step 3 'Starting the service'

# The daemon prints its address once it accepts requests. If it exits before that, the pipe ends and the
# loop stops.
mkfifo "$scratch/output"
build/apspd --listen $listen --state-dir "$state" >"$scratch/output" 2>"$log" &
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

# member NAME: prints the first string member with this name in the JSON on standard input.
member() {
    tr ',{}' '\n\n\n' | sed -n 's/^ *"'"$1"'": *"\([^"]*\)".*/\1/p' | head -n 1
}
ask() {
    curl --silent --show-error --fail-with-body "$@"
}

build/apsp generate --shape road --n 500 --seed 1 "$scratch/example.gr" >>"$told" 2>&1
step 4 'Solving an example: a road network of 500 crossings'
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
printf '%s\n' "$job" >>"$told"
[ "$(printf '%s\n' "$job" | member state)" = done ] || {
    echo "quickstart: the example was not solved: $job" >&2
    exit 1
}
distance=$(ask --header 'Accept: text/plain' "$url/v1/graphs/$id/distance?source=1&target=500")

echo
echo "The shortest path from vertex 1 to vertex 500 has length $distance."
echo "All 250,000 distances are known; this took $(($(date +%s) - started)) s from the start."
echo
if [ $keep = yes ]; then
    echo "The service runs at $url (open it in a browser), with its state and"
    echo "its log in ./apspd-state. Stop it with: kill $daemon"
    daemon=
else
    kill -TERM "$daemon"
    wait "$daemon"
    daemon=
    echo 'The service has been stopped and its state removed.'
fi
echo
echo 'Next:'
[ $keep = yes ] || echo '  sh deploy/quickstart.sh --keep   do the same, and leave the service running'
echo '  README.md, "A tour"              solve your own graph, step by step'
echo '  docs/operations.md               run it as a service: systemd, containers, keys, monitoring'
echo "The output of installing and building is in $told."
