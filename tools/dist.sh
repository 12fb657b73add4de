#!/bin/sh
# Source and wheel into dist/; what the wheel needs, as a bill of materials; and the hashes of all three.
#
# The bill lists what a fresh environment holds once the wheel is installed with the extras of the image, not what
# happens to be in the developer's.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/$1

rm -rf dist build/bill
"$bin/python" -m build --outdir dist . >/dev/null
"$bin/python" -m twine check --strict dist/*
wheel=$(ls dist/*.whl)
name=$(basename "$wheel" -py3-none-any.whl)
python3 -m venv build/bill 2>/dev/null || "$bin/python" -m venv build/bill
extras=$(sed -n 's/^\.\(\[.*\]\)$/\1/p' deploy/variants/cpu.txt)
build/bill/bin/pip --disable-pip-version-check install -qq -c constraints.txt "$wheel$extras"
build/bill/bin/pip --disable-pip-version-check uninstall -qq -y pip
"$bin/cyclonedx-py" environment build/bill/bin/python --pyproject pyproject.toml --output-reproducible \
    --of JSON -o "dist/$name.cdx.json" 2>/dev/null
(cd dist && sha256sum -- * >SHA256SUMS)
cat dist/SHA256SUMS
