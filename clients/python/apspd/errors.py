"""The exceptions. All are subclasses of ApspdError; those that report a refusal by the service
have its problem document."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any


class ApspdError(Exception):
    """The base of all exceptions of this package. `code` identifies the error for programs: it is
    defined by the service or by this package."""

    code = "Error"


class GraphError(ApspdError, ValueError):
    """The graph cannot be converted to an upload; nothing was sent."""

    code = "GraphError"


class ConnectionFailed(ApspdError, ConnectionError):
    """The service did not respond, even after several attempts."""

    code = "ConnectionFailed"


class ServiceError(ApspdError):
    """The service refused the request. `problem` is the problem document (RFC 9457), which
    has members such as `hint`, `limit` and `line` where they apply."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(problem)
        self.problem = dict(problem)
        self.status = int(problem.get("status") or 0)
        self.code = str(problem.get("code") or "UnexpectedAnswer")
        self.detail = str(problem.get("detail") or problem.get("title") or "")
        self.hint = str(problem.get("hint") or "")

    def __str__(self) -> str:
        return " ".join(filter(None, (f"{self.code}: {self.detail}", self.hint)))


class BadRequest(ServiceError):
    """400: a parameter is unknown or has an invalid value."""


class AccessDenied(ServiceError):
    """401 or 403: the key is missing, wrong, or does not permit this request."""


class NotFound(ServiceError):
    """404: there is no such graph or job."""


class NoSuchVertex(NotFound, KeyError):
    """404: the graph has no vertex with this label."""


class Conflict(ServiceError):
    """409 or 412: the state of the job, graph or result does not permit this request."""


class TooLarge(ServiceError):
    """413: the graph or body exceeds a limit; `problem` has `limit` and `actual`."""


class BadGraph(ServiceError):
    """422: the graph cannot be read; `problem` has `line` and `column` if the format has lines."""


class Busy(ServiceError):
    """429 or 503: the queue stayed full, or the service was not ready, for the whole waiting
    time."""


class JobFailed(ServiceError):
    """An accepted job has failed or was cancelled. `job` is its document."""

    def __init__(self, problem: Mapping[str, Any], job: dict[str, Any]) -> None:
        super().__init__(problem)
        self.job = job


class JobCancelled(JobFailed):
    """The job was cancelled."""


class NegativeCycle(JobFailed):
    """The graph has a cycle of negative length: `cycle` lists the labels of its vertices."""

    cycle: list[Hashable] = []


_BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequest, 401: AccessDenied, 403: AccessDenied, 404: NotFound, 409: Conflict,
    412: Conflict, 413: TooLarge, 422: BadGraph, 429: Busy, 503: Busy,
}  # fmt: skip


def error_of(status: int, body: bytes) -> ServiceError:
    """Returns the exception for a refusal. The body may come from a proxy and not be JSON."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    if not isinstance(problem, dict):
        words = body[:200].decode("utf-8", "replace") or "The response has no text that explains the error."
        problem = {"detail": words, "code": f"Http{status}"}
    if status == 401:
        problem = {**problem, "hint": "Pass a valid key to Client(), or set APSPD_KEY."}
    kind = _BY_STATUS.get(status, ServiceError)
    if problem.get("code") == "NoSuchVertex":
        kind = NoSuchVertex
    return kind({**problem, "status": status})
