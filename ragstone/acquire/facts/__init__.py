"""What a text tells of itself: language, dates, companies, topics, and who may read it. What can be filtered by?"""
