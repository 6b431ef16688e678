"""Exchanges with the service, as generators that do no input or output themselves: they yield
a Request, or the seconds of a pause, and receive the Reply. Client and AsyncClient run them."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar, Union
from urllib.parse import quote

from .errors import Conflict, ConnectionFailed, ServiceError, error_of

T = TypeVar("T")

# Maximum size in bytes of an answer that is read into memory, unless the caller knows its size.
BODY_LIMIT = 1 << 30
# Pauses in seconds before a request without an answer is repeated. Every request may be repeated:
# a submission has an idempotency key, with which the service returns the same job again.
BREAK_PAUSES_S = (0.1, 0.3, 1.0, 2.0)


@dataclass
class Request:
    method: str
    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | pathlib.Path = b""
    sink: pathlib.Path | None = None  # the file to which the answer's body is appended
    limit: int = BODY_LIMIT  # maximum size of the answer; exact size of the file

    def options(self) -> dict[str, Any]:
        """Returns the arguments of httpx's stream(). They are computed for each attempt, because
        the files may have grown since the last one."""
        headers = dict(self.headers)
        if isinstance(self.body, pathlib.Path):
            headers["Content-Length"] = str(self.body.stat().st_size)
        if self.sink is not None and size_of(self.sink) > 0:
            headers["Range"] = f"bytes={size_of(self.sink)}-"
        query = self.parameters
        return {"method": self.method, "url": self.path, "params": query, "headers": headers}


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes | bytearray = b""


# The generators receive an Exception instead of a Reply if no answer or only part of it arrived.
Steps = Generator[Union[Request, float], Union[Reply, Exception, None], T]


def size_of(path: pathlib.Path) -> int:
    return path.stat().st_size if path.exists() else 0


def unexpected(detail: str) -> ServiceError:
    return ServiceError({"code": "UnexpectedAnswer", "detail": detail})


def open_sink(request: Request, status: int, headers: Mapping[str, str]) -> BinaryIO:
    """Opens the file to which a response with status 200 or 206 is written. A 206 is appended to
    the file, a 200 replaces its content. If the path is a symbolic link, opening fails."""
    assert request.sink is not None
    have, size = size_of(request.sink), request.limit
    is_rest = headers.get("Content-Range") == f"bytes {have}-{size - 1}/{size}"
    if headers.get("ETag") != request.headers["If-Match"] or (status == 206 and not is_rest):
        raise unexpected("The response is not the requested part of the matrix.")
    flags = os.O_WRONLY | os.O_CREAT | (0 if status == 206 else os.O_TRUNC)
    sink = os.fdopen(os.open(request.sink, flags | getattr(os, "O_NOFOLLOW", 0), 0o666), "wb")
    sink.seek(0, os.SEEK_END)
    return sink


def count_down(left: int, piece: bytes) -> int:
    """Returns how many bytes may follow this piece of a response."""
    if len(piece) > left:
        raise unexpected("The response is longer than expected.")
    return left - len(piece)


def document_of(reply: Reply, **members: type) -> dict[str, Any]:
    """Returns the JSON object in a response after checking that it has members of these types."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not all(
        isinstance(document.get(name), kind) for name, kind in members.items()
    ):
        raise unexpected("The response is not what apspd returns for this request.")
    return document


def job_of(reply: Reply) -> dict[str, Any]:
    """Returns the document of a job."""
    return document_of(reply, id=str, state=str, graph=str)


def exchange(request: Request, patience_s: float) -> Steps[Reply]:
    """Returns the response, after several attempts if necessary; raises ServiceError if the service
    refuses the request."""
    waited_s, breaks = 0.0, 0
    while True:
        reply = yield request
        if isinstance(reply, Reply):
            if reply.status < 300:
                return reply
            after = reply.headers.get("Retry-After", "")
            pause_s = float(after) if after.isdecimal() else 1.0
            waited_s += pause_s
            if reply.status not in (429, 503) or waited_s > patience_s:
                raise error_of(reply.status, reply.body)
        else:
            if breaks == len(BREAK_PAUSES_S):
                raise ConnectionFailed(f"No response from the service: {reply}") from reply
            pause_s = BREAK_PAUSES_S[breaks]
            breaks += 1
        yield pause_s


def download(path: str, target: pathlib.Path, patience_s: float) -> Steps[None]:
    """Downloads a response with an ETag into a file. If an earlier attempt left a part of the same
    response, the download continues there; the file gets its final name when it is complete."""
    head = yield from exchange(Request("HEAD", path), patience_s)
    etag, length = head.headers.get("ETag", ""), head.headers.get("Content-Length", "")
    if not etag or not length.isdecimal():
        raise unexpected("The response has no ETag or no Content-Length.")
    size = int(length)
    part = target.with_name(f"{target.name}.{quote(etag.strip(chr(34)), safe='')}.part")
    request = Request("GET", path, headers={"If-Match": etag}, sink=part, limit=size)
    if size_of(part) > size:
        part.unlink()
    while (before := size_of(part)) < size:
        try:
            yield from exchange(request, patience_s)
            if size_of(part) != size:
                raise unexpected("The response ended too early.")
        except ConnectionFailed:
            if size_of(part) == before:
                raise
        except Conflict:  # the graph was solved again meanwhile
            part.unlink(missing_ok=True)
            yield from download(path, target, patience_s)
            return
    part.replace(target)
