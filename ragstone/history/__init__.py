"""The record of people's use: conversations, answers, votes, statistics, costs, keys and users."""
