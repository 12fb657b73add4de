"""Reading documents: what good and damaged files give, which words are lost, and pages per second of CPU time.

``--peers PYTHON`` names an interpreter with other converters, which read the same files in the same run: markitdown,
and pypdf with python-docx.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import Options, Result, Table, main, peer_output, progress, skipped
from ragstone.acquire import read
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

KINDS = ("pdf", "docx", "pptx", "xlsx", "html", "ipynb", "epub")
PEERS = ("markitdown", "pypdf+python-docx")
OUTCOMES = ("parsed", "partial", "typed_errors", "crashed", "hung")
QUICK = 30
PAGE = 3000
"""The characters of a page in formats that have no pages."""
PEER_SECONDS = 300
TRUTH = ".truth.md"
"""The end of the name of the Markdown that people reviewed; before it stands the name of the file."""
WORST = 10
_WORD = re.compile(r"[^\W_]+")
_NO_WORDS = re.compile(r"<!--.*?-->|!\[[^]]*\]\([^)]*\)|(?<=\])\([^)]*\)", re.DOTALL)
"""Comments, pictures and addresses in Markdown."""
_ADDED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?<=\d{4}-\d\d-\d\d) 00:00:00"), ""),
    (re.compile(r"\[author: (.+?)(?: \(\w+\))?(?:, time: ([\d-]+)T[\d:.]+)?\](?=:)"), r"\1 \2"),
    (re.compile(r"^(?:Bar|Line|Pie|Area|Scatter|Other) chart$", re.MULTILINE), ""),
    (re.compile(r"- \[x\]"), "-"),
    (re.compile(r"(?<=\$)[^$\n]+(?=\$)"), lambda formula: re.sub(r"\\[a-zA-Z]+", " ", formula[0])),
    (re.compile(r"(?<=\|)( [^|\n]+\|)\1+"), r"\1"),
)
"""What docling adds to the words of a file: midnight after days, labels and times of day of comments, kinds of charts,
ticks as letters, commands of LaTeX, and the words of a cell again in each column that it spans."""
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
PEER = Path(__file__).with_name("parsing_peer.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a reviewed file, and how many of them Ragstone reads.

    ``own_words`` and ``own_read`` count only the words of the file itself, without those that docling adds.
    """

    file: Path
    words: int
    read: int
    own_words: int
    own_read: int

    @property
    def recall(self) -> float:
        return self.own_read / self.own_words


async def measure(options: Options) -> Result:
    folder = options.folder("parsing_corpus/dev")
    if folder is None:
        return skipped("parsing needs the files of parsing_corpus")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "expected")
    files = files[:: max(1, len(files) // QUICK)] if options.quick else files
    given = {path: read_one(path) for path in files}
    outcomes = Counter(outcome(one) for results in given.values() for one in results)
    speeds: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        paths = [path for path in files if path.suffix == f".{kind}" and _is_worth_timing(path, given[path])]
        if paths:
            progress(f"parsing: {len(paths)} files of {kind}")
            speeds[kind] = _speed(paths, options.peers, sum(_pages(one) for path in paths for one in given[path]))
    reviewed = options.folder("fixtures/docling")
    sources = sorted(reviewed.rglob(f"*{TRUTH}")) if reviewed else []
    return summary(given, outcomes, speeds, [*map(words_of, sources[:: QUICK // 3 if options.quick else 1])])


def words_of(truth: Path) -> Words:
    """Return how many of the words of a reviewed Markdown file are read from its source."""
    file = truth.with_name(truth.name.removesuffix(TRUTH))
    markdown = _NO_WORDS.sub(" ", truth.read_text(encoding="utf-8"))
    own = markdown
    for pattern, replacement in _ADDED:
        own = pattern.sub(replacement, own)
    wanted, needed = (_counted(html.unescape(text)) for text in (markdown, own))
    given = _counted("\n".join(f"{one.title}\n{one.text}" for one in read_one(file) if isinstance(one, Document)))
    return Words(
        file=file,
        words=wanted.total(),
        read=(wanted & given).total(),
        own_words=needed.total(),
        own_read=(needed & given).total(),
    )


def _counted(text: str) -> Counter[str]:
    on_the_line = _RAISED.sub(lambda raised: f" {unicodedata.normalize('NFKC', raised[0])}", text)
    return Counter(word.lower() for word in _WORD.findall(on_the_line))


def read_one(path: Path) -> list[Document | Skipped]:
    results = read(str(path), AcquireSettings(), base=path.parent)
    return [one for one in results if isinstance(one, Document | Skipped)]


def outcome(result: Document | Skipped) -> str:
    if isinstance(result, Document):
        return "partial" if "partial" in result.metadata else "parsed"
    if result.reason.startswith("crashed"):
        return "crashed"
    return "hung" if "took more" in result.reason else "typed_errors"


def _is_worth_timing(path: Path, results: Sequence[Document | Skipped]) -> bool:
    """Return whether a file is readable and more than a line; the hand-made damaged ones are not."""
    return path.stat().st_size > 1000 and all(isinstance(one, Document) for one in results)


def _pages(result: Document | Skipped) -> float:
    if isinstance(result, Skipped):
        return 0
    return float(str(result.metadata.get("pages", max(1, round(len(result.text) / PAGE)))))


def _speed(paths: Sequence[Path], peers: str, pages: float) -> dict[str, Any]:
    """Return the pages per CPU second of Ragstone and, with peers, how many times those of others."""
    ours = _cpu_seconds(sys.executable, "ragstone", paths) or 1e-9
    others = {name: _cpu_seconds(peers, name, paths) for name in PEERS if peers}
    return {
        "files": len(paths),
        "pages": round(pages),
        "pages_per_cpu_s": round(pages / ours, 1),
        "ratio": {name: round(took / ours, 2) for name, took in others.items() if took is not None},
    }


def _cpu_seconds(python: str, name: str, paths: Sequence[Path]) -> float | None:
    """Time a converter in a new process; return None if it is not installed, cannot read the kind, or is too slow."""
    printed = peer_output(python, PEER, name, paths, seconds=PEER_SECONDS)
    if printed is None:
        return None
    seconds, failed = printed.split()[-2:]
    if int(failed):
        progress(f"parsing: {name} failed on {failed} of {len(paths)} files")
    return float(seconds)


def summary(
    given: Mapping[Path, Sequence[Document | Skipped]],
    outcomes: Mapping[str, int],
    speeds: Mapping[str, Any],
    reviewed: Sequence[Words],
) -> Result:
    """Return what became of the files, the speeds, the words that are read, and why files gave nothing."""
    families: dict[str, list[Words]] = {}
    for one in reviewed:
        if one.own_words:
            families.setdefault(one.file.parent.name, []).append(one)
    recall = {
        name: (
            sum(one.read for one in files) / sum(one.words for one in files),
            sum(one.own_read for one in files) / sum(one.own_words for one in files),
        )
        for name, files in families.items()
    }
    worst = sorted((one for files in families.values() for one in files), key=lambda one: one.recall)[:WORST]
    names = [name for name in PEERS if any(name in one["ratio"] for one in speeds.values())]
    rows = [
        [
            kind,
            str(one["files"]),
            str(one["pages"]),
            f"{one['pages_per_cpu_s']:.0f}",
            *(f"{one['ratio'][name]:.1f}" if name in one["ratio"] else "-" for name in names),
        ]
        for kind, one in speeds.items()
    ]
    refused = Counter(one.reason for results in given.values() for one in results if isinstance(one, Skipped))
    columns = ["kind", "files", "pages", "ragstone", *(f"times {name}" for name in names)]
    return Result(
        figures={
            "files": len(given),
            **{name: outcomes.get(name, 0) for name in OUTCOMES},
            "speed": speeds,
            "recall": {name: round(share, 4) for name, (share, _) in recall.items()},
            "own_recall": {name: round(share, 4) for name, (_, share) in recall.items()},
        },
        tables=[
            Table(
                title="What became of the files",
                columns=["outcome", "files"],
                rows=[[name, str(outcomes.get(name, 0))] for name in OUTCOMES],
            ),
            Table(title="Pages per second of CPU time, and how many times those of others", columns=columns, rows=rows),
            Table(
                title="Words of docling's reviewed files that are read",
                columns=["family", "files", "words", "recall", "without what docling adds"],
                rows=[
                    [
                        name,
                        str(len(files)),
                        f"{sum(one.words for one in files):,}",
                        *(f"{one:.3f}" for one in recall[name]),
                    ]
                    for name, files in families.items()
                ],
            ),
            Table(
                title="The files of which the fewest words are read",
                columns=["file", "words", "recall"],
                rows=[
                    [f"{one.file.parent.name}/{one.file.name}", f"{one.own_words:,}", f"{one.recall:.3f}"]
                    for one in worst
                ],
            ),
            Table(
                title="Why files were refused",
                columns=["reason", "files"],
                rows=[[reason, str(count)] for reason, count in refused.most_common()],
            ),
        ],
        notes=[] if names else ["No ratio to other converters: name an interpreter that has them with --peers PYTHON."],
    )


if __name__ == "__main__":
    main({"parsing": measure}, "parsing")
