"""Places and routes in GPX and KML."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from ragstone.core.records import Document

ReadOne = Callable[..., Document]

GPX = """<gpx xmlns="http://www.topografix.com/GPX/1/1"><metadata><name>Round the firth</name></metadata>
<wpt lat="56.05" lon="-2.7"><ele>12</ele><name>Ferry pier</name><desc>Ferries leave at 9:00.</desc></wpt>
<trk><name>Morning</name><trkseg>
<trkpt lat="56.0" lon="-2.7"><time>2026-05-01T08:00:00Z</time></trkpt>
<trkpt lat="56.1" lon="-2.8"><time>2026-05-01T10:00:00Z</time></trkpt></trkseg></trk></gpx>"""
KML = """<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>Depots</name><Folder><name>North</name><Placemark>
<name>Leith depot</name><description><![CDATA[Open <b>daily</b> from 7:00]]></description>
<ExtendedData><Data name="capacity"><value>40 bikes</value></Data></ExtendedData>
<Point><coordinates>-3.17,55.97,0</coordinates></Point></Placemark></Folder></Document></kml>"""
DEPOTS = "Depots\n\nNorth\n\nLeith depot\n\nOpen daily from 7:00\ncapacity: 40 bikes\nCoordinates: 55.97, -3.17"


def test_reads_waypoints_and_tracks(read_one: ReadOne) -> None:
    assert read_one("a.gpx", GPX).text == (
        "Round the firth\n\nFerry pier\n\nWaypoint\nFerries leave at 9:00.\nCoordinates: 56.05, -2.7\nElevation: 12 m"
        "\n\nMorning\n\nTrack\nTime: 2026-05-01T08:00:00Z to 2026-05-01T10:00:00Z"
        "\nCoordinates: 56.0, -2.7 to 56.1, -2.8, 2 points"
    )


def test_reads_placemarks_in_folders(read_one: ReadOne) -> None:
    document = read_one("a.kml", KML)
    assert (document.title, document.text) == ("Depots", DEPOTS)
    assert [mark.level for mark in document.marks if mark.kind == "heading"] == [1, 2, 3]


def test_reads_the_tracks_of_google(read_one: ReadOne) -> None:
    track = "<gx:Track><when>2026-05-01T08:00:00Z</when><gx:coord>-3.1 55.9 4</gx:coord></gx:Track>"
    kml = f'<kml xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><name>Tour</name>{track}</Placemark></kml>'
    assert read_one("a.kml", kml).text == "Tour\n\nTime: 2026-05-01T08:00:00Z\nCoordinates: 55.9, -3.1"


def test_reads_placemarks_in_an_archive(read_one: ReadOne) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("doc.kml", KML)
    assert read_one("a.kmz", packed.getvalue()).text == DEPOTS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<gpx></gpx>", "no place in it"),
        ("<kml>", "damaged"),
        ("<!DOCTYPE kml><kml/>", "document type"),
        ("<Folder><name>a</name>" * 60 + "</Folder>" * 60, "more than 50 deep"),
    ],
)
def test_says_why_there_are_no_places(why_skipped: Callable[..., str], content: str, reason: str) -> None:
    assert reason in why_skipped("a.kml", content)
