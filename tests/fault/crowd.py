"""Clients that hold connections open without using them, and normal clients at the same time."""

import http.client
import select
import socket
import threading
import time

SLOW_READER = "/v1/graphs/ring/matrix?format=csv"
OPENINGS = {
    "header": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Drip: ",
    "body": b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\np",
    "answer": f"GET {SLOW_READER} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
    "silent": b"",
    "segments": b"G",
}
# For a daemon with TLS: the beginning of a TLS record that never becomes complete.
HANDSHAKE = {"handshake": b"\x16\x03\x01\x02\x00"}


def ring(n):
    """Returns a graph whose matrix is larger than the socket buffers."""
    return f"p sp {n} {n}\n".encode() + b"".join(
        b"a %d %d 1000003\n" % (i + 1, (i + 1) % n + 1) for i in range(n))


class Attacker:
    def __init__(self, port, kind, source):
        self.kind = kind
        self.got = b""
        self.closed_s = None
        self.noticed_s = None  # set by the thread that checks all connections in turn
        self.began_s = None  # time at which the answer began to arrive
        self.socket = socket.socket()
        if kind == "answer":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.settimeout(600)
        self.opened_s = time.monotonic()
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall((OPENINGS | HANDSHAKE)[kind])
        self.socket.setblocking(False)
        self.poll = select.poll()
        self.poll.register(self.socket, 0)  # reports only the end of the connection

    def drip(self):
        """Sends one byte, if this kind sends, and receives one. Only by receiving does a slow
        reader notice that the connection ended while its buffer was full."""
        if self.poll.poll(0):
            self.end()
            return
        try:
            if self.kind != "silent":
                self.socket.send(b"a")
            part = self.socket.recv(1 if self.kind == "answer" else 4096)
            self.got = (self.got + part)[:4096]
            if not part:
                self.end()
        except BlockingIOError:
            pass
        except OSError:
            self.end()

    def end(self):
        if self.closed_s is None:
            self.closed_s = self.noticed_s or time.monotonic()
            self.socket.close()


class Crowd:
    """Attackers that alternate between the given kinds. A thread makes them drip until all
    connections are closed."""

    def __init__(self, port, count, kinds=tuple(OPENINGS), source=None, drip_s=0.5):
        self.attackers = []
        self.drip_s = drip_s
        self.error = None
        self.thread = threading.Thread(target=self.run, args=(port, count, kinds, source))
        self.opened = threading.Event()
        self.ends = select.epoll()
        self.by_number = {}
        self.thread.start()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def run(self, port, count, kinds, source):
        try:
            for i in range(count):
                one = Attacker(port, kinds[i % len(kinds)], source)
                self.attackers.append(one)
                number = one.socket.fileno()
                self.by_number[number] = one
                first = select.EPOLLIN if one.kind == "answer" else 0
                self.ends.register(number, select.EPOLLRDHUP | select.EPOLLONESHOT | first)
            self.opened.set()
            while any(one.closed_s is None for one in self.attackers):
                for one in self.attackers:
                    if one.closed_s is None:
                        one.drip()
                select.select([], [], [], self.drip_s)
        except Exception as error:  # reported by join()
            self.error = error
        finally:
            self.opened.set()

    def watch(self):
        """Records when answers begin and connections end. The dripping thread would notice this too
        late."""
        while self.thread.is_alive():
            for number, events in self.ends.poll(1):
                one = self.by_number[number]
                if events & (select.EPOLLRDHUP | select.EPOLLHUP):
                    one.noticed_s = time.monotonic()
                    continue
                one.began_s = time.monotonic()
                try:
                    self.ends.modify(number, select.EPOLLRDHUP | select.EPOLLONESHOT)
                except OSError:
                    pass  # the connection has ended

    def join(self):
        self.thread.join()
        self.watcher.join()
        self.ends.close()
        if self.error is not None:
            raise self.error

    def of(self, kind):
        return [one for one in self.attackers if one.kind == kind]


class Guests:
    """Threads that send queries on new and persistent connections until they are stopped."""

    def __init__(self, port, path, expected, count=4, pause_s=0.0):
        self.port, self.path, self.expected, self.pause_s = port, path, expected, pause_s
        self.latencies_s = []
        self.failures = []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = None
        while not self.stopped.is_set():
            began_s = time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
                connection.request("GET", self.path)
                response = connection.getresponse()
                body = response.read()
                if response.status != 200 or self.expected not in body:
                    self.failures.append((response.status, body[:200]))
            except OSError as error:
                self.failures.append(error)
                connection = None
            self.latencies_s.append(time.monotonic() - began_s)
            if connection is not None and number % 2 == 0:
                connection.close()
                connection = None
            self.stopped.wait(self.pause_s)
        if connection is not None:
            connection.close()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def quantile_ms(self, share):
        found = sorted(self.latencies_s)
        return 1000 * found[min(len(found) - 1, int(share * len(found)))]
