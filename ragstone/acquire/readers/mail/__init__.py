"""E-mails and messages of Outlook."""
