"""OTF2's C library, as the ``otf2`` package brings it: what reads traces, called without an object for each event."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

from ....events import UnavailableError

NONE_32: Final = 2**32 - 1
"""OTF2's "undefined" for references of 32 bits."""
NONE_64: Final = 2**64 - 1

_U8, _U32, _U64, _I64, _PLACE = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
_TEXT = ctypes.c_char_p
_EVENT_HEAD: Final = (_U64, _U64, _U64, _PLACE, _PLACE)
"""Location, time, position, our data, attributes."""
EVENTS: Final[dict[str, tuple[Any, ...]]] = {
    "Enter": (_U32,),
    "Leave": (_U32,),
    "IoCreateHandle": (_U32, _U8, _U32, _U32),
    "IoDestroyHandle": (_U32,),
    "IoDuplicateHandle": (_U32, _U32, _U32),
    "IoSeek": (_U32, _I64, _U8, _U64),
    "IoChangeStatusFlags": (_U32, _U32),
    "IoDeleteFile": (_U8, _U32),
    "IoOperationBegin": (_U32, _U8, _U32, _U64, _U64),
    "IoOperationIssued": (_U32, _U64),
    "IoOperationComplete": (_U32, _U64, _U64),
    "IoOperationCancelled": (_U32, _U64),
}
"""Event -> types of its fields after the attributes."""
DEFINITIONS: Final[dict[str, tuple[Any, ...]]] = {
    "ClockProperties": (_U64, _U64, _U64, _U64),
    "String": (_U32, _TEXT),
    "Attribute": (_U32, _U32, _U32, _U8),
    "SystemTreeNode": (_U32, _U32, _U32, _U32),
    "LocationGroup": (_U32, _U32, _U8, _U32, _U32),
    "LocationGroupProperty": (_U32, _U32, _U8, _U64),
    "Location": (_U64, _U32, _U8, _U64, _U32),
    "Region": (_U32, _U32, _U32, _U32, _U8, _U8, _U32, _U32, _U32, _U32),
    "IoParadigm": (_U8, _U32, _U32, _U8, _U32, _U8, _PLACE, _PLACE, _PLACE),
    "IoRegularFile": (_U32, _U32, _U32),
    "IoDirectory": (_U32, _U32, _U32),
    "IoFileProperty": (_U32, _U32, _U8, _U64),
    "IoHandle": (_U32, _U32, _U32, _U8, _U32, _U32, _U32),
    "IoPreCreatedHandleState": (_U32, _U8, _U32),
}
"""Definition -> types of its fields."""
_SIGNED: Final = {5: 8, 6: 16, 7: 32, 8: 64}
_UNSIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}
"""Type of an attribute -> its bits; what is neither is a reference of 32 bits."""


def load() -> Any:
    """Returns the package's lower module, whose functions have the names of the C library without ``OTF2_``.

    Raises:
        UnavailableError: the package is missing, or not one that can be used here.
    """
    try:
        import _otf2
    except ImportError:
        raise UnavailableError("OTF2 traces need the otf2 package: pip install 'iotide[otf2]'") from None
    except OSError as error:
        raise UnavailableError(f"the otf2 package cannot be used: {error}") from None
    _be_silent(_otf2)
    return _otf2


def callbacks(library: Any, kind: str, functions: dict[str, Callable[..., Any]]) -> tuple[Any, list[Any]]:
    """Makes the C library call Python for records.

    Args:
        library: OTF2's lower module.
        kind: ``EvtReader`` or ``GlobalDefReader``.
        functions: by name of the record, a key of ``EVENTS`` or ``DEFINITIONS``; called with all that C passes.

    Returns:
        The set of callbacks, to be registered, and what must be kept for as long as it is used.
    """
    made = getattr(library, f"{kind}Callbacks_New")()
    kept = []
    for name, function in functions.items():
        fields = (*_EVENT_HEAD, *EVENTS[name]) if kind == "EvtReader" else (_PLACE, *DEFINITIONS[name])
        callback = ctypes.CFUNCTYPE(ctypes.c_int, *fields)(function)
        kept.append(callback)
        setter = _address(library, f"OTF2_{kind}Callbacks_Set{name}Callback")
        ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, _PLACE)(setter)(ctypes.cast(made, _PLACE), ctypes.cast(callback, _PLACE))
    return made, kept


class Attributes:
    """Reads the attributes of events."""

    def __init__(self, library: Any) -> None:
        count = _address(library, "OTF2_AttributeList_GetNumberOfElements")
        self._count = ctypes.CFUNCTYPE(_U32, _PLACE)(count)
        get = _address(library, "OTF2_AttributeList_GetAttributeByIndex")
        self._get = ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, _U32, _PLACE, _PLACE, _PLACE)(get)
        self._attribute, self._type, self._value = _U32(), _U8(), _U64()
        self._places = [ctypes.addressof(each) for each in (self._attribute, self._type, self._value)]

    def read(self, attributes: int | None) -> dict[int, int] | None:
        """Returns number and value of each; None where there are none."""
        if not attributes or not (count := self._count(attributes)):
            return None
        found = {}
        for index in range(count):
            if not self._get(attributes, index, *self._places):
                found[self._attribute.value] = _value(self._type.value, self._value.value)
        return found


def _value(kind: int, value: int) -> int:
    bits = _UNSIGNED.get(kind) or _SIGNED.get(kind) or 32
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind in _SIGNED and value >> (bits - 1) else value


def _address(library: Any, name: str) -> int:
    return ctypes.cast(getattr(library.Config.conf.lib, name), _PLACE).value or 0


def _be_silent(library: Any) -> None:
    """Keeps OTF2 from writing lines of its own on standard error: what fails is raised."""
    if _kept:
        return
    callback = ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, _TEXT, _U64, _TEXT, ctypes.c_int, _TEXT, _PLACE)(
        lambda *arguments: int(arguments[4])
    )
    _kept.append(callback)
    register = ctypes.CFUNCTYPE(_PLACE, _PLACE, _PLACE)(_address(library, "OTF2_Error_RegisterCallback"))
    register(ctypes.cast(callback, _PLACE), None)


_kept: list[Any] = []
"""OTF2 may call it until the process ends."""
