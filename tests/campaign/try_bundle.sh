#!/bin/sh
# The portable bundle: two checkouts in different places give the same bytes, the checksums are signed,
# and what is unpacked beside nothing but the C library solves a graph. Needs root, git and gpg. Its
# arguments go to deploy/bundle.sh: --cuda disabled is the quicker half.
set -eu

cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
leave() {
    code=$?
    trap - EXIT
    umount "$scratch/root/proc" 2>/dev/null || true
    gpgconf --homedir "$scratch/keys" --kill all 2>/dev/null || true
    rm -rf "$scratch"
    [ $code -eq 0 ] || echo 'try_bundle: FAILED' >&2
    exit $code
}
trap leave EXIT

mkdir -m 0700 "$scratch/keys"
export GNUPGHOME=$scratch/keys
gpg --batch --quiet --passphrase '' --quick-generate-key 'apspd test' ed25519 sign never

git clone --quiet . "$scratch/one"
git clone --quiet . "$scratch/another-place"
"$scratch/one/deploy/bundle.sh" "$@" --sign 'apspd test'
"$scratch/another-place/deploy/bundle.sh" "$@"
first=$scratch/one/build-bundle
cmp "$first/SHA256SUMS" "$scratch/another-place/build-bundle/SHA256SUMS"
echo '== two builds are equal'
(cd "$first" && gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check SHA256SUMS)

# The loader and the C library, and no shell: what is started is started by chroot itself. The loader
# finds the folder of a program by /proc.
root=$scratch/root
mkdir -p "$root/lib/x86_64-linux-gnu" "$root/lib64" "$root/proc" "$root/tmp"
for name in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libresolv.so.2; do
    cp -L "/lib/x86_64-linux-gnu/$name" "$root/lib/x86_64-linux-gnu/"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
mount -t proc proc "$root/proc"
tar --extract --file "$first"/apspd-*.tar.gz --directory "$root"
bundle=/$(basename "$root"/apspd-*)
chroot "$root" "$bundle/bin/apsp" generate --shape road --n 400 --seed 1 /tmp/g.gr
chroot "$root" "$bundle/bin/apsp" solve /tmp/g.gr /tmp/g.npy
chroot "$root" "$bundle/bin/apsp" verify /tmp/g.gr /tmp/g.npy
mkfifo "$scratch/output"
chroot "$root" "$bundle/bin/apspd" --listen 127.0.0.1:0 --state-dir /tmp/state \
    >"$scratch/output" 2>/dev/null &
daemon=$!
read -r line <"$scratch/output"
url=${line#listening on }
curl --fail --silent --show-error -H 'Prefer: wait=30' --data-binary "@$root/tmp/g.gr" \
    "$url/v1/jobs?name=g" >/dev/null
curl --fail --silent --show-error "$url/v1/graphs/g/distance?source=1&target=400"
kill -TERM $daemon
wait $daemon
echo 'try_bundle: equal, signed, and needs the C library alone'
