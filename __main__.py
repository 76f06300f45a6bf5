"""Lets ``python -m iotide`` stand for ``iotide``."""

from .cli.entry import main

main()
