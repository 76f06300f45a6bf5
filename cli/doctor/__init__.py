"""``iotide doctor``: what works on a machine."""
