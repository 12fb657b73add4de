"""The lab: a page in the browser to try settings on one's own questions, two at a time.

`desk` holds what is open, `screens` draws it with Streamlit, all else is pure: forms from the settings, an answer as it
grows, the table of stages, what a trial measured, plots. Text from documents and questions reaches the page only
through `markup`, which escapes it, never as Markdown.
"""
