#!/bin/sh
# Every check of this folder on the checkout, but the layout, which takes longer: for a hook of git.
set -eu
cd "$(dirname "$0")/../.."
failed=0
for check in tests/tidy/check_*.py; do
    [ "$check" != tests/tidy/check_format.py ] || continue
    python3 -B "$check" . || failed=1
done
exit $failed
