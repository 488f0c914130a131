"""MurmurHash3 in Python, for the one file: a compiled module cannot be imported from it.

Source: Austin Appleby, MurmurHash3, public domain. It has what the package uses of mmh3, and gives
the same numbers (tests/drop_in/test_one_file.py).
"""

from __future__ import annotations

_MASK_64 = (1 << 64) - 1
_MASK_32 = (1 << 32) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def hash64(key: str | bytes, seed: int = 0, *, signed: bool = True) -> tuple[int, int]:
    """Return the two halves of the 128-bit hash for 64-bit machines."""
    data = key.encode() if isinstance(key, str) else bytes(key)
    length = len(data)
    h1 = h2 = seed
    whole = length & ~15
    for start in range(0, whole, 16):
        h1 ^= _first(int.from_bytes(data[start : start + 8], "little"))
        h1 = (_rotated(h1, 27) + h2) * 5 + 0x52DCE729 & _MASK_64
        h2 ^= _second(int.from_bytes(data[start + 8 : start + 16], "little"))
        h2 = (_rotated(h2, 31) + h1) * 5 + 0x38495AB5 & _MASK_64
    h1 ^= _first(int.from_bytes(data[whole : whole + 8], "little"))
    h2 ^= _second(int.from_bytes(data[whole + 8 :], "little"))
    h1, h2 = h1 ^ length, h2 ^ length
    h1 = h1 + h2 & _MASK_64
    h2 = h2 + h1 & _MASK_64
    h1, h2 = _mixed(h1), _mixed(h2)
    h1 = h1 + h2 & _MASK_64
    h2 = h2 + h1 & _MASK_64
    return (_signed(h1, 64), _signed(h2, 64)) if signed else (h1, h2)


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 64 - bits) & _MASK_64


def _first(block: int) -> int:
    return _rotated(block * _C1 & _MASK_64, 31) * _C2 & _MASK_64


def _second(block: int) -> int:
    return _rotated(block * _C2 & _MASK_64, 33) * _C1 & _MASK_64


def _mixed(number: int) -> int:
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCD & _MASK_64
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53 & _MASK_64
    return number ^ number >> 33


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> bits - 1 else number


def hash_bytes(key: str | bytes, seed: int = 0) -> bytes:
    """Return the 128-bit hash as bytes."""
    low, high = hash64(key, seed, signed=False)
    return (high << 64 | low).to_bytes(16, "little")


def hash128(key: str | bytes, seed: int = 0, *, signed: bool = False) -> int:
    """Return the 128-bit hash as a number."""
    low, high = hash64(key, seed, signed=False)
    number = high << 64 | low
    return _signed(number, 128) if signed else number


def hash(key: str | bytes, seed: int = 0, *, signed: bool = True) -> int:
    """Return the 32-bit hash."""
    data = key.encode() if isinstance(key, str) else bytes(key)
    number = seed & _MASK_32
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        number ^= _scrambled(int.from_bytes(data[start : start + 4], "little"))
        number = (number << 13 | number >> 19) * 5 + 0xE6546B64 & _MASK_32
    number ^= _scrambled(int.from_bytes(data[whole:], "little")) ^ len(data)
    number = (number ^ number >> 16) * 0x85EBCA6B & _MASK_32
    number = (number ^ number >> 13) * 0xC2B2AE35 & _MASK_32
    number ^= number >> 16
    return _signed(number, 32) if signed else number


def _scrambled(block: int) -> int:
    block = block * 0xCC9E2D51 & _MASK_32
    return (block << 15 | block >> 17) * 0x1B873593 & _MASK_32
