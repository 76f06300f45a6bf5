"""The rules of advice: each finds calls with one cause, and what of their time can be saved."""
