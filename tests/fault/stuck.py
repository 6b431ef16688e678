"""A file whose reads block until a test releases them. It is the only file of a user space file
system (linux/fuse.h) that this process serves. A killed reader stays in state D, like a process
whose driver call does not return: the kernel waits until the file system answers the read."""

import contextlib
import ctypes
import errno
import os
import struct
import threading

DEVICE = "/dev/fuse"
NAME = b"call"
ROOT, FILE = 1, 2
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 14, 15, 18, 25, 26, 36, 42)
REQUEST = struct.Struct("=IIQQ16x")  # length, operation, number, inode
VERSION = 7, 31
DIRECT = 1
DETACH = 2
PATIENCE_S = 600


def attributes_of(node):
    mode, links = (0o40755, 2) if node == ROOT else (0o100444, 1)
    return struct.pack("=6Q10I", node, 4096, 8, 0, 0, 0, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)


def holds(process):
    """Returns whether the process still has a thread in state D, which a kill does not end."""
    letters = []
    with contextlib.suppress(FileNotFoundError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{process}/task/{thread}/stat") as file:
                    letters.append(file.read().rpartition(")")[2].split()[0])
    return "D" in letters


class Mount:
    def __init__(self, path):
        os.mkdir(path)
        self.folder = path
        self.path = os.path.join(path, NAME.decode())
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0".encode()
        if self.libc.mount(b"stuck", path.encode(), b"fuse", 0, options) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        self.reads = []
        self.changed = threading.Condition()
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def answer(self, number, body=b"", error=0):
        with contextlib.suppress(FileNotFoundError):  # the reader may have ended
            os.write(self.device, struct.pack("=IiQ", 16 + len(body), -error, number) + body)

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 18)
            except OSError as failure:
                if failure.errno in (errno.ENOENT, errno.EINTR):
                    continue
                return  # the file system is unmounted, and all readers have closed the file
            _, what, number, node = REQUEST.unpack_from(request)
            self.serve_one(what, number, node, request[REQUEST.size :])

    def serve_one(self, what, number, node, body):
        if what == INIT:
            self.answer(number, struct.pack("=4I2H2I2HI28x", *VERSION, 4096, 0, 8, 6, 4096, 1, 0, 0, 0))
        elif what == LOOKUP and body == NAME + b"\0":
            self.answer(number, struct.pack("=4Q2I", FILE, 0, 60, 60, 0, 0) + attributes_of(FILE))
        elif what == LOOKUP:
            self.answer(number, error=errno.ENOENT)
        elif what == GETATTR:
            self.answer(number, struct.pack("=Q2I", 60, 0, 0) + attributes_of(node))
        elif what == OPEN:
            self.answer(number, struct.pack("=Q2I", 0, DIRECT, 0))
        elif what == READ:
            with self.changed:
                self.reads.append(number)
                self.changed.notify_all()
        elif what == RELEASE:
            self.answer(number)
        elif what not in (FORGET, BATCH_FORGET, INTERRUPT):
            self.answer(number, error=errno.ENOSYS)

    def wait_for_read(self):
        """Waits until a reader is blocked in a read."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.reads, PATIENCE_S), "nobody read the file"

    def release(self):
        """Releases all blocked reads."""
        with self.changed:
            reads, self.reads = self.reads, []
        for number in reads:
            self.answer(number)

    def close(self):
        self.release()
        self.libc.umount2(self.folder.encode(), DETACH)
        self.server.join()
        os.close(self.device)
