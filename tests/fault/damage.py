"""Damage to files of the state directory, while it is at rest or while it is mapped."""

import os
import random


def places(size):
    """Every class of byte position: the ends, the header, block boundaries, the middle."""
    block = 1 << 18
    chosen = {0, 1, 8, 64, 127, 128, 129, size // 2, size - 1, size - 8, size - 9}
    chosen |= {at + by for at in range(block, size, block) for by in (-1, 0, 1)}
    return sorted(at for at in chosen if 0 <= at < size)


def flip(path, at, mask=0x40):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


def zero(path, at, count=4096):
    """A lost block; True if that changed anything."""
    with open(path, "r+b") as file:
        file.seek(at)
        before = file.read(count)
        file.seek(at)
        file.write(b"\0" * len(before))
    return before.strip(b"\0") != b""


def exchange(path, other):
    """Each gets the other's content."""
    with open(path, "rb") as file:
        first = file.read()
    with open(other, "rb") as file:
        second = file.read()
    for name, content in ((path, second), (other, first)):
        with open(name, "r+b") as file:
            file.truncate(0)
            file.write(content)
    return first != second


def choose(chooser, path, other):
    """Does one damage; what it was, or None when nothing has changed."""
    size = os.path.getsize(path)
    kind = chooser.choice(("flip",) * 6 + ("flip anywhere",) * 6 + ("cut", "zero", "exchange", "longer"))
    if kind == "flip":
        at = chooser.choice(places(size))
        flip(path, at, 1 << chooser.randrange(8))
        return f"flip {at} of {size}"
    if kind == "flip anywhere":
        at = chooser.randrange(size)
        flip(path, at, 1 << chooser.randrange(8))
        return f"flip {at} of {size}"
    if kind == "cut":
        at = chooser.randrange(size)
        cut(path, at)
        return f"cut to {at} of {size}"
    if kind == "zero":
        at = chooser.randrange(size)
        return f"zero {at} of {size}" if zero(path, at) else None
    if kind == "longer":
        with open(path, "ab") as file:
            file.write(os.urandom(chooser.randrange(1, 5000)))
        return f"longer than {size}"
    return "exchange" if exchange(path, other) else None


def chooser(seed):
    return random.Random(seed)
