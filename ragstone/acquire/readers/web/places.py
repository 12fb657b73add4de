"""Places and routes (GPX, KML): each below its name, with its description, times and coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import local, parse_xml
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.tables.fields import without_markup

_FOLDERS = ("gpx", "kml", "Document", "Folder", "metadata", "ExtendedData", "SchemaData")
_KINDS = {"wpt": "Waypoint", "rte": "Route", "trk": "Track", "Placemark": ""}
_NAMES = {"desc": "", "description": "", "cmt": "", "address": "Address", "phoneNumber": "Phone", "type": "Type"}
_DEEPEST = 50


def parse(file: File) -> Parsed:
    """Return the places, routes and tracks of a file. Of the points of a line, only the first and the last are shown.

    Raises:
        Unreadable: it is no such file, or there is no place in it.
    """
    root = parse_xml(file.path.read_bytes(), file.name)
    writer = Writer()
    _write(root, writer, 1)
    parsed = writer.parsed(facts={"kind": file.suffix.removeprefix(".")})
    if not parsed.text:
        raise Unreadable("no place in it")
    return parsed


def _write(folder: Element, writer: Writer, level: int) -> None:
    """Write what a file or a folder in it says of itself, and all that is in it."""
    if level > _DEEPEST:
        raise Unreadable(f"damaged: folders in folders, more than {_DEEPEST} deep")
    if local(folder) != "ExtendedData" and (name := _word(folder, "name")):
        writer.heading(name, level)
        level += 1
        writer.paragraph("\n".join(_told(folder)))
    for one in folder:
        if local(one) in _FOLDERS:
            _write(one, writer, level)
        elif local(one) in _KINDS:
            kind = _KINDS[local(one)]
            writer.heading(_word(one, "name") or kind, level)
            writer.paragraph("\n".join([*([kind] if kind else []), *_told(one), *_where(one)]))


def _word(element: Element, name: str) -> str:
    return next((" ".join((one.text or "").split()) for one in element if local(one) == name), "")


def _told(element: Element) -> Iterator[str]:
    """Yield what is said of a place: its description, and the data that people added to it."""
    for one in element:
        if (label := _NAMES.get(local(one))) is not None and (words := without_markup(one.text or "").strip()):
            yield f"{label}: {words}" if label else words
        if local(one) == "ExtendedData":
            for field in one.iter():
                words = _word(field, "value") if local(field) == "Data" else (field.text or "").strip()
                if words and local(field) in ("Data", "SimpleData"):
                    yield f"{field.get('name', '')}: {' '.join(words.split())}"


def _where(element: Element) -> Iterator[str]:
    """Yield the times and coordinates of a place, or those of the ends of a line."""
    times = [one.text.strip() for one in element.iter() if local(one) in ("time", "begin", "end", "when") and one.text]
    if times:
        yield f"Time: {times[0]}" if times[0] == times[-1] else f"Time: {times[0]} to {times[-1]}"
    points = [*_points(element)]
    if points and points[0] == points[-1]:
        yield f"Coordinates: {points[0]}"
    elif points:
        yield f"Coordinates: {points[0]} to {points[-1]}, {len(points)} points"
    if elevation := _word(element, "ele"):
        yield f"Elevation: {elevation} m"


def _points(element: Element) -> Iterator[str]:
    """Yield the points of a place as latitude and longitude in degrees."""
    for one in element.iter():
        if one.get("lat") and one.get("lon"):
            yield f"{one.get('lat')}, {one.get('lon')}"
        elif local(one) in ("coordinates", "coord"):
            points = [one.text or ""] if local(one) == "coord" else (one.text or "").split()
            for point in points:
                longitude, latitude, *_ = [*point.replace(",", " ").split(), "", ""]
                if latitude:
                    yield f"{latitude}, {longitude}"
