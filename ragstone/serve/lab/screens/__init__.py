"""What is drawn with Streamlit, a module a page. The script is run anew, from its top, at each click."""
