"""Components of your own, each as short as it can be. `docs/extend.md` shows how to name and check them."""
