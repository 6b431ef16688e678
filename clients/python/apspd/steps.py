"""Submissions and questions, as steps that Client and AsyncClient drive (see exchange.py)."""

from __future__ import annotations

import json
import math
import os
import pathlib
import tempfile
import time
import uuid
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import numpy

from .errors import JobCancelled, JobFailed, NegativeCycle, ServiceError
from .exchange import Reply, Request, Steps, download, exchange, job_of
from .graphs import numbers_of, upload_of
from .labels import Labels

Array = numpy.ndarray[Any, Any]
R = TypeVar("R", bound="ResultSteps")

# How the matrix says unreachable, by its kind.
UNREACHABLE = {"i4": 1073741823, "u2": 65535, "f4": math.inf, "f8": math.inf}
# Pairs of a request, of 8 bytes each: the service takes 16 MiB unless http.pairs_limit is changed.
PAIRS_AT_ONCE = 1 << 20
# Seconds that a request waits for a job before it asks again; the service allows 60.
WAIT_S = 30


class Path(list[Any]):
    """The vertices along a shortest path, both ends included; empty where there is none. `distance`
    is its length, and `weights` are those of its edges."""

    def __init__(self, vertices: list[Any], distance: float, weights: list[float]) -> None:
        super().__init__(vertices)
        self.distance = distance
        self.weights = weights

    @property
    def vertices(self) -> list[Any]:
        return list(self)


class ResultSteps:
    """The state of a result, and what can be asked of it."""

    def __init__(self, patience_s: float, job: dict[str, Any], labels: Labels) -> None:
        self._patience_s = patience_s
        self._job = job
        self._labels = labels
        self._name: str | None = job.get("name")
        self._address = str(job["id"])  # the job, whose kind is known

    @property
    def job(self) -> dict[str, Any]:
        """The document of the job, as it was seen last: `timings`, `plan`, `summary`, `device`."""
        return self._job

    @property
    def graph(self) -> str:
        """The id of the graph."""
        return str(self._job["graph"])

    @property
    def kind(self) -> str:
        """The kind of the matrix: i4, u2, f4 or f8."""
        return str(self._job["summary"]["kind"])

    @property
    def warnings(self) -> list[dict[str, str]]:
        """Guesses that the service made about the upload, each with `code`, `detail` and `hint`."""
        return list(self._job.get("warnings") or ())

    @property
    def unreachable(self) -> float:
        """The element of matrix() where there is no path. Other answers have math.inf."""
        return UNREACHABLE[self.kind]

    @property
    def vertices(self) -> Sequence[Any]:
        """The labels, in the order of the rows."""
        return self._labels.labels

    def __repr__(self) -> str:
        name = self._name or self.graph
        count, state = len(self.vertices), self._job["state"]
        return f"<{type(self).__name__} {name}: {state}, {count} vertices>"

    def steps_wait(self: R, timeout_s: float = math.inf) -> Steps[R]:
        """Waits until the job is done, and returns the result; TimeoutError after so many seconds.
        Raises JobFailed, of which JobCancelled and NegativeCycle are two."""
        end = time.monotonic() + timeout_s
        while self._job["state"] in ("queued", "running"):
            wait_s = math.ceil(min(WAIT_S, end - time.monotonic()))
            if wait_s <= 0:
                raise TimeoutError(f"The job {self._job['id']} goes on after {timeout_s} seconds.")
            request = Request("GET", f"/v1/jobs/{self._job['id']}", {"wait": str(wait_s)})
            self._job = job_of((yield from exchange(request, self._patience_s)))
        problem = self._job["problem"] or {}
        if self._job["state"] == "cancelled":
            cancelled = {"code": "Cancelled", "detail": "The job was cancelled."}
            raise JobCancelled({**cancelled, **problem}, self._job)
        if problem.get("code") == "NegativeCycle":
            error = NegativeCycle(problem, self._job)
            error.cycle = [self._labels.label(name) for name in problem.get("cycle", ())]
            raise error
        if self._job["state"] == "failed":
            raise JobFailed(problem, self._job)
        return self

    def _ask(self, method: str, path: str, parameters: dict[str, Any] = {},
             body: bytes = b"") -> Steps[Reply]:  # fmt: skip
        """The answer to a question, which waits until the job is done. A result that the service
        has dropped is computed again; for a job that it has forgotten, the graph answers."""
        yield from self.steps_wait()
        headers = {"Prefer": "wait=60"}
        if body:
            headers["Content-Type"] = "application/octet-stream"
        query = {name: str(value) for name, value in parameters.items()}
        while True:
            request = Request(method, f"/v1/graphs/{self._address}{path}", query, headers, body)
            try:
                return (yield from exchange(request, self._patience_s))
            except ServiceError as error:
                job = error.problem.get("links", {}).get("job")
                if error.code == "NotSolved" and job:
                    watch = Request("GET", job, {"wait": str(WAIT_S)})
                    yield from exchange(watch, self._patience_s)
                elif error.code == "NoSuchJob" and self._address != self.graph:
                    graph = Request("GET", f"/v1/graphs/{self.graph}")
                    found = json.loads((yield from exchange(graph, self._patience_s)).body)
                    summary = {**self._job["summary"], "kind": found["result"] or self.kind}
                    self._job, self._address = {**self._job, "summary": summary}, self.graph
                else:
                    raise

    def _ask_json(self, path: str, **parameters: Any) -> Steps[Any]:
        return json.loads((yield from self._ask("GET", path, parameters)).body)

    def _decode(self, body: bytes) -> Array:
        """Elements of the matrix as float64, in which all kinds are exact."""
        elements = numpy.frombuffer(body, "<" + self.kind)
        distances = elements.astype(numpy.float64)
        distances[elements == self.unreachable] = math.inf
        return distances

    def _distances(self, sources: Array, targets: Array) -> Steps[Array]:
        """The distances between rows."""
        parts = [numpy.zeros(0)]
        for start in range(0, len(sources), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            rows = numpy.stack((sources[part], targets[part]), axis=1).astype("<u4")
            reply = yield from self._ask("POST", "/distances", body=rows.tobytes())
            parts.append(self._decode(reply.body))
        return numpy.concatenate(parts)

    def steps_distance(self, source: Hashable, target: Hashable) -> Steps[float]:
        """The distance: an int where the weights are integers, math.inf where there is no path."""
        found = yield from self.steps_pairs([(source, target)])
        distance = float(found[0])
        return int(distance) if self.kind in ("i4", "u2") and distance < math.inf else distance

    def steps_pairs(self, pairs: Any) -> Steps[Array]:
        """The distances of many pairs, an array or list of (source, target), as float64.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.pairs([("Rome", "Paris"), ("Paris", "Rome")])
        array([1105.,   inf])
        """
        if isinstance(pairs, numpy.ndarray):
            sources, targets = pairs.reshape(-1, 2).T
        else:
            ends = [(source, target) for source, target in pairs]
            sources, targets = ([end[side] for end in ends] for side in (0, 1))
        return (yield from self._distances(self._labels.rows(sources), self._labels.rows(targets)))

    def steps_table(self, sources: Any = None, destinations: Any = None) -> Steps[Array]:
        """The distances from each source to each destination, as float64; all vertices by default.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.table(["Rome"], ["Berlin", "Paris"])
        array([[1983., 1105.]])
        """
        count = len(self.vertices)
        if sources is None and destinations is None:
            reply = yield from self._ask("GET", "/matrix", {"format": "raw"})
            return self._decode(reply.body).reshape(count, count)
        rows, columns = (
            numpy.arange(count) if labels is None else self._labels.rows(labels)
            for labels in (sources, destinations)
        )
        pairs = numpy.repeat(rows, len(columns)), numpy.tile(columns, len(rows))
        return (yield from self._distances(*pairs)).reshape(len(rows), len(columns))

    def steps_row(self, source: Hashable) -> Steps[Array]:
        """The distances from a vertex to all, in the order of `vertices`, as float64."""
        row = self._labels.row(source)
        query = {"rows": f"{row}:{row + 1}", "format": "raw"}
        return self._decode((yield from self._ask("GET", "/matrix", query)).body)

    def steps_path(self, source: Hashable, target: Hashable) -> Steps[Path]:
        """The vertices along a shortest path, with `distance` and `weights`; empty without one.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> path = result.path("Rome", "Berlin")
        >>> path, path.distance, path.weights
        (['Rome', 'Paris', 'Berlin'], 1983, [1105, 878])
        """
        ends = {"source": self._labels.name(source), "target": self._labels.name(target)}
        found = yield from self._ask_json("/path", **ends)
        vertices = [self._labels.label(name) for name in found["vertices"]]
        distance = math.inf if found["distance"] is None else found["distance"]
        return Path(vertices, distance, found["weights"])

    def steps_nearest(self, source: Hashable, k: int = 1) -> Steps[list[tuple[Any, float]]]:
        """The k nearest other vertices with their distances, nearest first."""
        found = yield from self._ask_json("/nearest", source=self._labels.name(source), k=k)
        return list(zip(map(self._labels.label, found["vertices"]), found["distances"]))

    def steps_within(self, source: Hashable, max: float) -> Steps[list[tuple[Any, float]]]:
        """All other vertices up to this distance, nearest first.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.within("Rome", max=1500)
        [('Paris', 1105)]
        """
        found = yield from self._ask_json("/within", source=self._labels.name(source), max=max)
        return list(zip(map(self._labels.label, found["vertices"]), found["distances"]))

    def steps_stats(self) -> Steps[dict[str, Any]]:
        """Diameter, radius, mean distance, histogram; per vertex eccentricity and closeness, in the
        order of `vertices`."""
        return (yield from self._ask_json("/stats"))  # type: ignore[no-any-return]

    def steps_matrix(self, path: str | os.PathLike[str] | None = None) -> Steps[Array]:
        """The whole matrix, brought into a file and mapped from it: elements of `kind`, where
        `unreachable` stands for no path. A download that broke off goes on where it stopped, also
        in a later call with the same path. Without a path the file goes with the array."""
        yield from self._ask("HEAD", "/matrix")
        with tempfile.TemporaryDirectory(prefix="apspd-") as folder:
            target = pathlib.Path(path or f"{folder}/matrix.npy")
            yield from download(f"/v1/graphs/{self._address}/matrix", target, self._patience_s)
            # A matrix without elements cannot be mapped. A mapping outlives the name of its file.
            found: Array = numpy.load(target, mmap_mode="r" if len(self.vertices) > 0 else None)
            return found

    def steps_update(self: R, edges: Any) -> Steps[R]:
        """Changes edges, (source, target, weight) each, has the changed graph solved, and stands
        for it from then on, as its name does. A weight of None removes the edge; new edges may be
        among them. Conflict where the name has another graph by now. `copy.copy(result)` keeps the
        result of the graph as it was.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.update([("Rome", "Paris", 1420), ("Rome", "Berlin", 1500)])
        <Result g_...: done, 3 vertices>
        >>> result.distance("Rome", "Berlin")
        1500
        """
        yield from self.steps_wait()
        changes = [
            [self._labels.name(source), self._labels.name(target), weight]
            for source, target, weight in edges
        ]
        weights = numbers_of([change[2] for change in changes if change[2] is not None])
        left = iter(weights.tolist())
        changes = [[*change[:2], None if change[2] is None else next(left)] for change in changes]
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        if self._name is not None:
            headers["If-Match"] = f'"{self.graph}"'
        address = f"/v1/graphs/{quote(self._name or self.graph, safe='')}/edges"
        request = Request("PATCH", address, {}, headers, json.dumps(changes).encode())
        job = job_of((yield from exchange(request, self._patience_s)))
        changed = yield from ResultSteps(self._patience_s, job, self._labels).steps_wait()
        self._job, self._address = changed._job, changed._address
        return self

    def steps_cancel(self) -> Steps[None]:
        """Cancels the job; Conflict when it is done."""
        request = Request("DELETE", f"/v1/jobs/{self._job['id']}")
        self._job = job_of((yield from exchange(request, self._patience_s)))

    def steps_delete(self) -> Steps[None]:
        """Removes the graph and its results from the service."""
        yield from remove(self._patience_s, self.graph)


Found = Steps[tuple[dict[str, Any], Labels]]


def submit(patience_s: float, graph: Any, name: str | None, parameters: dict[str, Any]) -> Found:
    """The document of the job, and the labels. The key makes repetitions the same submission."""
    upload = upload_of(graph, parameters)
    query = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in {**upload.parameters, "name": name}.items()
        if value is not None
    }
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    request = Request("POST", "/v1/jobs", query, headers, upload.body)
    job = job_of((yield from exchange(request, patience_s)))
    return job, upload.labels or (yield from names_of(patience_s, job))


def remove(patience_s: float, graph: str) -> Steps[None]:
    yield from exchange(Request("DELETE", f"/v1/graphs/{quote(graph, safe='')}"), patience_s)


def names_of(patience_s: float, job: dict[str, Any]) -> Steps[Labels]:
    """The names in the file are the labels, where only the service knows them. Integers beyond 2^53
    come as strings."""
    reply = yield from exchange(Request("GET", f"/v1/graphs/{job['graph']}/vertices"), patience_s)
    names = json.loads(reply.body)["vertices"]
    are_integers = (job.get("input") or {}).get("names") == "integers"
    if are_integers or any(isinstance(name, int) for name in names):
        names = [int(name) for name in names]
    return Labels(names)


def find(patience_s: float, graph: str) -> Found:
    """The document of the job that solved a graph, by an id or a name, and the names. A graph that
    is not solved is submitted."""
    path = f"/v1/graphs/{quote(graph, safe='')}"
    document = json.loads((yield from exchange(Request("GET", path), patience_s)).body)
    job = graph if graph.startswith("j_") else document.get("job")
    if job:
        request = Request("GET", f"/v1/jobs/{job}")
    else:
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        body = json.dumps({"graph": document["id"]}).encode()
        request = Request("POST", "/v1/jobs", {}, headers, body)
    found = job_of((yield from exchange(request, patience_s)))
    if not graph.startswith(("g_", "j_")):
        found["name"] = graph
    return found, (yield from names_of(patience_s, found))
