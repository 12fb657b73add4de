"""Sources that are neither files on disk nor web sites: buckets, servers, repositories, mailboxes, databases, wikis."""
