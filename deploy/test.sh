#!/bin/sh
# Builds the project and runs its tests: the plain build alone, or with --all under the sanitizers too.
# The last line is the sum over all builds: "N passed, N failed, N skipped".
set -eu

usage='usage: deploy/test.sh [--all]
  --all  also the builds with sanitizers, as continuous integration does'

all=no
for argument; do
    case $argument in
    --all) all=yes ;;
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

# One run in a tree at a time: two would write the same log, and each count what the other has there.
if [ "${APSPD_TEST_ALONE:-no}" = no ]; then
    mkdir -p build-tmp
    code=0
    APSPD_TEST_ALONE=yes flock --nonblock --close --conflict-exit-code 75 build-tmp/lock \
        sh deploy/test.sh "$@" || code=$?
    [ $code -ne 75 ] || echo 'deploy/test.sh: another run is at work in this tree' >&2
    exit $code
fi
unset APSPD_TEST_ALONE

. deploy/toolchain.sh
sh deploy/setup.sh --test
# The Python that has just been given NumPy and SciPy, ahead of any other.
PATH=/usr/bin:$PATH

# The optional folder of real graphs, ../shared/data, when there. Tests that need it are skipped
# without it.
if [ -z "${APSPD_TEST_DATA:-}" ] && [ -d ../shared/data ]; then
    APSPD_TEST_DATA=$(cd ../shared/data && pwd)
    export APSPD_TEST_DATA
fi

# Compilers and tests keep their short-lived files beside the builds: what clears /tmp from under a
# running compiler must not fail a build.
TMPDIR=$PWD/build-tmp
mkdir -p "$TMPDIR"
export TMPDIR

# A sanitizer's finding is a failure, whatever the program made of it. Not asked for is
# detect_stack_use_after_return: gcc 12 then misaligns the vectors that the kernels keep on the stack.
# What was freed stays unused for 16 MiB of further frees: with the usual 256 the tests of the readers wait
# for fresh pages half of their time.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
# A third of the time of a build went into linking some 200 programs; gold, which comes with the linker of
# the system, takes half as long.
if command -v ld.gold >/dev/null; then
    export CC_LD="${CC_LD:-gold}"
fi
# The sanitizers' shadow memory wants addresses that some kernels' randomisation does not leave free.
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi

passed=0
failed=0
skipped=0
# What failed, told again right above the last line.
failures=

# note_failure WORD...
note_failure() {
    echo "== $*"
    failures="$failures$*
"
}

# build FOLDER OPTION...: configures and compiles; a build that fails is one failure, and the end of
# what it printed is told again with the others.
build() {
    folder=$1
    log=$TMPDIR/$folder.log
    rm -f "$log.failed"
    { { configure "$@" && compile "$folder"; } || : >"$log.failed"; } 2>&1 | tee "$log"
    [ -f "$log.failed" ] || return 0
    note_failure "$folder: does not build"
    failures="$failures$({ grep -A 20 -E 'error:|ERROR:|FAILED:' "$log" || tail "$log"; } | head -n 60)
"
    failed=$((failed + 1))
    return 1
}

# count FOLDER WORD...: how many tests of the last run ended in one of the words.
count() {
    log=$1/meson-logs/testlog.json
    shift
    sum=0
    for word; do
        sum=$((sum + $(grep -c "\"result\": \"$word\"" "$log" || true)))
    done
    echo $sum
}

# list_failed FOLDER: the names of the tests of the last run that failed, a line each.
list_failed() {
    grep -E '"result": "(FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS)"' \
        "$1/meson-logs/testlog.json" | sed 's/^{"name": "\([^"]*\)".*/\1/' | tr ' ' '_'
}

# check FOLDER OPTION...: builds and tests. Many tests wait for a daemon: three run on each processor.
check() {
    folder=$1
    shift
    echo "== $folder $*"
    rm -f "$folder/meson-logs/testlog.json"
    began=$(date +%s)
    build "$folder" "$@" || return 0
    built=$(date +%s)
    outcome=0
    $wrapper meson test -C "$folder" --no-rebuild --print-errorlogs $left_out \
        --num-processes $((3 * $(nproc))) --timeout-multiplier "$patience" || outcome=$?
    echo "== $folder: built in $((built - began)) s, tested in $(($(date +%s) - built)) s"
    if [ ! -f "$folder/meson-logs/testlog.json" ]; then
        note_failure "$folder: the tests did not run (exit status $outcome)"
        failed=$((failed + 1))
        return
    fi
    bad=$(count "$folder" FAIL TIMEOUT ERROR INTERRUPT UNEXPECTEDPASS)
    if [ $outcome -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        note_failure "$folder: meson test ended with $outcome"
    fi
    for name in $(list_failed "$folder"); do
        note_failure "$folder: $name"
    done
    passed=$((passed + $(count "$folder" OK EXPECTEDFAIL)))
    failed=$((failed + bad))
    skipped=$((skipped + $(count "$folder" SKIP)))
}

wrapper=
patience=2
left_out=
check build -Dcuda=auto -Dwerror=true
if [ $all = yes ]; then
    # The commands alone, as users of clusters build them.
    build build-commands -Ddaemon=disabled -Dcuda=disabled -Dwerror=true || true
    wrapper=$steady
    patience=4
    # Documents, pages and clients are the same in every build. The checks of a sanitizer take most of the
    # time, so that optimising more takes longer than it saves.
    left_out='--no-suite tidy --no-suite elsewhere'
    check build-asan -Dcuda=disabled -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false
    # Tests with one thread, or one request at a time, are left out: they cannot race.
    left_out="$left_out --no-suite single"
    check build-tsan -Dcuda=disabled -Doptimization=1 -Db_sanitize=thread -Db_lundef=false
fi

printf '%s' "$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
