"""``iotide doctor``: checks of an installation."""
