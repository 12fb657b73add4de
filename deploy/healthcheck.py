"""Exit with 0 if the server of this container is running; otherwise print why not and exit with 1.

The request goes over loopback, so the certificate, which names another host or is self-signed, is not verified.
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
