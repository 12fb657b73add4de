"""The command line.

Exit codes: 0 done; 1 it could not be done; 2 what was asked cannot be done as asked; 130 stopped by Ctrl-C.
Modules beyond the standard library and typer are imported inside the commands, so that help comes at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

import ragstone
from ragstone.serve import failures
from ragstone.serve.commands import (
    agents,
    ask,
    care,
    change,
    engines,
    keep,
    keys,
    lab,
    look,
    measure,
    policy,
    policy_simulate,
    postgres,
    serving,
    use,
    worker,
)
from ragstone.serve.options import spelled_out

STOPPED = {
    "add": "stopped; what was reported as added is kept",
    "sync": "stopped; what was stored is kept, and the next sync goes on from there",
    "crawl": "stopped; what was stored is kept, and the next crawl goes on from there",
    "worker": "stopped; what was stored is kept",
    "rebuild": "stopped; the knowledge base is as it was, and the same rebuild goes on from here",
}

app = typer.Typer(
    help="Answers questions from your own documents and shows the exact words each answer rests on.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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


for command in (
    keep.add,
    keep.sync,
    keep.crawl,
    worker.worker,
    ask.ask,
    ask.chat,
    ask.search,
    ask.conversations,
    look.show,
    look.status,
    use.stats,
    use.feedback,
    keep.remove,
    look.settings,
    change.rebuild,
    change.cache,
    care.doctor,
    care.backup,
    care.restore,
    serving.serve,
    agents.mcp,
    postgres.postgres,
):
    app.command()(command)
app.command("eval")(measure.evaluate)
for command in (measure.sweep, measure.compare, measure.gate):
    app.command()(command)
app.command()(lab.lab)

app.add_typer(keys.app, name="key")
policy.app.command()(policy_simulate.simulate)
app.add_typer(policy.app, name="policy")
app.add_typer(engines.app, name="index")


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
        with command.make_context("ragstone", spelled_out(arguments)) as context:
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
