#!/bin/sh
# The systemd unit under a systemd of its own, booted in a container: started and ready, as a user of
# its own; keys and certificate as credentials; reloaded, hung and started anew by the watchdog; backed up
# and restored as the runbook has it; refused for a missing credential, started by its socket, stopped,
# purged. Needs root, systemd-nspawn, and the network
# for apt-get.
set -eu

usage='usage: tests/campaign/try_unit.sh ROOT PACKAGE
  ROOT  made by `debootstrap --variant=minbase bookworm ROOT`; a copy of it is used
  deploy/package.sh makes the package'
[ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }

root=$(mktemp -d)
leave() {
    code=$?
    trap - EXIT
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$root"
    [ $code -eq 0 ] || echo 'try_unit: FAILED' >&2
    exit $code
}
trap leave EXIT
cp -a "$1/." "$root"
mkdir "$root/trial"
cp "$2" "$root/trial/apspd.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# The first block of shell of the section is the backup, the second the restore.
runbook=$(dirname "$0")/../../deploy/runbook.md
for part in backup restore; do
    awk -v part=$part '/^## /{here = /^## Back up and restore/}
        here && /^```sh/{block++; inside = 1; next}
        /^```$/{inside = 0}
        inside && block == (part == "backup" ? 1 : 2)' "$runbook" >"$root/trial/$part"
    [ -s "$root/trial/$part" ]
done
mount -t proc proc "$root/proc"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -euc '
    apt-get -q update
    apt-get -q install --yes --no-install-recommends systemd-sysv dbus curl openssl /trial/apspd.deb
' >/dev/null 2>&1
umount "$root/proc"

cat >"$root/trial/try.sh" <<'END'
#!/bin/sh -eux
ask() { curl --fail-with-body --silent --show-error --cacert fullchain.pem --retry 20 --retry-connrefused "$@"; }
main() { systemctl show --property=MainPID --value apspd; }
cd /trial
systemctl is-active apspd
ask http://127.0.0.1:8080/readyz
systemctl show --property=StatusText apspd | grep 'listening on'

openssl rand -base64 24 >key
echo "$(tr -d '\n' <key | sha256sum | cut -c1-64) acme submitter" >keys
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout privkey.pem \
    -out fullchain.pem -days 2 -subj /CN=apspd -addext subjectAltName=IP:127.0.0.1
install -d -m 0700 /etc/credstore
install -m 0600 keys /etc/credstore/apspd.keys
install -m 0600 fullchain.pem /etc/credstore/apspd.certificate
install -m 0600 privkey.pem /etc/credstore/apspd.key
cp /etc/apspd/apspd.ini open.ini
sed -i 's/^listen = .*/listen = 0.0.0.0:8443/
    s/^keys_file = .*/keys_file = credential:apspd.keys/
    s/^tls_certificate = .*/tls_certificate = credential:apspd.certificate/
    s/^tls_key = .*/tls_key = credential:apspd.key/' /etc/apspd/apspd.ini
systemctl restart apspd
[ "$(ask --output /dev/null --write-out '%{http_code}' https://127.0.0.1:8443/v1/jobs)" = 401 ]
authorization="Authorization: Bearer $(cat key)"
apsp generate --shape road --n 300 --seed 1 g.gr
ask -H "$authorization" -H 'Prefer: wait=30' --data-binary @g.gr 'https://127.0.0.1:8443/v1/jobs?name=g'
distance='https://127.0.0.1:8443/v1/graphs/g/distance?source=1&target=300'
before=$(ask -H "$authorization" "$distance")
systemctl reload apspd
ask -H "$authorization" "$distance"

process=$(main)
grep -E '^(Uid:.*[1-9]|CapEff:.0+$|NoNewPrivs:.1|Seccomp:.2)' /proc/$process/status | grep -c . | grep -x 4
journalctl -u apspd -o cat | grep '"confined"' | tail -n 1 | grep -v '"without"'

kill -STOP "$process"
for second in $(seq 60); do
    [ "$(main)" = "$process" ] || break
    sleep 1
done
[ "$(main)" != "$process" ]
sleep 2
[ "$(ask -H "$authorization" "$distance")" = "$before" ]

sh -eux backup
[ "$(ask -H "$authorization" "$distance")" = "$before" ]
ask -H "$authorization" -X DELETE https://127.0.0.1:8443/v1/graphs/g
apsp generate --shape road --n 400 --seed 2 later.gr
ask -H "$authorization" -H 'Prefer: wait=30' --data-binary @later.gr 'https://127.0.0.1:8443/v1/jobs?name=later'
sh -eux restore
[ "$(ask -H "$authorization" -H 'Prefer: wait=30' "$distance")" = "$before" ]
graphs=$(ask -H "$authorization" https://127.0.0.1:8443/v1/graphs)
echo "$graphs" | grep '"names":\["g"\]'
[ "$(echo "$graphs" | grep -c later)" = 0 ]
[ "$(journalctl -u apspd -o cat | grep -c damage_found)" = 0 ]

mv /etc/credstore/apspd.keys away
! systemctl restart apspd
[ "$(systemctl is-failed apspd)" = failed ]
journalctl -u apspd -o cat | grep start_failed | tail -n 1 | grep 'apspd.keys: No such file'

cp open.ini /etc/apspd/apspd.ini
systemctl reset-failed apspd
systemctl enable --now apspd.socket
[ "$(systemctl is-active apspd)" = inactive ]
ask http://127.0.0.1:8080/readyz
systemctl stop apspd.socket apspd
systemctl show --property=Result,ExecMainStatus apspd | grep -E -c '=(success|0)$' | grep -x 2
systemd-analyze security apspd --no-pager | tail -n 1

apt-get -q purge --yes apspd
[ ! -e /usr/bin/apspd ]
[ ! -e /etc/apspd ]
[ -s /var/lib/private/apspd/catalogue.db ]
touch passed
END
chmod +x "$root/trial/try.sh"
cat >"$root/etc/systemd/system/try.service" <<'END'
[Unit]
After=multi-user.target
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'exec /trial/try.sh >/trial/log 2>&1'
END
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
# The container's own filter would keep Landlock from whoever asks.
systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --private-network --boot \
    --system-call-filter='landlock_create_ruleset landlock_add_rule landlock_restrict_self' >/dev/null 2>&1
if [ ! -f "$root/trial/passed" ]; then
    tail -n 30 "$root/trial/log" >&2
    exit 1
fi
tail -n 2 "$root/trial/log" | head -n 1
echo 'try_unit: starts, keeps, restarts and stops it'
