"""The command line.

Exit codes: 0 done; 1 it could not be done; 2 what was asked cannot be done as asked; 130 stopped by Ctrl-C.
Modules beyond the standard library and typer are imported inside the commands, so that help comes at once.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import ragstone
from ragstone.serve import failures, typed
from ragstone.serve.options import DEFAULT_KB, Asked, Explain, Json, Kb, Where, open_kb, with_settings

STOPPED = {
    "add": "stopped; what was reported as added is kept",
    "sync": "stopped; what was stored is kept, and the next sync goes on from there",
    "crawl": "stopped; what was stored is kept, and the next crawl goes on from there",
    "rebuild": "stopped; the knowledge base is as it was",
}

app = typer.Typer(
    help="Answers questions from your own documents and shows the exact words each answer rests on.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# ---------------------------------------------------------------- commands


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ragstone {ragstone.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")] = False,
) -> None:
    del version, debug  # the one has been obeyed, the other is read where errors are shown


@app.command()
@with_settings
def add(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or folders of files.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print 'added ID' for each document once it is safely stored.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read files and folders and store their documents.

    What is stored already and unchanged is left alone. Anything that cannot be read is reported and stops nothing.
    """
    from ragstone.engine import Engine
    from ragstone.serve import render, screen

    Engine.refuse_unreadable(sources)
    progress = screen.progress(verbose=verbose, ids_to=sys.stderr if as_json else None)
    with closing(asked.open(kb, create=True)) as engine, progress as told:
        report = asyncio.run(engine.add(sources, told))
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.report(report, str(kb)))
    if report.skipped and not report.added + report.updated + report.unchanged:
        raise typer.Exit(1)


@app.command()
@with_settings
def sync(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or folders of files.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on: look again whenever --every has passed.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="How often --watch looks.")] = 2.0,
    as_json: Json = False,
) -> None:
    """Make what is stored match the sources: add what is new, update what changed, remove what is gone.

    Files that are as they were are not read again. What cannot be read this time stays as it was stored.
    """
    from ragstone.engine import Engine
    from ragstone.errors import Locked, SourceError
    from ragstone.serve import render, screen

    Engine.refuse_unreadable(sources)
    with closing(asked.open(kb, create=not dry_run)) as engine:
        if dry_run:
            plan = asyncio.run(engine.plan(sources))
            screen.write_json(asdict(plan)) if as_json else screen.write(render.plan(plan))
            return
        first, trouble = True, ""
        while watch or first:
            try:
                with screen.progress() as told:
                    report = asyncio.run(engine.sync(sources, told))
                if first or report.added + report.updated + report.removed:
                    screen.write_json(asdict(report)) if as_json else screen.write(render.report(report, str(kb)))
                trouble = ""
            except (SourceError, Locked) as error:
                # Whoever watches waits: a file may be missing for a moment while it is written anew.
                if first:
                    raise
                if str(error) != trouble:
                    trouble = str(error)
                    failures.tell(trouble)
            first = False
            if watch:
                sys.stdout.flush()
                time.sleep(every)


@app.command()
@with_settings
def crawl(
    site: Annotated[str, typer.Argument(metavar="SITE", help="Name of a site in the settings, or its address.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    force: Annotated[bool, typer.Option("--force", help="Fetch pages that have not changed, too.")] = False,
    as_json: Json = False,
) -> None:
    """Follow a web site: store its pages, and the next time only what is new, changed or gone.

    Stays under the path of the start address, obeys robots.txt, and keeps a pace.
    """
    from ragstone.serve import render, screen

    with closing(asked.open(kb, create=True)) as engine, screen.crawling() as told:
        report = asyncio.run(engine.crawl(site, told, force=force))
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.report(report, str(kb)))


@app.command()
@with_settings
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with sources.

    Where the documents do not answer it, the answer says so.
    """
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen

    with closing(asked.open(kb)) as engine:
        answer = asyncio.run(engine.ask(typed.text(question), where))
        metadata = engine.settings.respond.metadata
    if as_json:
        screen.write_json(json.answer(answer, explain=explain))
        return
    screen.write(render.answer(answer, metadata=metadata, explain=explain))
    screen.write(render.notices(answer), sys.stderr)


@app.command()
@with_settings
def chat(asked: Asked, kb: Kb = DEFAULT_KB, where: Where = None) -> None:
    """Ask question after question.

    The command /help at the prompt lists the others. Questions can also be piped in, one a line.
    """
    from ragstone.serve.prompt import Chat

    Chat(lambda overrides: Asked(preset=asked.preset, overrides=(*overrides,)).open(kb), asked.overrides, where).run()


@app.command()
@with_settings
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="In quotes.", show_default=False)],
    asked: Asked,
    k: Annotated[int | None, typer.Option("-k", metavar="N", help="How many; rank.top_k if not given.")] = None,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """List the chunks that match best."""
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen

    with closing(asked.open(kb)) as engine:
        hits = asyncio.run(engine.search(typed.text(query), k, where))
    if as_json:
        found = [json.hit(hit, rank, explain=explain) for rank, hit in enumerate(hits, start=1)]
        screen.write_json({"query": typed.text(query), "hits": found})
    else:
        screen.write(render.hits(hits, explain=explain))


@app.command()
def show(
    document_id: Annotated[str, typer.Argument(metavar="DOCUMENT_ID", help="Or the end of it.", show_default=False)],
    span: Annotated[str | None, typer.Option(metavar="START:END", help="Only these characters.")] = None,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Print the text of a stored document, or the part that was cited."""
    from ragstone.serve import as_json as json
    from ragstone.serve import screen

    with closing(open_kb(kb)) as engine:
        document = engine.document(typed.text(document_id))
    part = typed.span(span, len(document.text))
    if as_json:
        screen.write_json(json.document(document, part))
    else:
        print(screen.printable(part.of(document.text)))


@app.command()
def status(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Say what a knowledge base holds, and what was skipped."""
    from ragstone.serve import render, screen

    with closing(open_kb(kb)) as engine:
        now = engine.status()
    if as_json:
        screen.write_json(asdict(now))
    else:
        screen.write(render.status(now))


@app.command()
def remove(
    document_ids: Annotated[list[str], typer.Argument(metavar="DOCUMENT_ID...", show_default=False)],
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Take documents out, all or none."""
    from ragstone.serve import screen

    with closing(open_kb(kb)) as engine:
        removed = engine.remove([typed.text(id) for id in document_ids])
    if as_json:
        screen.write_json({"removed": removed})
    else:
        screen.write([screen.line(f"removed {screen.one_line(id)}") for id in removed])


@app.command()
@with_settings
def settings(asked: Asked, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List every setting, its value, and where that comes from."""
    from ragstone.serve import render, screen
    from ragstone.serve.in_force import in_force

    rows = in_force(kb, asked.overrides, asked.preset)
    if as_json:
        screen.write_json({"settings": [asdict(row) for row in rows]})
    else:
        screen.write(render.settings(rows))


@app.command()
@with_settings
def rebuild(asked: Asked, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Cut and embed every document anew, with other settings.

    Questions are answered from the old version until the new one is whole.
    """
    from ragstone.serve import render, screen

    with closing(asked.open(kb, rebuilding=True)) as engine, screen.progress() as told:
        report = asyncio.run(engine.rebuild(asked.overrides, preset=asked.preset, on_progress=told))
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.report(report, str(kb)))


@app.command("eval")
@with_settings
def evaluate(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of a data set.", show_default=False)],
    asked: Asked,
    kb: Annotated[
        Path | None, typer.Option("--kb", metavar="DIR", help="Keep the knowledge base here for the next run.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many questions.")] = None,
    search_only: Annotated[bool, typer.Option("--search-only", help="Do not measure answers.")] = False,
    as_json: Json = False,
) -> None:
    """Measure search and answers on a data set."""
    from ragstone.experiment import evaluate_dataset
    from ragstone.serve import render, screen

    with screen.spinner("reading the data set") as told:
        run = evaluate_dataset(
            dataset,
            asked.overrides,
            preset=asked.preset,
            kb=kb,
            limit=limit,
            answers=not search_only,
            on_progress=told,
        )
        report = asyncio.run(run)
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.evaluation(report))


# ---------------------------------------------------------------- running


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit code. An error becomes one line on standard error."""
    # Starting threads for algebra costs more than one question's algebra does; the model has its own threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # What a stream cannot hold is shown as a question mark; it ends nothing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    command = typer.main.get_command(app)
    name = next((word for word in arguments if not word.startswith("-")), "")
    try:
        if not arguments:
            arguments = ["--help"]
        with command.make_context("ragstone", list(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
        return 0
    except typer.Exit as done:
        return done.exit_code
    except KeyboardInterrupt:
        failures.tell(STOPPED.get(name, "stopped"))
        return 130
    except BrokenPipeError:
        _let_go_of_output()  # whoever read it has seen enough
        return 141
    except Exception as error:
        if "--debug" in arguments[:1]:
            raise
        message, code = failures.explain(error)
        failures.tell(message)
        if isinstance(error, OSError):
            _let_go_of_output()
        return code


def _let_go_of_output() -> None:
    """What is still buffered must not be tried again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
