#!/bin/sh
# Installs the packages that building, running and testing apspd need, on Debian 12 and Ubuntu 24.04. Only
# missing packages are installed, so a second run is quick and needs no network.
set -eu

usage='usage: deploy/setup.sh [--build] [--test] [--check]
  --build  install the packages for compiling and running (the default)
  --test   install the packages for the tests as well
  --check  install nothing; list missing packages, and exit with 1 if there are any'

build_packages='gcc libc6-dev meson ninja-build pkg-config curl
    libmicrohttpd-dev libuv1-dev libjansson-dev libsqlite3-dev libxxhash-dev libgnutls28-dev
    libinih-dev libseccomp-dev libsystemd-dev libmetis-dev libexpat1-dev libcurl4-gnutls-dev zlib1g-dev libzstd-dev libcmocka-dev'
test_packages='python3 python3-numpy python3-scipy python3-networkx python3-igraph
    python3-jsonschema python3-hypothesis python3-requests python3-httpx python3-pandas
    python3-lxml python3-setuptools python3-wheel python3-yaml nodejs procps strace zstd
    openmpi-bin libopenmpi-dev'
# Only nvcc needs a C++ compiler, for the host side of its files.
cuda_packages='g++'

wanted=$build_packages
check_only=no
for argument; do
    case $argument in
    --build) ;;
    --test) wanted="$wanted $test_packages" ;;
    --check) check_only=yes ;;
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
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    wanted="$wanted $cuda_packages"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: this is not Debian or Ubuntu; install the equivalents of:" $wanted >&2
    exit 1
fi

is_installed() {
    state=$(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null) || return 1
    [ "$state" = installed ]
}

missing=
for package in $wanted; do
    is_installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo 'setup: nothing is missing'
    exit 0
fi
echo "setup: missing:$missing"
if [ $check_only = yes ]; then
    exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo 'setup: cannot install packages without root or sudo' >&2
        exit 1
    fi
    as_root=sudo
fi
apt="$as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -o DPkg::Lock::Timeout=300"
$apt update
$apt install --yes --no-install-recommends $missing
