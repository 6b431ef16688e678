#!/bin/sh
# Builds the portable bundle: one tarball with the programs and all shared libraries that they need except
# the C library. It runs on any x86-64 Linux with glibc 2.36 or newer, without installation.
set -eu

usage='usage: deploy/bundle.sh [--test] [--stage-only] [--cuda WHEN] [--sign KEY]
  --test        also put the GPU tests and the benchmarks into libexec/
  --stage-only  stop before the tarball, with the tree in build-bundle/stage/opt/apspd
  --cuda WHEN   build the GPU solver: auto (if nvcc is found; the default), enabled, disabled
  --sign KEY    sign the checksums with this GPG key'

glibc_limit=2.36
prefix=/opt/apspd

with_tests=no
stage_only=no
cuda=auto
key=
while [ $# -gt 0 ]; do
    case $1 in
    --cuda)
        [ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
        cuda=$2
        shift
        ;;
    --sign)
        [ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
        key=$2
        shift
        ;;
    --test) with_tests=yes ;;
    --stage-only) stage_only=yes ;;
    --help)
        echo "$usage"
        exit 0
        ;;
    *)
        echo "$usage" >&2
        exit 2
        ;;
    esac
    shift
done

cd "$(dirname "$0")/.."
. deploy/toolchain.sh
sh deploy/setup.sh --build
root=$(pwd)
build=build-bundle
stage=$root/$build/stage
tree=$stage$prefix

fail() {
    echo "bundle: $*" >&2
    exit 1
}

# An old-style RPATH, unlike the newer RUNPATH, is also searched for the libraries that the libraries
# themselves need, so they need no patching.
if [ $with_tests = yes ]; then
    tests=enabled
    bench=true
else
    tests=disabled
    bench=false
fi
# The tests treat warnings as errors; here a warning of a different compiler must not stop a packager.
configure $build --prefix=$prefix --buildtype=release -Dwerror=false -Db_pie=true \
    -Dtests=$tests -Dbench=$bench -Dcuda="$cuda" -Dmpi=disabled -Dclient=enabled \
    "-Dc_args=-march=x86-64 -ffile-prefix-map=$root=." \
    '-Dc_link_args=-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib'
compile $build

rm -rf "$stage"
DESTDIR=$stage meson install -C $build --no-rebuild --strip --quiet

if [ $with_tests = yes ]; then
    mkdir "$tree/libexec"
    for program in $build/tests/solver/test_solver_gpu $build/tests/solver/test_limits_gpu \
        $build/tests/solver/test_peer_cases $build/tests/bench/*; do
        if [ -f "$program" ] && [ -x "$program" ]; then
            cp "$program" "$tree/libexec/"
        fi
    done
fi
programs=$(find "$tree/bin" "$tree/libexec" -type f -perm -u+x 2>/dev/null || true)

# Copy every library that the loader would load, except those of the C library, which must come from the
# host together with its loader.
needed=$(for program in $programs; do ldd "$program"; done |
    sed -n 's/^[[:space:]]*\([^ ]*\) => \([^ ]*\) .*/\1 \2/p' | sort -u)
mkdir -p "$tree/lib" "$tree/share/licences"
printf '%s\n' "$needed" | while read -r name path; do
    case $name in
    ld-linux* | linux-vdso* | libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | \
        libresolv.so.* | '')
        continue
        ;;
    esac
    [ "$path" != not ] || fail "$name is not found"
    cp -L "$path" "$tree/lib/$name"
    chmod 755 "$tree/lib/$name"
    package=$(dpkg-query --search "$(readlink -f "$path")" "$path" 2>/dev/null |
        sed -n '1s/:.*//p') || true
    [ -n "$package" ] || fail "no package owns $path: its licence is not known"
    cp -L "/usr/share/doc/$package/copyright" "$tree/share/licences/$package"
done
cp LICENSE "$tree/share/licences/apspd"
cp deploy/bundle.md "$tree/README.md"

# Check the promises of the bundle: it needs no newer C library than stated and no other library of the
# host, and its programs start with an empty environment.
newest=$(for file in $programs "$tree"/lib/*.so*; do objdump -T "$file"; done |
    sed -n 's/.*[( ]GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
if [ "$(printf '%s\n' "$newest" $glibc_limit | sort -V | tail -n 1)" != $glibc_limit ]; then
    fail "the bundle needs glibc $newest, which is newer than $glibc_limit (build it on Debian 12)"
fi
for program in $programs; do
    stray=$(env -i ldd "$program" | grep '=> /' | grep -v "=> $tree/" | awk '{ print $1 }' |
        grep -v -E '^lib(c|m|dl|rt|pthread|resolv)\.so\.' || true)
    [ -z "$stray" ] || fail "$program uses libraries of the host:" $stray
done
for program in apspd apsp; do
    env -i "$tree/bin/$program" --version || fail "$program does not start"
done
echo "bundle: needs glibc $newest or newer"
[ $stage_only = no ] || exit 0

version=$(meson introspect --projectinfo meson.build | sed -n 's/.*"version": "\([^"]*\)".*/\1/p')
# The same checkout produces the same archive in any folder: files are sorted, owned by root and dated by
# the last commit, and the programs contain no path of this machine.
stamp=$(git log -1 --format=%ct 2>/dev/null || echo 0)
name=apspd-$version-x86_64-linux
archive=$build/$name.tar.gz
tar --create --directory "$stage/opt" --sort=name --mtime="@$stamp" --owner=0 --group=0 \
    --numeric-owner --mode='u+rw,go=rX' --transform="s,^apspd,$name," apspd | gzip -n -9 >"$archive"
echo "bundle: $archive, $(stat --format=%s "$archive") bytes," \
    "$(du --apparent-size --bytes --summarize "$tree" | cut -f 1) unpacked"
(cd $build && sha256sum "$name.tar.gz" | tee SHA256SUMS)
rm -f $build/SHA256SUMS.asc
if [ -n "$key" ]; then
    gpg --batch --yes --local-user "$key" --armor --detach-sign --output $build/SHA256SUMS.asc \
        $build/SHA256SUMS
    echo "bundle: signed, $build/SHA256SUMS.asc"
fi
