"""Answer from tables: which cells a question asks for, and how likely they are right.

`asked` reads the question, `features` compares it with every cell, `cell_model` and `lookup` choose the cells, and
`answer` shows them with their labels. `ranges` finds the row within whose range a number or day lies, `contradicted`
what another row has instead. `whole_table` reads all rows of a table, `named_rows` finds those that a question names,
and `whole` answers from them; `things` compares some rows.
Words for one thing, such as revenue and net sales, are in ``language/measures.yaml``.
"""

from ragstone.respond.tables.answer import TableReader, draft_of

__all__ = ["TableReader", "draft_of"]
