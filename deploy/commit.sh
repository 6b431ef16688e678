#!/bin/sh
# Prints the commit of this tree: the commit that `git archive` has written into this file, else the
# commit of the checkout. Prints nothing if neither is known, or if this tree lies inside a different
# checkout.
commit='$Format:%H$'
case $commit in
*Format*)
    cd "$(dirname "$0")/.."
    [ ! -e .git ] || git rev-parse --verify HEAD 2>/dev/null || true
    ;;
*) echo "$commit" ;;
esac
