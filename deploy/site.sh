#!/bin/sh
# Makes the site of the documents with mkdocs: build-site/site/index.html. The copy keeps the folders, so
# that the links between the documents and to files of the tree work there as they do in the tree.
set -eu

cd "$(dirname "$0")/.."
command -v mkdocs >/dev/null || { echo 'site: mkdocs is missing (apt-get install mkdocs)' >&2; exit 1; }
rm -rf build-site
mkdir -p build-site/source
git ls-files '*.md' 'docs/*' 'deploy/*' 'config/*' 'clients/*' LICENSE CITATION.cff |
    tar --create --files-from=- | tar --extract --directory build-site/source
# Badges are addresses of the forge.
sed -i '/actions\/workflows/d' build-site/source/README.md
mkdocs build --quiet --strict --config-file mkdocs.yml
echo 'build-site/site/index.html'
