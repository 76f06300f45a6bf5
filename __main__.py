"""Lets ``python -m iotide`` stand for ``iotide``."""

from .cli.main import main

main()
