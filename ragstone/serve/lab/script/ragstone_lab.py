"""What Streamlit runs at each click; in a folder of its own, for that is put before all others to import from."""

from ragstone.serve.lab.screens.page import show

show()
