"""Feedback to better choices: policies, trials that compare them, and the proof that a change makes nothing worse.

Pure functions of records; what is kept, and where, is known elsewhere.
"""
