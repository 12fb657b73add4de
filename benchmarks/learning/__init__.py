"""Learning from votes, measured on simulated people: does it ever make anything worse, and how soon does it help?"""
