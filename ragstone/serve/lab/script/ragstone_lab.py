"""What Streamlit runs at each click. Its own folder, because Streamlit puts that first on the import path."""

from ragstone.serve.lab.screens.page import show

show()
