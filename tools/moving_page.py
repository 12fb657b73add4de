"""Write docs/moving.md. ``make docs`` runs this; a test checks that the page is current."""

from __future__ import annotations

from pathlib import Path

from ragstone.settings.moving import moves

PAGE = Path(__file__).parent.parent / "docs" / "moving.md"
HEAD = """\
<!-- Written by tools/moving_page.py; run `make docs` after a change in ragstone/settings/moving.yaml. -->

# Moving from another system

Each built-in preset does the work of one kind of system. The tables below say what becomes of the commands, files,
variables, endpoints and settings of that system. `ragstone presets NAME` shows one: what it is, what it needs, what
replaces a part that is not installed or has no key here, and its table.

These environment variables and their values work as they are, in `.env` too: `OPENAI_API_KEY`, `OPENAI_BASE_URL`,
`AZURE_OPENAI_ENDPOINT`, `AZURE_OPENAI_API_KEY`, `AZURE_OPENAI_DEPLOYMENT`, `AZURE_EMBEDDING_DEPLOYMENT`, `LLM_MODEL`,
`EMBEDDING_MODEL`, `RERANKER_MODEL`, `CHUNK_SIZE`, `CHUNK_OVERLAP`, `TOP_K`, `RERANK_TOP_K`, `MAX_CONTEXT_TOKENS`,
`TEMPERATURE`, `TOP_P`, `EXA_API_KEY` and `DATABASE_URL`. [All names](settings.md).

`POST /query` also accepts `query` for the question, and `top_k`. Ragstone reads no index, cache or pickle of another
system: add the documents again. Embeddings of a paid service are then paid once more.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for name, move in moves().items():
        parts.append(f"\n## {move.title}: `{name}`\n\n| there | here |\n|---|---|\n")
        parts += [f"| {row.there} | {row.here} |\n" for row in move.rows]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")
