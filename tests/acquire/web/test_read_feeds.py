"""Feeds, good and bad, and XML that is no feed."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.acquire import Pages
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

ReadOne = Callable[..., Document]
ReadAll = Callable[..., list[Document | Skipped]]
Why = Callable[..., str]

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>The Mill</title><link>https://mill.example/</link>
<item><title>Wheels &amp;amp; stones</title><link>https://mill.example/1</link><guid isPermaLink="false">one</guid>
<pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate><dc:creator>Ann</dc:creator><category>wood</category>
<category>water</category><media:title>No</media:title><description>Short.</description>
<content:encoded><![CDATA[<h2>Parts</h2><p>They <b>turn</b>.</p><img src="a.png">]]></content:encoded>
</item>
<item><title>Second</title><guid>https://mill.example/2</guid><description>a &lt; b</description></item>
<item><enclosure url="https://mill.example/a.mp3"/></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>The Mill</title>
<entry><title type="html">&lt;b&gt;Wheels&lt;/b&gt;</title><id>urn:1</id><updated>2024-05-06T07:08:09Z</updated>
<link rel="self" href="https://mill.example/self"/><link href="https://mill.example/1"/>
<author><name>Ann</name><email>ann@mill.example</email></author><category term="wood"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>They <em>turn</em>.</p></div></content></entry>
</feed>"""


def test_each_entry_of_rss_is_a_document(read_all: ReadAll) -> None:
    first, second = read_all("news.rss", RSS)
    assert isinstance(first, Document)
    assert (first.title, first.url) == ("Wheels & stones", "https://mill.example/1")
    assert first.text == "Wheels & stones\n\nParts\n\nThey turn."
    wanted = {
        "kind": "feed", "feed": "The Mill", "author": "Ann", "date": "2024-05-06T07:08:09+00:00", "tags": "wood, water",
    }  # fmt: skip
    assert {key: first.metadata[key] for key in wanted} == wanted
    assert isinstance(second, Document)
    assert (second.title, second.text, second.url) == ("Second", "Second\n\na < b", "https://mill.example/2")
    assert first.id.startswith("news.rss#")
    assert first.id != second.id


def test_reads_atom(read_one: ReadOne) -> None:
    document = read_one("news.xml", ATOM)
    assert (document.title, document.text, document.url) == (
        "Wheels", "Wheels\n\nThey turn.", "https://mill.example/1",
    )  # fmt: skip
    assert (document.metadata["author"], document.metadata["tags"]) == ("Ann", "wood")
    assert document.metadata["date"] == "2024-05-06T07:08:09"


def test_entry_keeps_its_id_when_others_go(read_all: ReadAll) -> None:
    ids = [one.id for one in read_all("a.rss", RSS) if isinstance(one, Document)]
    shorter = RSS[: RSS.index("<item>")] + RSS[RSS.index("<item><title>Second") :]
    assert [one.id for one in read_all("a.rss", shorter) if isinstance(one, Document)] == ids[1:]


def test_entries_link_to_their_own_pages() -> None:
    with Pages(AcquireSettings()) as pages:
        url = "https://mill.example/feed"
        documents = [one for one in pages.read(RSS.encode(), "application/rss+xml", url) if isinstance(one, Document)]
    assert [one.url for one in documents] == ["https://mill.example/1", "https://mill.example/2"]
    assert all(one.id.startswith(f"{url}#") for one in documents)


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE rss [<!ENTITY a "bomb">]><rss><channel><item><title>&a;</title></item></channel></rss>',
        '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><item>&a;</item></channel></rss>',
        "<rss><channel><item><title>never closed",
        "<rss>" * 300 + "</rss>" * 300,
        "<config><name>mill</name></config>",
    ],
)
def test_other_xml_is_read_as_written(read_one: ReadOne, content: str) -> None:
    document = read_one("a.xml", content)
    assert (document.metadata["kind"], document.text) == ("xml", content)


def test_reads_feeds_with_a_document_type(read_one: ReadOne) -> None:
    rss = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">'
    rss += "<rss><channel><item><title>Wheels&nbsp;turn</title></item></channel></rss>"
    assert read_one("a.rss", rss).title == "Wheelsturn"


def test_feed_without_entries_tells_of_itself(read_one: ReadOne, why_skipped: Why) -> None:
    channel = "<channel><title>The Mill</title><description>Wheels.</description></channel>"
    assert read_one("a.rss", f"<rss>{channel}</rss>").text == "The Mill\n\nWheels."
    assert why_skipped("b.rss", "<rss><channel/></rss>") == "a feed without entries"


def test_bomb_of_entities_takes_no_time(read_one: ReadOne) -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    begun = time.monotonic()
    read_one("a.rss", f'<!DOCTYPE rss [<!ENTITY a0 "lol">{levels}]><rss><channel>&a11;</channel></rss>')
    assert time.monotonic() - begun < 30


def test_reads_real_feeds(data_dir: Path, read_all: ReadAll) -> None:
    results = read_all(data_dir / "office" / "feedparser" / "dev" / "files")
    kinds = Counter(one.metadata["kind"] for one in results if isinstance(one, Document))
    reasons = {one.reason for one in results if isinstance(one, Skipped)}
    assert kinds["feed"] > 200
    assert reasons <= {"a feed without entries"}


def test_no_damage_stops_reading(tmp_path: Path, read_all: ReadAll) -> None:
    chance = random.Random(7)
    for number in range(60):
        data = bytearray((RSS if number % 2 else ATOM).encode())
        for _ in range(chance.choice([1, 5, 50])):
            data[chance.randrange(len(data))] = chance.choice(b"<>&;/ a\0\xff\"'")
        (tmp_path / f"{number}.rss").write_bytes(data)
    assert len(read_all(tmp_path)) >= 60
