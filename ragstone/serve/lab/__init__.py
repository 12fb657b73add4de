"""The lab: a page in the browser that compares two variants of the settings on one's own questions.

`desk` holds the open knowledge base, `screens` draws the pages with Streamlit, and everything else is pure. Texts of
documents and questions reach a page only through `report.markup`, which escapes them, never as Markdown.
"""
