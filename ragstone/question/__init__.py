"""Question: a text to the record of what is asked, read once at the head of a turn.

`read` takes the text and the conversation before it, and returns a `ragstone.core.question.Question`. Everything behind
it (search, ranking, answers, judges) receives that record and never reads the text again.
"""

from ragstone.question.analysis import KINDS, kind
from ragstone.question.follow_up import rewritten
from ragstone.question.reading import ALONE, Context, read, read_again

__all__ = ["ALONE", "KINDS", "Context", "kind", "read", "read_again", "rewritten"]
