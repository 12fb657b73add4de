"""Run the command line as ``python -m ragstone``."""

from __future__ import annotations

import sys

from ragstone.serve.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
