"""Callbacks from OTF2's C library while it reads a trace, without an object per event."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

from ....events.otf2_library import EVENTS, U8, U32, U64, address

_PLACE, _TEXT = ctypes.c_void_p, ctypes.c_char_p
_EVENT_HEAD: Final = (U64, U64, U64, _PLACE, _PLACE)
"""Location, time, position, user data, attributes."""
DEFINITIONS: Final[dict[str, tuple[Any, ...]]] = {
    "ClockProperties": (U64, U64, U64, U64),
    "String": (U32, _TEXT),
    "Attribute": (U32, U32, U32, U8),
    "SystemTreeNode": (U32, U32, U32, U32),
    "LocationGroup": (U32, U32, U8, U32, U32),
    "LocationGroupProperty": (U32, U32, U8, U64),
    "Location": (U64, U32, U8, U64, U32),
    "Region": (U32, U32, U32, U32, U8, U8, U32, U32, U32, U32),
    "IoParadigm": (U8, U32, U32, U8, U32, U8, _PLACE, _PLACE, _PLACE),
    "IoRegularFile": (U32, U32, U32),
    "IoDirectory": (U32, U32, U32),
    "IoFileProperty": (U32, U32, U8, U64),
    "IoHandle": (U32, U32, U32, U8, U32, U32, U32),
    "IoPreCreatedHandleState": (U32, U8, U32),
}
"""Definition -> types of its fields."""
_SIGNED: Final = {5: 8, 6: 16, 7: 32, 8: 64}
_UNSIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}
"""Type of an attribute -> its number of bits. Other types are references of 32 bits."""


def callbacks(library: Any, kind: str, functions: dict[str, Callable[..., Any]]) -> tuple[Any, list[Any]]:
    """Register Python functions as callbacks for records.

    Args:
        library: OTF2's lower module.
        kind: ``EvtReader`` or ``GlobalDefReader``.
        functions: functions by name of the record, a key of ``EVENTS`` or ``DEFINITIONS``; called with all C arguments.

    Returns:
        The set of callbacks to register, and objects that must be kept alive while it is used.
    """
    made = getattr(library, f"{kind}Callbacks_New")()
    kept = []
    for name, function in functions.items():
        fields = (*_EVENT_HEAD, *EVENTS[name]) if kind == "EvtReader" else (_PLACE, *DEFINITIONS[name])
        callback = ctypes.CFUNCTYPE(ctypes.c_int, *fields)(function)
        kept.append(callback)
        setter = address(library, f"OTF2_{kind}Callbacks_Set{name}Callback")
        ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, _PLACE)(setter)(ctypes.cast(made, _PLACE), ctypes.cast(callback, _PLACE))
    return made, kept


class Attributes:
    """Reads the attributes of events."""

    def __init__(self, library: Any) -> None:
        count = address(library, "OTF2_AttributeList_GetNumberOfElements")
        self._count = ctypes.CFUNCTYPE(U32, _PLACE)(count)
        get = address(library, "OTF2_AttributeList_GetAttributeByIndex")
        self._get = ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, U32, _PLACE, _PLACE, _PLACE)(get)
        self._attribute, self._type, self._value = U32(), U8(), U64()
        self._places = [ctypes.addressof(each) for each in (self._attribute, self._type, self._value)]

    def read(self, attributes: int | None) -> dict[int, int] | None:
        """Return attribute numbers and values; None if there are none."""
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
