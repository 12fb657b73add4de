"""Pictures in the bodies of questions, as data in base64."""

from __future__ import annotations

import binascii
from base64 import b64decode

from ragstone.core.errors import UsageError

_START = "data:"
_MARK = ";base64,"


def picture_in(address: str, field: str) -> bytes:
    """Return the file of a picture.

    Args:
        address: a ``data:`` address, or what follows its ``;base64,`` alone.
        field: of the request, for the message.

    Raises:
        UsageError: it is something else, such as the address of a page, which is not fetched.
    """
    head, mark, data = address.strip().partition(_MARK)
    written = data if mark and head.startswith(_START) else address
    try:
        picture = b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError):
        picture = b""
    if not picture:
        raise UsageError(
            f"{field}: is no picture in base64; send it as data:image/png;base64,..., because links are not fetched"
        )
    return picture
