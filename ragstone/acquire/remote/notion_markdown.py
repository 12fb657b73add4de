"""Blocks of Notion as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.acquire.remote.replies import Json, inside, text_in

_HEADINGS = {"heading_1": "## ", "heading_2": "### ", "heading_3": "#### "}
"""One level lower than in Notion, because the title of the page is the first."""
_LISTS = {"bulleted_list_item": "- ", "numbered_list_item": "1. "}
_ADDRESSED = ("bookmark", "embed", "link_preview", "file", "pdf", "image", "video", "audio")


def words(rich_text: Sequence[Json]) -> str:
    """Return the words of a rich text, with its links and code as Markdown writes them."""
    parts = list[str]()
    for one in rich_text:
        text, link = text_in(one, "plain_text"), one.get("href")
        if inside(one, "annotations").get("code") and text.strip():
            text = f"`{text}`"
        parts.append(f"[{text}]({link})" if isinstance(link, str) and link.startswith("http") else text)
    return "".join(parts)


def block(content_block: Json, inside: str) -> str:
    """Return a block as Markdown; empty for one without words.

    Args:
        content_block: the block.
        inside: the Markdown of the blocks in it. Of a table it is the rows.
    """
    kind = text_in(content_block, "type")
    content: Json = content_block.get(kind) or {}
    text = words(content.get("rich_text", ()))
    match kind:
        case "heading_1" | "heading_2" | "heading_3":
            return _joined(f"{_HEADINGS[kind]}{text}" if text else "", inside)
        case "bulleted_list_item" | "numbered_list_item":
            return _item(_LISTS[kind], text, inside)
        case "to_do":
            return _item(f"- [{'x' if content.get('checked') else ' '}] ", text, inside)
        case "code":
            language = text_in(content, "language").replace("plain text", "")
            fence = "````" if "```" in text else "```"
            plain = "".join(text_in(part, "plain_text") for part in content.get("rich_text", ()))
            return f"{fence}{language}\n{plain}\n{fence}"
        case "quote" | "callout":
            return "\n".join(f"> {line}" for line in _joined(text, inside).splitlines())
        case "table_row":
            return f"| {' | '.join(words(cell).replace('|', '¦') for cell in content.get('cells', ()))} |"
        case "table":
            head, *rows = inside.splitlines() or [""]
            return "\n".join([head, "|" + " --- |" * max(1, int(content.get("table_width", 1))), *rows])
        case "equation":
            return text_in(content, "expression")
        case _ if kind in _ADDRESSED:
            return words(content.get("caption", ()))
        case _:
            return _joined(text, inside)


def together(blocks: Sequence[tuple[str, str]]) -> str:
    """Return blocks, given as kind and Markdown, below each other: items and rows close together, others apart."""
    out, before = "", ""
    for kind, text in blocks:
        if text:
            is_close = kind == before and (kind in _LISTS or kind in ("to_do", "table_row"))
            out += ("\n" if is_close else "\n\n") * bool(out) + text
            before = kind
    return out


def _item(mark: str, text: str, inside: str) -> str:
    lines = [f"{mark}{text}", *(f"    {line}" if line else "" for line in inside.splitlines())]
    return "\n".join(lines) if text or inside else ""


def _joined(text: str, inside: str) -> str:
    return f"{text}\n\n{inside}" if text and inside else text or inside
