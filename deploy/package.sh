#!/bin/sh
# Builds the Debian packages apspd, apspd-mpi and python3-apspd from the last commit, in build-package/, and
# checks them with lintian if it is installed.
set -eu

usage='usage: deploy/package.sh [--revision N] [--cuda WHEN]
  --revision N  revision of a package that replaces an earlier one of the same version (default: 1)
  --cuda WHEN   build the GPU solver: auto (if nvcc is found; the default), enabled, disabled'

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
# Use the time of the last commit, so that the same checkout produces the same package.
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
