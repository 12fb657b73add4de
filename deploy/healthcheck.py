"""Whether the server of this container is alive: exit code 0, or 1 and why not.

It asks itself over loopback, so the certificate, which names another host or is self-signed, is not looked at.
"""

import os
import ssl
import sys
from urllib.error import URLError
from urllib.request import urlopen

PORT = os.environ.get("RAGSTONE_SERVE__PORT", "8000")
ENCRYPTED = os.environ.get("TLS") == "yes"


def main() -> int:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    address = f"{'https' if ENCRYPTED else 'http'}://127.0.0.1:{PORT}/health"
    try:
        with urlopen(address, timeout=4, context=context if ENCRYPTED else None):
            return 0
    except (URLError, OSError) as error:
        print(f"{address}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
