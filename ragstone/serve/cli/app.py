"""The command line.

Exit codes: 0 done; 1 failed; 2 wrong usage; 130 stopped by Ctrl-C.
Modules beyond the standard library and typer are imported inside the commands, so that help is quick.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
import typer.core

import ragstone
from ragstone.serve.cli import (
    ask,
    documents,
    engines,
    history,
    keys,
    knowledge_base,
    measure,
    models,
    policy,
    research,
    serving,
    users,
    worker,
)
from ragstone.serve.cli.options import spelled_out

STOPPED = {
    "add": "stopped; documents reported as added are kept",
    "sync": "stopped; stored documents are kept, and the next sync continues from there",
    "crawl": "stopped; stored documents are kept, and the next crawl continues from there",
    "worker": "stopped; stored documents are kept",
    "rebuild": "stopped; the knowledge base is unchanged, and the same rebuild continues from here",
}
SECTIONS = {
    "Ask": ("ask", "chat", "research", "search", "show", "feedback", "models"),
    "Documents": ("add", "sync", "crawl", "list", "remove", "forget"),
    "Knowledge base": ("status", "settings", "presets", "rebuild", "history"),
    "Serve": ("serve", "worker", "mcp", "key", "user"),
    "Improve": ("eval", "lab", "policy"),
    "Maintain": ("doctor", "backup", "restore", "index", "postgres"),
}
"""The commands as ``ragstone --help`` lists them."""


class Sections(typer.core.TyperGroup):
    """The commands by their sections."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return [name for names in SECTIONS.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        for title, names in SECTIONS.items():
            with formatter.section(title):
                rows = [(name.ljust(8), self.commands[name].get_short_help_str(formatter.width)) for name in names]
                formatter.write_dl(rows)


def _new() -> typer.Typer:
    return typer.Typer(
        cls=Sections,
        help="Answer questions from your own documents, and show the exact words each answer rests on.",
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


app = _new()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ragstone {ragstone.__version__}")
        raise typer.Exit


@app.callback()
def _main(  # pyright: ignore[reportUnusedFunction] - typer calls it
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    del version, debug  # its callback prints the version; `run` looks for --debug


for command in (
    ask.ask,
    ask.chat,
    research.research,
    ask.search,
    models.models,
    documents.show,
    history.feedback,
    documents.add,
    documents.sync,
    documents.crawl,
    documents.remove,
    documents.forget,
    knowledge_base.status,
    knowledge_base.settings,
    knowledge_base.presets,
    knowledge_base.rebuild,
    serving.serve,
    worker.worker,
    serving.mcp,
    serving.lab,
    knowledge_base.doctor,
    knowledge_base.backup,
    knowledge_base.restore,
    engines.postgres,
):
    app.command()(command)
app.command("list")(documents.list_documents)

app.add_typer(history.app, name="history")
app.add_typer(keys.app, name="key")
app.add_typer(users.app, name="user")
app.add_typer(measure.app, name="eval")
app.add_typer(policy.app, name="policy")
app.add_typer(engines.app, name="index")


def main() -> None:
    # Importing makes many objects and no garbage, and looking for some each time is a tenth of a start.
    gc.set_threshold(50_000, 20, 20)
    if "_RAGSTONE_COMPLETE" in os.environ:  # a shell asks for completions
        typer.main.get_command(app).main(prog_name="ragstone")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error becomes one line on standard error."""
    from ragstone.serve.cli import advice, screen

    # Starting threads for algebra costs more than one question's algebra does; the model has its own threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Looking for plugins, pydantic reads the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A character that a stream cannot encode becomes a question mark instead of an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    name = next((word for word in arguments if not word.startswith("-")), "")
    command: Any = typer.main.get_command(_with_command(arguments))
    try:
        if not arguments:
            arguments = ["--help"]
        with command.make_context("ragstone", spelled_out(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
        return 0
    except typer.Exit as done:
        return done.exit_code
    except KeyboardInterrupt:
        screen.write_error(STOPPED.get(name, "stopped"))
        return 130
    except BrokenPipeError:
        _discard_output()  # the reader has closed the pipe
        return 141
    except Exception as error:
        if "--debug" in arguments[:1]:
            raise
        message, code = screen.explain(error)
        screen.write_error(advice.naming(message, advice.kb_of(arguments)))
        if isinstance(error, OSError):
            _discard_output()
        return code


def _with_command(arguments: Sequence[str]) -> typer.Typer:
    """Return the program with the one command that is called, or with all: preparing each takes half a millisecond."""
    name = next((word for word in arguments if word != "--debug"), "")
    called = [one for one in app.registered_commands if one.callback and name in (one.name, one.callback.__name__)]
    if not called:
        return app
    own = _new()
    own.registered_callback, own.registered_commands = app.registered_callback, called
    return own


def _discard_output() -> None:
    """Redirect standard output, so that buffered output is not written again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
