"""Prediction of the next phase from past phases."""
