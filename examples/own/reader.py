"""A reader of your own: acquire.readers={.vcf: own.reader:parse}."""

from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import text_of


def parse(file: File) -> Parsed:
    """Return the names and numbers of contacts, one paragraph per person."""
    text, facts = text_of(file)
    writer = Writer()
    for card in text.split("BEGIN:VCARD"):
        fields = [line.partition(":") for line in card.split("\n")]
        writer.paragraph("\n".join(value for key, _, value in fields if key.partition(";")[0] in ("FN", "TEL", "ORG")))
    return writer.parsed(facts={"kind": "vcf", **facts})
