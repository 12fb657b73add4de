#!/bin/sh
# Check and test the page in web/. Where Node is missing, or is too old for it, say so and leave it out.
set -eu
cd "$(dirname "$0")/.."

echo "== web"
if [ ! -f web/package.json ]; then
    echo "there is no web/; its tests are skipped"
    exit 0
fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "Node is not installed: the tests of the page are SKIPPED. Node 20.19 or newer runs them."
    exit 0
fi
if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'; then
    echo "Node is $(node --version): the tests of the page are SKIPPED. Node 20.19 or newer runs them."
    exit 0
fi
make --no-print-directory --silent web/node_modules/.installed
cd web
npm run --silent check
npm test --silent
