"""The service under a service manager: notifications, the watchdog, an inherited socket."""

import contextlib
import json
import os
import queue
import socket
import subprocess
import tempfile
import threading
import urllib.request

import harness
from test_watch import start_slow


class Manager:
    """Plays the part of systemd: a thread reads a datagram socket, whose address the next program
    started finds in its environment."""

    def __init__(self, **environment):
        self.folder = tempfile.TemporaryDirectory(prefix="apspd-test-")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.path.join(self.folder.name, "notify"))
        self.messages = queue.Queue()
        self.environment = {"NOTIFY_SOCKET": self.socket.getsockname(), **environment}

    def __enter__(self):
        os.environ.update(self.environment)
        threading.Thread(target=self.read, daemon=True).start()
        return self

    def read(self):
        while message := self.socket.recv(4096):
            self.messages.put(message.decode())

    def __exit__(self, *_):
        for name in self.environment:
            del os.environ[name]
        self.socket.shutdown(socket.SHUT_RD)  # ends the thread
        self.folder.cleanup()

    def hear(self):
        return dict(line.split("=", 1) for line in self.messages.get(timeout=600).split("\n"))


def test_the_service_manager_is_notified_of_startup_and_shutdown():
    with Manager() as manager, harness.Daemon("--jobs.drain_s", "7") as daemon:
        assert manager.hear() == {"READY": "1", "STATUS": f"listening on {daemon.url}"}
        daemon.terminate()
        told = manager.hear()
        assert told == {"STOPPING": "1", "STATUS": "draining", "EXTEND_TIMEOUT_USEC": "67000000"}, told


def test_the_watchdog_is_fed_during_a_solve():
    with Manager(WATCHDOG_USEC="100000") as manager, harness.Daemon("--jobs.drain_s", "0") as daemon:
        manager.hear()
        start_slow(daemon, 3)
        for _ in range(5):
            assert manager.hear() == {"READY": "1", "WATCHDOG": "1"}


def test_a_service_manager_that_reads_nothing_does_not_block_the_daemon():
    """The service answers and exits normally, and a manager that reads later still receives
    READY."""
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as filler:
        deaf.bind(os.path.join(folder, "notify"))
        deaf.settimeout(harness.PATIENCE_S)

        def fill():
            with contextlib.suppress(BlockingIOError):
                while True:
                    filler.sendto(b"STATUS=full", deaf.getsockname())

        fill()
        os.environ.update(NOTIFY_SOCKET=deaf.getsockname(), WATCHDOG_USEC="1000000")
        try:
            daemon = harness.Daemon()
        finally:
            del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
        with daemon:
            assert daemon.solve(harness.SMALL)["state"] == "done"
            while not deaf.recv(4096).startswith(b"READY=1"):
                pass
            fill()
            daemon.terminate()


def start_with_socket(listening, state, *arguments, stderr=subprocess.DEVNULL):
    """Starts apspd with descriptor 3 as systemd passes it, and sets LISTEN_PID to its process
    ID."""
    script = f'exec 3<&{listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$0" "$@"'
    return subprocess.Popen(
        ["sh", "-c", script, harness.BINARY, "--state-dir", state, *arguments],
        pass_fds=[listening.fileno()], stdout=subprocess.PIPE, stderr=stderr,
    )


def ask_through(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=600) as answer:
        return answer.status


def test_a_socket_that_overrides_the_address_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as listening, tempfile.TemporaryDirectory(prefix="apspd-test-") as state:
        process = start_with_socket(listening, state, "--listen", "127.0.0.1:1", stderr=subprocess.PIPE)
        assert process.stdout.readline(), process.stderr.read()
        process.terminate()
        log = [json.loads(line) for line in process.communicate()[1].splitlines()]
        told = [(line["level"], line["key"], line["in_file"]) for line in log if line["event"] == "setting_overridden"]
        assert told == [("warning", "listen", "127.0.0.1:1")], told


def test_an_inherited_socket_serves_two_daemons_in_turn():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as state:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        for _ in range(2):
            process = start_with_socket(listening, state, "--listen", "127.0.0.1:1")
            line = process.stdout.readline().decode()
            assert line == f"listening on http://127.0.0.1:{port}\n", line
            assert ask_through(port, "/readyz") == 200
            process.terminate()
            assert process.wait(harness.PATIENCE_S) == 0
            process.stdout.close()
            # Nobody accepts now, but the socket stays: the next daemon answers waiting clients.
            waiting = socket.create_connection(("127.0.0.1", port))
            waiting.close()
        listening.close()


def test_a_socket_of_another_type_is_refused():
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as state:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            process = start_with_socket(other, state)
            assert process.wait(harness.PATIENCE_S) == 78
            process.stdout.close()


if __name__ == "__main__":
    harness.run(globals())
