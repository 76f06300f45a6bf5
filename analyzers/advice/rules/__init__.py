"""Rules of advice. Each rule detects calls with one cause, and estimates how much of their time can be saved."""
