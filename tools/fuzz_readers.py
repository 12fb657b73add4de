"""Read damaged files for a while, and report what a reader must never do.

Each run takes a file of the corpus, damages it, and reads it the way that `ragstone add` does: in the parsing process
if its reader runs there. A finding is a crash, a file that takes too long or too much memory, text that cannot be
stored, or a mark or a place outside of the text. An exception is none: the file is reported as damaged. Runs of one
seed are the same, and each finding is kept as a file.

    python tools/fuzz_readers.py --minutes 10 --corpus tests --corpus ../data/office --keep /tmp/findings
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz_mutations import mutated

from ragstone.acquire.readers import ARCHIVES, READERS
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

LARGEST = 400_000
"""Bytes of a file of the corpus: larger ones take time that runs are better spent on."""
MOST_FILES = 60
"""Files of one suffix."""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
FATAL = re.compile(r"crashed|took more than|needs more than|the process that parses files did not start")
GRACE = 20.0
"""Seconds beyond the limit of the parsing process after which this process is stopped."""
MEMORY = 2_000_000_000


class TooSlow(BaseException):
    """A reader in this process took too long. No reader catches it."""


@dataclass(slots=True)
class Tally:
    """What was seen of the files of one suffix."""

    runs: int = 0
    documents: int = 0
    skipped: int = 0
    seconds: float = 0.0
    raised: Counter[str] = field(default_factory=Counter[str])
    findings: Counter[str] = field(default_factory=Counter[str])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--corpus", type=Path, action="append", required=True, help="a folder of files to damage")
    options.add_argument("--minutes", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--suffix", action="append", help="only files of this suffix")
    options.add_argument("--seconds", type=float, default=20.0, help="time for one file")
    options.add_argument("--megabytes", type=int, default=500, help="memory for one file")
    options.add_argument("--keep", type=Path, help="folder for the files of findings")
    asked = options.parse_args()
    corpus = corpus_of(asked.corpus, asked.suffix)
    settings = AcquireSettings(parse_seconds=asked.seconds, parse_mb=asked.megabytes, ocr="off")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    signal.signal(signal.SIGALRM, stop)
    tallies = {suffix: Tally() for suffix in corpus}
    until = time.monotonic() + 60 * asked.minutes
    with TemporaryDirectory(prefix="ragstone-fuzz-") as folder, ParserProcess(settings) as parser:
        for number, suffix in enumerate(turns(corpus, until)):
            chance = random.Random(f"{asked.seed} {number}")
            data = mutated(chance, chance.choice(corpus[suffix]), corpus[suffix])
            path = Path(folder) / f"a{suffix}"
            path.write_bytes(data)
            for finding in read(path, suffix, parser, tallies[suffix]):
                print(f"{suffix} run {number}: {finding}", flush=True)
                tallies[suffix].findings[finding] += 1
                if asked.keep:
                    asked.keep.mkdir(parents=True, exist_ok=True)
                    (asked.keep / f"{asked.seed}-{number}{suffix}").write_bytes(data)
    report(tallies)


def stop(*_: object) -> None:
    raise TooSlow


def corpus_of(folders: Sequence[Path], wanted: Sequence[str] | None) -> dict[str, list[bytes]]:
    """Return the contents of the files that there are readers for, by suffix."""
    found: dict[str, list[bytes]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        suffix = path.suffix.lower()
        known = suffix in READERS or suffix in ARCHIVES
        few = len(found.get(suffix, ())) < MOST_FILES
        if known and few and (not wanted or suffix in wanted) and 0 < path.stat().st_size <= LARGEST:
            found.setdefault(suffix, []).append(path.read_bytes())
    return found


def turns(corpus: dict[str, list[bytes]], until: float) -> Iterator[str]:
    """Yield suffixes in turn until the time is over."""
    while corpus:
        for suffix in corpus:
            if time.monotonic() > until:
                return
            yield suffix


def read(path: Path, suffix: str, parser: ParserProcess, tally: Tally) -> Iterator[str]:
    """Read a file, count what comes of it, and yield what must not happen."""
    began = time.monotonic()
    file = File(path=path, name=path.name, source=path.name, suffix=suffix, settings=parser.settings)
    signal.setitimer(signal.ITIMER_REAL, parser.settings.parse_seconds + GRACE)
    try:
        results = [*documents_of(file, parser)]
    except TooSlow:
        yield "took too long in this process"
        results = []
    except MemoryError:
        yield "took too much memory in this process"
        results = []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.monotonic() - began
    tally.runs += 1
    tally.seconds += seconds
    if seconds > parser.settings.parse_seconds:
        yield f"took {seconds:.0f} s"
    for one in results:
        if isinstance(one, Document):
            tally.documents += 1
            yield from wrong_in(one)
        else:
            tally.skipped += 1
            yield from wrong_about(one, tally)


def wrong_about(skipped: Skipped, tally: Tally) -> Iterator[str]:
    if FATAL.match(skipped.reason):
        yield skipped.reason
    elif found := re.match(r"damaged: (\w+(?:Error|Exception|error|BadZipFile))\b", skipped.reason):
        tally.raised[found[1]] += 1
    with suppress(UnicodeEncodeError):
        skipped.reason.encode()
        return
    yield "a reason that cannot be written"


def wrong_in(document: Document) -> Iterator[str]:
    """Yield what is wrong in a document."""
    facts = "".join(f"{key}{value}" for key, value in document.metadata.items())
    if UNSTORABLE.search(document.text + document.title + document.url + document.source + document.id + facts):
        yield "text that cannot be stored"
    length = len(document.text)
    if any(not 0 <= mark.start < mark.end <= length for mark in document.marks):
        yield "a mark outside of the text"
    if [mark.start for mark in document.marks] != sorted(mark.start for mark in document.marks):
        yield "marks that are not in order"
    for one in document.placed:
        if not 0 <= one.start < one.end <= length:
            yield "a place of words outside of the text"
            return
        if not (0 <= one.left <= one.right <= 1 and 0 <= one.top <= one.bottom <= 1 and 0 <= one.confidence <= 1):
            yield "a box outside of its page"
            return


def report(tallies: dict[str, Tally]) -> None:
    print("| suffix | runs | minutes | documents | skipped | exceptions that were caught | findings |")
    print("|---|---|---|---|---|---|---|")
    for suffix, one in sorted(tallies.items()):
        raised = ", ".join(f"{name} {count}" for name, count in one.raised.most_common(4))
        findings = ", ".join(f"{name} {count}" for name, count in one.findings.most_common(4))
        minutes = f"{one.seconds / 60:.1f}"
        print(f"| {suffix} | {one.runs} | {minutes} | {one.documents} | {one.skipped} | {raised} | {findings} |")


if __name__ == "__main__":
    main()
