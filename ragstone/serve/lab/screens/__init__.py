"""The pages, drawn with Streamlit, which runs its script from the top at each click."""
