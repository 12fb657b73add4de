"""Recognise that a server refuses a prompt as longer than the model's window, in the words of any server."""

from __future__ import annotations

import re

_CODES = ("context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded")
_WORDS = re.compile(
    r"context[ _-]?(?:length|window|size|limit|overflow)|(?:max\w*|exceed\w*|longer than|available) (?:the )?context"
    r"|must be at least 1, got -\d"
    r"|max_model_len|max_seq_len|\bn_ctx\b|prompt (?:is |was )?too (?:long|large)|input (?:is |was )?too (?:long|large)"
    r"|too many (?:input |prompt )?tokens"
    r"|(?:input|prompt) (?:token count|tokens|length|exceeds)[^.]*(?:exceed|limit|max|<=)"
    r"|maximum (?:prompt|input|sequence) length|max(?:imum)? number of (?:input |allowed )?tokens"
    r"|length of prompt_tokens|request too large|token limit|when context the overflows"
    r"|reduce the (?:length|number) of (?:the )?(?:messages|prompt|input|tokens)|`?inputs`? tokens? \+ `?max_new_tokens"
    r"|(?:range|length) of (?:the )?input",
    re.IGNORECASE,
)
_LIMITS = (
    r"\d (?:tokens )?> (\d[\d,]*)",
    r"(\d[\d,]*) maximum context",
    r"(?:maximum|max)\w* (?:allowed )?(?:context|model|prompt|input|sequence)[ _]?\w*(?: length| size| limit| window)?"
    r"(?: of this model)?(?: is| of|:|=)? ?(?:only )?\(?(\d[\d,]*)",
    r"context (?:length|size|window|limit)(?: of| is|:)?(?: only)? ?\(?(\d[\d,]*)",
    r"(?:max_model_len|max_seq_len|n_ctx|slot context)\W{0,6}(\d[\d,]*)",
    r"(?:limit|maximum)(?: is| of|:|=)? ?(\d[\d,]*)",
    r"\[\d+, ?(\d+)\]",
    r"(?:<=|less than|at most|allowed \(|exceeds)(?: the)?(?: maximum| limit)?(?: number of tokens)?\D{0,20}(\d[\d,]*)",
)


def is_too_long(said: str, code: str = "") -> bool:
    """Return whether a refusal means that the prompt is too long."""
    return code in _CODES or bool(_WORDS.search(said))


def limit_in(said: str) -> int | None:
    """Return the window in tokens that a refusal states, or None."""
    for pattern in _LIMITS:
        if found := re.search(pattern, said, re.IGNORECASE):
            limit = int(found[1].replace(",", ""))
            if 128 <= limit <= 100_000_000:
                return limit
    return None
