"""A form with files (multipart/form-data), part by part as it comes."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ragstone.serve.http.problems import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The beginning of a part: its name, and that of the file where it is one."""

    name: str
    filename: str | None


Received = Part | bytes | None
"""The beginning of a part, a piece of it, its end."""


async def parts(body: AsyncIterable[bytes], content_type: str) -> AsyncIterator[Received]:
    """What a form consists of, in order.

    Raises:
        Refused: it is no form, or is not whole.
    """
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        raise Refused("unsupported", "send files as multipart/form-data")
    if not options.get(b"boundary"):
        raise Refused("usage", "the form names no boundary")
    form = _Form()
    try:
        parser = MultipartParser(
            options[b"boundary"],
            {
                "on_header_field": form.on_header_field,
                "on_header_value": form.on_header_value,
                "on_header_end": form.on_header_end,
                "on_headers_finished": form.on_headers_finished,
                "on_part_data": form.on_part_data,
                "on_part_end": form.on_part_end,
                "on_end": form.on_end,
            },
        )
        async for chunk in body:
            parser.write(chunk)
            for one in form.taken():
                yield one
        parser.finalize()
    except FormParserError as error:
        raise Refused("usage", "the form cannot be read") from error
    if not form.is_whole:
        raise Refused("usage", "the form has no end")


class _Form:
    """Collects what the parser calls back with."""

    def __init__(self) -> None:
        self.is_whole = False
        self._received: list[Received] = []
        self._name, self._value, self._disposition = bytearray(), bytearray(), b""

    def taken(self) -> list[Received]:
        """What came since this was last asked for."""
        out, self._received = self._received, []
        return out

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        name, filename = options.get(b"name"), options.get(b"filename")
        self._disposition = b""
        if name is None:
            raise Refused("usage", "a part of the form has no name")
        sent = None if filename is None else filename.decode(errors="replace")
        self._received.append(Part(name=name.decode(errors="replace"), filename=sent))

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._received.append(data[start:end])

    def on_part_end(self) -> None:
        self._received.append(None)

    def on_end(self) -> None:
        self.is_whole = True
