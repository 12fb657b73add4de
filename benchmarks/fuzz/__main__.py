"""Read damaged files for a while, and report what a reader must never do.

Each run takes a small file of the corpus, damages it, and reads it the way that `ragstone add` does: in the parsing
process if its reader runs there. A finding is a crash, a file that takes too long or too much memory, an error that no
reader expects, text that cannot be stored, or a mark or a place outside of the text. Runs of one seed are the same, and
each finding is kept as a file. The last line is JSON.

    python -m benchmarks.fuzz docx xls --inputs 200000 --seconds 3600 --keep /tmp/findings
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import DATA, ROOT
from benchmarks.fuzz.mutations import mutated
from ragstone.acquire.readers import ARCHIVES, READERS
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.sources.documents import documents_of
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

FOLDERS = ("fixtures", "office", "parsing_corpus")
"""Folders of the test data with files to damage."""
SMALL, LARGEST = 40_000, 400_000
"""Bytes of a file of the corpus: larger ones take time that runs are better spent on."""
FEWEST_FILES, MOST_FILES = 5, 60
"""Files of one suffix: larger ones are taken where too few are small."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".emf", ".wmf", ".tif", ".tiff", ".ttf", ".odttf", ".bin")
"""Members of containers that are left out: no reader of text looks into them."""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
FATAL = re.compile(r"crashed|took more than|needs more than|the process that parses files did not start")
GRACE = 20.0
"""Seconds of computing beyond the limit of the parsing process after which this process is stopped."""
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
    options.add_argument("format", nargs="*", help="a suffix, such as docx; all that the corpus has by default")
    options.add_argument("--corpus", type=Path, action="append", help=f"a folder of files; those of ${DATA} by default")
    options.add_argument("--inputs", type=int, default=200_000, help="damaged files of each format, at most")
    options.add_argument("--seconds", type=float, default=60.0, help="time for all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--hang", type=float, default=10.0, help="seconds for one file")
    options.add_argument("--megabytes", type=int, default=500, help="memory for one file")
    options.add_argument("--keep", type=Path, help="folder for the files of findings")
    asked = options.parse_args()
    corpus = corpus_of(asked.corpus or default_corpus(), [f".{one.lstrip('.').lower()}" for one in asked.format])
    settings = AcquireSettings(parse_seconds=asked.hang, parse_mb=asked.megabytes, ocr="off")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    signal.signal(signal.SIGPROF, stop)
    tallies = {suffix: Tally() for suffix in corpus}
    until = time.monotonic() + asked.seconds
    with TemporaryDirectory(prefix="ragstone-fuzz-") as folder, ParserProcess(settings) as parser:
        for number, suffix in turns(corpus, asked.inputs, until):
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


def default_corpus() -> list[Path]:
    """Return the examples, and the folders of the test data."""
    data = os.environ.get(DATA)
    return [ROOT / "examples", *(Path(data) / name for name in FOLDERS if data)]


def stop(*_: object) -> None:
    raise TooSlow


def corpus_of(folders: Sequence[Path], wanted: Sequence[str]) -> dict[str, list[bytes]]:
    """Return the contents of the files that there are readers for, by suffix: the small ones, or the smallest."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        suffix = path.suffix.lower()
        has_reader = suffix in READERS or suffix in ARCHIVES
        if has_reader and (not wanted or suffix in wanted) and 0 < path.stat().st_size <= LARGEST:
            paths.setdefault(suffix, []).append(path)
    corpus: dict[str, list[bytes]] = {}
    for suffix, found in paths.items():
        files = [lean(path.read_bytes()) for path in found]
        least = sorted(map(len, files))[:FEWEST_FILES][-1]
        corpus[suffix] = [data for data in files if len(data) <= max(SMALL, least)][:MOST_FILES]
    return corpus


def lean(data: bytes) -> bytes:
    """Return a container without its pictures and fonts; other files are unchanged."""
    if not data.startswith(b"PK\x03\x04"):
        return data
    made = BytesIO()
    with suppress(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        with zipfile.ZipFile(BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as kept:
            for name in archive.namelist():
                if not name.lower().endswith(PICTURES):
                    kept.writestr(name, archive.read(name))
        return made.getvalue()
    return data


def turns(corpus: dict[str, list[bytes]], inputs: int, until: float) -> Iterator[tuple[int, str]]:
    """Yield suffixes in turn, numbered, until each had its inputs or the time is over."""
    for number in range(inputs):
        for at, suffix in enumerate(corpus):
            if time.monotonic() > until:
                return
            yield number * len(corpus) + at, suffix


def read(path: Path, suffix: str, parser: ParserProcess, tally: Tally) -> Iterator[str]:
    """Read a file, count what comes of it, and yield what must not happen."""
    began, worked = time.monotonic(), time.process_time()
    file = File(path=path, name=path.name, source=path.name, suffix=suffix, settings=parser.settings)
    signal.setitimer(signal.ITIMER_PROF, parser.settings.parse_seconds + GRACE)
    try:
        results = [*documents_of(file, parser)]
    except TooSlow:
        yield "took too long in this process"
        results = []
    except MemoryError:
        yield "took too much memory in this process"
        results = []
    except Exception as error:
        yield f"escaped: {type(error).__name__}: {error}"
        results = []
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    tally.runs += 1
    tally.seconds += time.monotonic() - began
    seconds = time.process_time() - worked  # The parsing process has a limit of its own.
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
    print("| suffix | runs | a second | documents | skipped | exceptions that were caught | findings |")
    print("|---|---|---|---|---|---|---|")
    for suffix, one in sorted(tallies.items()):
        raised = ", ".join(f"{name} {count}" for name, count in one.raised.most_common(4))
        findings = ", ".join(f"{name} {count}" for name, count in one.findings.most_common(4))
        rate = f"{one.runs / max(one.seconds, 0.001):.0f}"
        print(f"| {suffix} | {one.runs} | {rate} | {one.documents} | {one.skipped} | {raised} | {findings} |")
    runs = {suffix.lstrip("."): one.runs for suffix, one in sorted(tallies.items())}
    findings = {suffix.lstrip("."): dict(one.findings) for suffix, one in tallies.items() if one.findings}
    print(json.dumps({"inputs": sum(runs.values()), "runs": runs, "findings": findings}))


if __name__ == "__main__":
    main()
