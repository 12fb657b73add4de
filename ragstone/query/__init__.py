"""Query: a question to candidates, the chunks that might answer it.

A question is understood (`understand`), searched for by several legs (`gather`), and their results are fused (`fuse`).
To add a fusion rule, see `ragstone.query.fuse`.
"""

from ragstone.query.analysis import KINDS, analyse, kind
from ragstone.query.courtesy import without_courtesy
from ragstone.query.follow_up import context, may_depend_on_context, refers_back, rewritten, to_read
from ragstone.query.fuse import Fused, fuse
from ragstone.query.gather import CONTEXT, above, allocate, by_document, further_legs, gather, leg_of
from ragstone.query.named import NamedDocument, named_documents, naming_words, without_name
from ragstone.query.reports import NamedReport, named_report
from ragstone.query.talk import Talk, names_something, talk_of
from ragstone.query.talk.classifier import embedder_of, is_short, talk_by_meaning
from ragstone.query.tasks import Task, task_of
from ragstone.query.understand import understand
from ragstone.query.web import build_web_search, why_search, with_web
from ragstone.query.where import describe, parse, refuse_foreign_groups, refuse_paths, refuse_unknown_fields

__all__ = [
    "CONTEXT",
    "KINDS",
    "Fused",
    "NamedDocument",
    "NamedReport",
    "Talk",
    "Task",
    "above",
    "allocate",
    "analyse",
    "build_web_search",
    "by_document",
    "context",
    "describe",
    "embedder_of",
    "further_legs",
    "fuse",
    "gather",
    "is_short",
    "kind",
    "leg_of",
    "may_depend_on_context",
    "named_documents",
    "named_report",
    "names_something",
    "naming_words",
    "parse",
    "refers_back",
    "refuse_foreign_groups",
    "refuse_paths",
    "refuse_unknown_fields",
    "rewritten",
    "talk_by_meaning",
    "talk_of",
    "task_of",
    "to_read",
    "understand",
    "why_search",
    "with_web",
    "without_courtesy",
    "without_name",
]
