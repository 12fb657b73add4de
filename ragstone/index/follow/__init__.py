"""Indexes that follow the catalog, whoever made them. What did this one miss, and can it be searched now?"""
