"""Language: everything that depends on a human language, one YAML file per language.

`lexicon` has the words of one language or of all together, `phrases` and `replies` have what Ragstone says, and
`language_of` tells the language of a question. `facts` reads the words, numbers and names of a text, `money` its
currencies, and `places` its countries. To add a language, add a file with the entries of ``en.yaml``.
"""

from ragstone.language.recognised import begins_a_question, language_of
from ragstone.language.texts import Drafts, Phrases, Replies, drafts, phrases, replies
from ragstone.language.words import Words, languages, lexicon, plain

__all__ = [
    "Drafts",
    "Phrases",
    "Replies",
    "Words",
    "begins_a_question",
    "drafts",
    "language_of",
    "languages",
    "lexicon",
    "phrases",
    "plain",
    "replies",
]
