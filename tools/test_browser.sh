#!/bin/sh
# The browser that tests of the page drive: Debian's Chromium. It is installed where it is missing and we are root;
# elsewhere those tests are skipped, and this says so.
set -eu

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "there is no Chromium: tests that need a browser are SKIPPED. To run them: sudo apt-get install chromium"
    exit 0
fi
echo "installing chromium for the tests of the page; this is done once"
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null
then
    echo "chromium cannot be installed here: tests that need a browser are SKIPPED"
fi
