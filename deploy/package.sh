#!/bin/sh
# Makes the Debian packages of what is committed, judged by lintian where that is installed: apspd, apspd-mpi
# and python3-apspd, in build-package/.
set -eu

usage='usage: deploy/package.sh [--revision N] [--cuda WHEN]
  --revision N  a package of the same version that replaces the one before (1 by default)
  --cuda WHEN   the GPU solver: auto (where nvcc is found, the default), enabled, disabled'

revision=1
cuda=auto
while [ $# -gt 0 ]; do
    case $1 in
    --revision)
        [ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
        revision=$2
        shift
        ;;
    --cuda)
        [ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
        cuda=$2
        shift
        ;;
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
for tool in dpkg-buildpackage dh dh_python3 git mpicc; do
    command -v $tool >/dev/null || {
        echo "package: $tool is missing (apt-get install debhelper dh-python git libopenmpi-dev python3-setuptools)" >&2
        exit 1
    }
done
sh deploy/setup.sh --build

version=$(sed -n "s/^  version: '\([^']*\)',$/\1/p" meson.build)
folder=build-package
source=$folder/apspd-$version
rm -rf "$source"
mkdir -p "$source"
git archive HEAD | tar --extract --directory "$source"
cp -r "$source/deploy/debian" "$source/debian"
sed -i "1s/([^)]*)/($version-$revision)/" "$source/debian/changelog"
# The day of the last commit, so that the same checkout gives the same package.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
(cd "$source" && WITH_CUDA=$cuda DEB_BUILD_OPTIONS="parallel=$(nproc) nocheck" dpkg-buildpackage -b -us -uc -d)
for package in "$folder"/*_"$version-$revision"_*.deb; do
    case $package in *-dbgsym_*) continue ;; esac
    if command -v lintian >/dev/null; then
        lintian --fail-on error "$package"
    fi
    echo "package: $package, $(stat --format=%s "$package") bytes"
    sha256sum "$package"
done
