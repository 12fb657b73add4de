#!/bin/sh
# Make the virtual environment $1, with the Python $2 or else the newest that Ragstone is tested on.
#
# Debian and Ubuntu ship Python without the part that makes environments. Where that is all that is missing,
# it is installed if we are root, and otherwise the command that installs it is printed.
set -eu

venv=$1
candidates=${2:-python3.13 python3.12 python3.11 python3}

# An environment that someone made by hand is used as it is.
if "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi

suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

complete() {
    suitable "$1" && "$1" -c 'import venv; from ensurepip import version' >/dev/null 2>&1
}

first() {
    for candidate in $candidates; do
        if "$1" "$candidate"; then
            echo "$candidate"
            return
        fi
    done
}

python=$(first complete)
if [ -z "$python" ]; then
    python=$(first suitable)
    if [ -z "$python" ]; then
        echo "Ragstone needs Python 3.11 or newer, and there is none among: $candidates" >&2
        echo "Install one, or name it: make PYTHON=/path/to/python3 ..." >&2
        exit 1
    fi
    # The package that fits this very Python: python3.12-venv.
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if ! command -v apt-get >/dev/null; then
        echo "$python cannot make virtual environments: its modules venv and ensurepip are missing; install them." >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "$python cannot make virtual environments yet. Run this once, then make again:" >&2
        echo "    sudo apt-get update && sudo apt-get install $package" >&2
        exit 1
    fi
    echo "installing $package"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null
fi

echo "making $venv with $("$python" -V)"
"$python" -m venv --clear "$venv"
