"""How directly-follows graphs are shown: pictures, pages, tables, other tools' formats."""
