"""Answers and feedback to judgement: measures, their certainty, and the data sets they are taken on."""
