#!/bin/sh
# Builds the project and runs its tests: only the plain build, or with --all the sanitizer builds too.
# The last line is the total over all builds: "N passed, N failed, N skipped".
set -eu

usage='usage: deploy/test.sh [--all]
  --all  also build and test with sanitizers, as continuous integration does'

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

# Only one run at a time in a tree: two runs would write to the same log, and each would count the results
# of the other.
if [ "${APSPD_TEST_ALONE:-no}" = no ]; then
    mkdir -p build-tmp
    code=0
    APSPD_TEST_ALONE=yes flock --nonblock --close --conflict-exit-code 75 build-tmp/lock \
        sh deploy/test.sh "$@" || code=$?
    [ $code -ne 75 ] || echo 'deploy/test.sh: another run is active in this tree' >&2
    exit $code
fi
unset APSPD_TEST_ALONE

. deploy/toolchain.sh
sh deploy/setup.sh --test
# Prefer the system's Python, for which NumPy and SciPy have just been installed.
PATH=/usr/bin:$PATH

# ../shared/data is an optional folder of real graphs. Tests that need it are skipped if it is missing.
if [ -z "${APSPD_TEST_DATA:-}" ] && [ -d ../shared/data ]; then
    APSPD_TEST_DATA=$(cd ../shared/data && pwd)
    export APSPD_TEST_DATA
fi

# Compilers and tests put temporary files next to the builds, because a job that cleans /tmp while a
# compiler runs would make the build fail.
TMPDIR=$PWD/build-tmp
mkdir -p "$TMPDIR"
export TMPDIR

# Every finding of a sanitizer makes the test fail. detect_stack_use_after_return stays off because with it
# gcc 12 misaligns the vectors that the kernels keep on the stack. The quarantine of freed memory is 16 MiB:
# with the default of 256 MiB the reader tests spend half of their time waiting for fresh pages.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
# With the default linker, linking some 200 programs takes a third of the build time; gold, which is part of
# the same package, takes half as long.
if command -v ld.gold >/dev/null; then
    export CC_LD="${CC_LD:-gold}"
fi
# The sanitizers' shadow memory needs addresses that address randomisation of some kernels already uses,
# so randomisation is turned off.
steady=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    steady="setarch $(uname -m) -R"
fi

passed=0
failed=0
skipped=0
# Failures, which are repeated just above the last line.
failures=

# note_failure WORD...
note_failure() {
    echo "== $*"
    failures="$failures$*
"
}

# run_logged LOG COMMAND...: runs the command, keeps a copy of its output in the log, and returns its status.
run_logged() {
    log=$1
    shift
    rm -f "$log.status"
    { code=0; "$@" || code=$?; echo $code >"$log.status"; } 2>&1 | tee "$log"
    return "$(cat "$log.status" || echo 1)"
}

# note_no_results FOLDER: counts a build or test run without results as one failure, and repeats the errors of
# its output with the other failures.
note_no_results() {
    log=$TMPDIR/$1.log
    note_failure "$1: does not build, or its tests did not run"
    failures="$failures$({ grep -A 20 -E 'error:|ERROR:|FAILED:' "$log" || tail "$log"; } | head -n 60)
"
    failed=$((failed + 1))
}

# build FOLDER OPTION...: configures and compiles.
build() {
    if ! run_logged "$TMPDIR/$1.log" configure "$@" || ! run_logged "$TMPDIR/$1.log" compile "$1"; then
        note_no_results "$1"
        return 1
    fi
}

# count FOLDER WORD...: prints how many tests of the last run have one of these results.
count() {
    log=$1/meson-logs/testlog.json
    shift
    sum=0
    for word; do
        sum=$((sum + $(grep -c "\"result\": \"$word\"" "$log" || true)))
    done
    echo $sum
}

# list_failed FOLDER: prints the names of the tests that failed in the last run, one per line.
list_failed() {
    grep -E '"result": "(FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS)"' \
        "$1/meson-logs/testlog.json" | sed 's/^{"name": "\([^"]*\)".*/\1/' | tr ' ' '_'
}

# run_tests FOLDER: three tests run per processor, since many tests mostly wait for a daemon. Meson builds
# what the tests need, which is less than everything if $left_out names suites.
run_tests() {
    $wrapper meson test -C "$1" --print-errorlogs $left_out \
        --num-processes $((3 * $(nproc))) --timeout-multiplier "$patience"
}

# check FOLDER OPTION...: builds and tests.
check() {
    folder=$1
    echo "== $*"
    rm -f "$folder/meson-logs/testlog.json"
    began=$(date +%s)
    if [ -z "$left_out" ]; then
        build "$@" || return 0
    else
        run_logged "$TMPDIR/$folder.log" configure "$@" || {
            note_no_results "$folder"
            return 0
        }
    fi
    outcome=0
    run_logged "$TMPDIR/$folder.log" run_tests "$folder" || outcome=$?
    echo "== $folder: $(($(date +%s) - began)) s"
    if [ ! -f "$folder/meson-logs/testlog.json" ]; then
        note_no_results "$folder"
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
    # Build only the commands, as users of clusters do.
    build build-commands -Ddaemon=disabled -Dcuda=disabled -Dwerror=true -Doptimization=0 -Ddebug=false || true
    wrapper=$steady
    patience=4
    # Tests of documents, pages and clients are left out because they do not depend on the build. The
    # optimization level is 1 because the sanitizers' checks dominate the run time: a higher level would
    # compile for longer than it saves. Line numbers are all that a sanitizer's report needs of the debug
    # information; without the rest, compiling and linking take a quarter less time.
    left_out='--no-suite tidy --no-suite elsewhere'
    common='-Dcuda=disabled -Doptimization=1 -Ddebug=false -Dc_args=-g1 -Db_lundef=false'
    # shellcheck disable=SC2086 # $common is several options
    check build-asan $common -Db_sanitize=address,undefined
    # Tests with one thread, or one request at a time, are left out: they cannot race.
    left_out="$left_out --no-suite single"
    # shellcheck disable=SC2086
    check build-tsan $common -Db_sanitize=thread
fi

printf '%s' "$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
