#!/bin/sh
# Builds the documentation site with mkdocs: build-site/site/index.html. The copy keeps the folder layout,
# so that links between documents and to other files work as they do in the tree.
set -eu

cd "$(dirname "$0")/.."
command -v mkdocs >/dev/null || { echo 'site: mkdocs is missing (apt-get install mkdocs)' >&2; exit 1; }
rm -rf build-site
mkdir -p build-site/source
git ls-files '*.md' 'docs/*' 'deploy/*' 'config/*' 'clients/*' LICENSE CITATION.cff |
    tar --create --files-from=- | tar --extract --directory build-site/source
# The badges link to pages of the hosting site that the copy does not contain.
sed -i '/actions\/workflows/d' build-site/source/README.md
mkdocs build --quiet --strict --config-file mkdocs.yml
echo 'build-site/site/index.html'
