"""What other programs import and people look at: subscribers, terminal views, reports."""
