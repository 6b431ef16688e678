"""Web servers besides the service: sites of other origins, and servers to which the service's
clients connect."""

import contextlib
import functools
import http.server
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class AppHandler(Handler):
    """Serves an empty page, and the files of a folder."""

    def do_GET(self):
        if self.path == "/":
            self.send(200, {"Content-Type": "text/html"}, b"<!doctype html><title>app</title>")
        else:
            super().do_GET()


@contextlib.contextmanager
def serving(handler, host="127.0.0.1"):
    """Runs a web server on a free port."""
    with http.server.ThreadingHTTPServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def app(folder):
    """Runs a site with an empty page and these files; yields its port."""
    with serving(functools.partial(AppHandler, directory=folder)) as server:
        yield server.server_port
