"""Writers of other tools' trace formats."""
