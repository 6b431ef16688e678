"""A loopback of one's own, so that the report does not depend on how this machine treats its network:
some pace even the loopback (BBR), which shows as stalls of tens of milliseconds in all servers."""

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
    """Where that is allowed, which takes root: from here on this process and what it starts are in a
    network namespace with nothing but a loopback, and congestion control that does not pace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        return
    raise_loopback()
    with open(CONTROL, "w", encoding="ascii") as file:
        file.write("reno")  # the one that every kernel has, and lets every namespace have


def describe():
    """For the reader: what paces, and whether the loopback is shared with the machine."""
    with open(CONTROL, encoding="ascii") as file:
        control = file.read().strip()
    own = os.readlink("/proc/self/ns/net") != os.readlink(f"/proc/{os.getppid()}/ns/net")
    return f"{control}, {'a loopback of its own' if own else 'the loopback of the machine'}"
