"""Parts that other programs import or users look at: subscribers, terminal views, reports."""
