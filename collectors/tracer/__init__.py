"""How a program is traced: its environment and the libraries in it."""
