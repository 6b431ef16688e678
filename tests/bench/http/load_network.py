"""Provides a separate loopback interface, so that the report does not depend on the network
settings of this machine. Some machines use congestion control with pacing (BBR) even on the
loopback, which causes stalls of tens of milliseconds with every server."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
IFF_UP = 1
CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack("16sH22x", answer)[1] | IFF_UP
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags))


def enter():
    """If this process is root, moves it and its children to a network namespace that has only a
    loopback interface, and selects congestion control without pacing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        return
    raise_loopback()
    with open(CONTROL, "w", encoding="ascii") as file:
        file.write("reno")  # every kernel has it and permits it


def describe():
    """Returns a sentence for the report: which congestion control was used, and whether on the
    machine's own loopback."""
    with open(CONTROL, encoding="ascii") as file:
        control = file.read().strip()
    own = os.readlink("/proc/self/ns/net") != os.readlink(f"/proc/{os.getppid()}/ns/net")
    return f"{control}, {'a loopback of its own' if own else 'the loopback of the machine'}"
