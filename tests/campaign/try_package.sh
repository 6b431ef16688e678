#!/bin/sh
# The life of the Debian package in a clean tree of Debian 12: installed, its manual read, the daemon
# run, upgraded, removed, purged. Needs root, dpkg-deb and the network for apt-get.
set -eu

usage='usage: tests/campaign/try_package.sh ROOT PACKAGE NEWER_PACKAGE
  ROOT  made by `debootstrap --variant=minbase bookworm ROOT`; a copy of it is used
  deploy/package.sh makes the packages; --revision 2 a newer one'
[ $# -eq 3 ] || { echo "$usage" >&2; exit 2; }
base=$1
package=$2
newer=$3

root=$(mktemp -d)
leave() {
    code=$?
    trap - EXIT
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$root"
    [ $code -eq 0 ] || echo 'try_package: FAILED' >&2
    exit $code
}
trap leave EXIT
cp -a "$base/." "$root"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/first.deb"
cp "$newer" "$root/tmp/second.deb"

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# solve PORT: starts the daemon as an ordinary user, solves a graph, asks, stops; the state stays.
solve() {
    inside sh -eu -c '
        apsp generate --shape road --n 300 --seed 1 /tmp/g.gr
        chown -R nobody /tmp/state
        rm -f /tmp/out
        mkfifo /tmp/out
        setpriv --reuid=nobody --regid=nogroup --clear-groups \
            apspd --config /etc/apspd/apspd.ini --listen 127.0.0.1:0 --state-dir /tmp/state \
            >/tmp/out 2>/tmp/log &
        daemon=$!
        read -r line </tmp/out
        url=${line#listening on }
        curl -fsS -H "Prefer: wait=30" --data-binary @/tmp/g.gr "$url/v1/jobs?name=g" >/dev/null
        curl -fsS "$url/v1/graphs/g/distance?source=1&target=300"
        curl -fsS "$url/v1/jobs" | grep -c "\"state\":\"done\""
        kill -TERM $daemon
        wait $daemon'
}

inside apt-get -q update >/dev/null
inside apt-get -q install --yes --no-install-recommends curl man-db >/dev/null
echo '== install'
inside apt-get -q install --yes --no-install-recommends /tmp/first.deb | tail -n 3
inside sh -c 'apspd --version; apsp --version; mkdir /tmp/state'
solve
inside systemd-analyze --version >/dev/null 2>&1 && inside systemd-analyze verify /lib/systemd/system/apspd.service
echo '== upgrade, with a configuration that was changed'
inside sed -i 's/^threads = 4$/threads = 3/' /etc/apspd/apspd.ini
inside apt-get -q install --yes --no-install-recommends /tmp/second.deb | tail -n 1
inside sh -c 'dpkg-query --show apspd; apspd --config /etc/apspd/apspd.ini --print-config | grep "^threads = 3"'
solve
echo '== remove'
inside apt-get -q remove --yes apspd | tail -n 1
inside sh -c '! command -v apspd && test -f /etc/apspd/apspd.ini'
echo '== purge'
inside apt-get -q purge --yes apspd | tail -n 1
inside sh -c '! test -e /etc/apspd && ! find / -xdev -name "*apspd*" -not -path "/tmp/*" -not -path "/var/log/*" -not -path "/proc/*" | grep .'
echo 'try_package: installs, runs, upgrades, removes'
