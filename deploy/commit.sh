#!/bin/sh
# Prints the commit that this tree is of: the one that `git archive` has written into this file, else
# that of the checkout. Nothing where neither is known, also in a tree inside of another's checkout.
commit='$Format:%H$'
case $commit in
*Format*)
    cd "$(dirname "$0")/.."
    [ ! -e .git ] || git rev-parse --verify HEAD 2>/dev/null || true
    ;;
*) echo "$commit" ;;
esac
