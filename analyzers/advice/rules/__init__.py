"""Rules of advice: each detects calls with one cause, and estimates how much of their time can be saved."""
