"""Submissions and queries, as generators that Client and AsyncClient run (see _exchange.py)."""

from __future__ import annotations

import json
import math
import os
import pathlib
import tempfile
import time
import uuid
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import numpy

from .errors import ApspdError, JobCancelled, JobFailed, NegativeCycle, ServiceError
from ._exchange import Reply, Request, Steps, document_of, download, exchange, job_of, unexpected
from ._graphs import numbers_of, upload_of
from ._labels import Labels
from ._notebook import heatmap_html, summary_html
from ._places import read_places, write_places

Array = numpy.ndarray[Any, Any]
R = TypeVar("R", bound="ResultState")

# The element that means unreachable, for each kind of matrix.
UNREACHABLE = {"i4": 1073741823, "u2": 65535, "f4": math.inf, "f8": math.inf}
# Bytes that may be read of any answer, even if a smaller one is expected: a refusal or a wrong
# answer may be longer, and is then reported by its content.
BODY_LEAST = 1 << 20
# Pairs per request, 8 bytes each. The service accepts 16 MiB unless http.pairs_limit is changed.
PAIRS_AT_ONCE = 1 << 20
# Seconds that one request waits for a job; the client then repeats it. The service allows 60.
WAIT_S = 30
# The number of cells along each side of a heat map in a notebook.
HEATMAP_CELLS = 24
# Maximum number of graphs whose labels a client remembers because the service does not have them.
REMEMBERED = 64

# A function that is called with the progress (0 to 1) and the job document. Instead, on_progress
# may be a progress bar of tqdm.
Progress = Callable[[float, dict[str, Any]], object]


def tell_progress(on_progress: Any, job: dict[str, Any]) -> None:
    share = 1.0 if job["state"] == "done" else float(job.get("progress") or 0)
    if hasattr(on_progress, "update"):
        on_progress.update(share * (on_progress.total or 1) - on_progress.n)
    else:
        on_progress(share, job)


class Path(list[Any]):
    """The vertices on a shortest path, including source and target; empty if there is no path.
    `distance` is the length of the path, and `weights` are the weights of its edges."""

    def __init__(self, vertices: list[Any], distance: float, weights: list[float]) -> None:
        super().__init__(vertices)
        self.distance = distance
        self.weights = weights

    @property
    def vertices(self) -> list[Any]:
        return list(self)


# Maps the names and IDs of graphs to the graph's ID and labels.
Memory = dict[str, tuple[str, Labels]]


def remember(memory: Memory, job: dict[str, Any], labels: Labels) -> None:
    """Stores labels that the service does not know, for later calls of result()."""
    if not labels.named:
        for key in {str(job["graph"]), str(job.get("name") or job["graph"])}:
            memory.pop(key, None)
            memory[key] = job["graph"], labels
        for key in list(memory)[:-REMEMBERED]:  # the oldest keys
            memory.pop(key, None)  # another thread may have removed it


class ResultState:
    """The state of a result, and the requests of its methods."""

    def __init__(self, patience_s: float, memory: Memory, job: dict[str, Any], labels: Labels) -> None:
        self._patience_s = patience_s
        self._memory = memory
        self._job = job
        self._labels = labels
        self._name: str | None = job.get("name")
        self._address = str(job["id"])  # queries name the job, because the kind of its result is known

    @property
    def job(self) -> dict[str, Any]:
        """The latest document of the job, with members such as `timings`, `plan`, `summary` and
        `device`."""
        return self._job

    @property
    def graph(self) -> str:
        """The ID of the graph in the service."""
        return str(self._job["graph"])

    @property
    def kind(self) -> str:
        """The kind of the matrix: i4, u2, f4 or f8."""
        kind = (self._job.get("summary") or {}).get("kind")
        if kind not in UNREACHABLE:
            raise unexpected("The document of the job does not contain the kind of the matrix.")
        return str(kind)

    @property
    def warnings(self) -> list[dict[str, str]]:
        """Assumptions that the service made when it read the upload, each with `code`, `detail` and
        `hint`."""
        return list(self._job.get("warnings") or ())

    @property
    def unreachable(self) -> float:
        """The element of matrix() that means unreachable. All other methods return math.inf."""
        return UNREACHABLE[self.kind]

    @property
    def vertices(self) -> Sequence[Any]:
        """The labels of all vertices, in the order of the matrix's rows."""
        return self._labels.labels

    def __repr__(self) -> str:
        name = self._name or self.graph
        count, state = len(self.vertices), self._job["state"]
        return f"<{type(self).__name__} {name}: {state}, {count} vertices>"

    def _ask(self, method: str, path: str, parameters: dict[str, Any] = {}, body: bytes = b"",
             **more: Any) -> Steps[Reply]:  # fmt: skip
        """Returns the response to a query after the job is done. If the result was evicted, waits
        until it is computed again; if the service has forgotten the job, queries the graph."""
        yield from ResultSteps.wait(self)
        headers = {"Prefer": "wait=60", **more.pop("headers", {})}
        if body:
            headers.setdefault("Content-Type", "application/octet-stream")
        query = {name: str(value) for name, value in parameters.items()}
        while True:
            address = f"/v1/graphs/{self._address}{path}"
            request = Request(method, address, query, headers, body, **more)
            try:
                return (yield from exchange(request, self._patience_s))
            except ServiceError as error:
                job = (error.problem.get("links") or {}).get("job")
                if error.code == "NotSolved" and job:
                    watch = Request("GET", job, {"wait": str(WAIT_S)})
                    yield from exchange(watch, self._patience_s)
                elif error.code == "NoSuchJob" and self._address != self.graph:
                    graph = Request("GET", f"/v1/graphs/{self.graph}")
                    found = document_of((yield from exchange(graph, self._patience_s)))
                    summary = {**self._job["summary"], "kind": found.get("result") or self.kind}
                    self._job, self._address = {**self._job, "summary": summary}, self.graph
                else:
                    raise

    def _ask_json(self, path: str, members: dict[str, type], **parameters: Any) -> Steps[Any]:
        return document_of((yield from self._ask("GET", path, parameters)), **members)

    def _elements(self, count: int, *asked: Any, **more: Any) -> Steps[Array]:
        """Returns this many elements of the matrix as float64, which represents all kinds
        exactly."""
        # An evicted result may have been solved again in another kind, of at most 8 bytes an
        # element.
        body = (yield from self._ask(*asked, **more, limit=max(8 * count, BODY_LEAST))).body
        if len(body) != count * numpy.dtype(self.kind).itemsize:
            raise unexpected(f"The response has {len(body)} bytes, which is not the size of {count} distances.")
        elements = numpy.frombuffer(body, "<" + self.kind)
        distances = elements.astype(numpy.float64)
        distances[elements == self.unreachable] = math.inf
        return distances

    def _distances(self, sources: Array, targets: Array) -> Steps[Array]:
        """Returns the distance of each pair of rows."""
        parts = [numpy.zeros(0)]
        for start in range(0, len(sources), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            rows = numpy.stack((sources[part], targets[part]), axis=1).astype("<u4")
            asked = "POST", "/distances"
            parts.append((yield from self._elements(len(rows), *asked, body=rows.tobytes())))
        return numpy.concatenate(parts)

    def _vertices(self, path: str, **parameters: Any) -> Steps[list[tuple[Any, float]]]:
        found = yield from self._ask_json(path, {"vertices": list, "distances": list}, **parameters)
        return list(zip(map(self._labels.label, found["vertices"]), found["distances"]))


class ResultSteps(ResultState):
    """The methods of Result and AsyncResult, with the names and docstrings that both get."""

    def wait(self: R, timeout_s: float = math.inf, on_progress: Any = None) -> Steps[R]:
        """Waits until the job is done, and returns the result. Raises TimeoutError after timeout_s
        seconds, and JobFailed or its subclasses JobCancelled and NegativeCycle if there is no
        result. on_progress is a function that is called every second with the progress (0 to 1) and
        the job document, or a progress bar of tqdm."""
        end = time.monotonic() + timeout_s
        while self._job["state"] in ("queued", "running"):
            longest_s = WAIT_S if on_progress is None else 1
            wait_s = math.ceil(min(longest_s, end - time.monotonic()))
            if wait_s <= 0:
                raise TimeoutError(f"The job {self._job['id']} has not ended after {timeout_s} seconds.")
            request = Request("GET", f"/v1/jobs/{self._job['id']}", {"wait": str(wait_s)})
            self._job = job_of((yield from exchange(request, self._patience_s)))
            if on_progress is not None:
                tell_progress(on_progress, self._job)
        problem = self._job.get("problem") or {}
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

    def distance(self, source: Hashable, target: Hashable) -> Steps[float]:
        """Returns the distance: an int if the weights are integers, math.inf if there is no
        path."""
        found = yield from ResultSteps.pairs(self, [(source, target)])
        distance = float(found[0])
        return int(distance) if self.kind in ("i4", "u2") and distance < math.inf else distance

    def pairs(self, pairs: Any) -> Steps[Array]:
        """Returns the distances of many pairs as float64; pairs is an array or list of
        (source, target).

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

    def table(self, sources: Any = None, destinations: Any = None) -> Steps[Array]:
        """Returns the distances from each source to each destination as float64. Both default to
        all vertices.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.table(["Rome"], ["Berlin", "Paris"])
        array([[1983., 1105.]])
        """
        count = len(self.vertices)
        if sources is None and destinations is None:
            found = yield from self._elements(count * count, "GET", "/matrix", {"format": "raw"})
            return found.reshape(count, count)
        rows, columns = (
            numpy.arange(count) if labels is None else self._labels.rows(labels)
            for labels in (sources, destinations)
        )
        pairs = numpy.repeat(rows, len(columns)), numpy.tile(columns, len(rows))
        return (yield from self._distances(*pairs)).reshape(len(rows), len(columns))

    def row(self, source: Hashable) -> Steps[Array]:
        """Returns the distances from one vertex to all, in the order of `vertices`, as float64."""
        row = self._labels.row(source)
        query = {"rows": f"{row}:{row + 1}", "format": "raw"}
        return (yield from self._elements(len(self.vertices), "GET", "/matrix", query))

    def path(self, source: Hashable, target: Hashable) -> Steps[Path]:
        """Returns a shortest path: a list of vertices with `distance` and `weights`. The list is
        empty if there is no path.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> path = result.path("Rome", "Berlin")
        >>> path, path.distance, path.weights
        (['Rome', 'Paris', 'Berlin'], 1983, [1105, 878])
        """
        ends = {"source": self._labels.name(source), "target": self._labels.name(target)}
        found = yield from self._ask_json("/path", {"vertices": list, "weights": list}, **ends)
        vertices = [self._labels.label(name) for name in found["vertices"]]
        distance = math.inf if found.get("distance") is None else found["distance"]
        return Path(vertices, distance, found["weights"])

    def nearest(self, source: Any = None, k: int = 1, lon: float | None = None,
                       lat: float | None = None, x: float | None = None,
                       y: float | None = None) -> Steps[Any]:  # fmt: skip
        """Returns the k nearest other vertices with their distances, nearest first. With lon= and
        lat=, or x= and y=, returns the vertex nearest to that position."""
        axes = {"lon": lon, "lat": lat, "x": x, "y": y}
        place = {name: value for name, value in axes.items() if value is not None}
        if not place:
            return (yield from self._vertices("/nearest", source=self._labels.name(source), k=k))
        if source is not None or set(place) not in ({"lon", "lat"}, {"x", "y"}):
            raise TypeError("nearest() takes a source, or lon= and lat=, or x= and y=.")
        found = yield from self._ask_json("/nearest", {}, **place)
        return self._labels.label(found.get("vertex"))

    def within(self, source: Hashable, max: float) -> Steps[list[tuple[Any, float]]]:
        """Returns all other vertices within this distance, nearest first.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.within("Rome", max=1500)
        [('Paris', 1105)]
        """
        return (yield from self._vertices("/within", source=self._labels.name(source), max=max))

    def geojson(self, source: Hashable, target: Hashable = None, *, max: float | None = None,
                       k: int | None = None) -> Steps[dict[str, Any]]:  # fmt: skip
        """Returns GeoJSON: the path to the target as a line or, with max= or k=, the vertices within a
        distance or the k nearest vertices as points. The graph needs coordinates."""
        if (target is not None) + (max is not None) + (k is not None) != 1:
            raise TypeError("geojson() takes exactly one of a target, max= and k=.")
        name = self._labels.name
        parameters: dict[str, Any] = {"source": name(source)}
        if target is not None:
            path, parameters["target"] = "/path", name(target)
        elif max is not None:
            path, parameters["max"] = "/within", max
        else:
            path, parameters["k"] = "/nearest", k
        headers = {"Accept": "application/geo+json"}
        return document_of((yield from self._ask("GET", path, parameters, headers=headers)), type=str)

    def get_coordinates(self) -> Steps[dict[Any, tuple[float, float]]]:
        """Returns the coordinates of each vertex that has coordinates: (lon, lat) or (x, y)."""
        return read_places((yield from self._ask("GET", "/coordinates")).body, self._labels)

    def set_coordinates(self, places: Any, plane: bool = False) -> Steps[None]:
        """Sets the coordinates of vertices. places is a frame with the columns lon and lat, or x
        and y, and the vertices in its index or in a column `vertex`; or a dict that maps vertices
        to (lon, lat), or to (x, y) with plane=True.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.set_coordinates({"Rome": (12.5, 41.9), "Paris": (2.35, 48.86)})
        >>> result.nearest(lon=9.2, lat=45.5), result.geojson("Rome", "Paris")["geometry"]["type"]
        ('Rome', 'LineString')
        """
        body = write_places(places, plane, self._labels)
        yield from self._ask("PUT", "/coordinates", {}, body, headers={"Content-Type": "text/csv"})

    def to_frame(self) -> Steps[Any]:
        """Returns all distances as a pandas frame whose rows and columns have the labels."""
        import pandas

        table = yield from ResultSteps.table(self)
        labels = pandas.Index(list(self.vertices), tupleize_cols=False)
        return pandas.DataFrame(table, index=labels, columns=labels)

    def _repr_html_(self) -> Steps[str]:
        """Returns the summary and the heat map as HTML for a notebook. The heat map of a hierarchy
        may take seconds."""
        text = summary_html(self._job, self._name or self.graph)
        kept = (self._job.get("result") or {}).get("kind")
        if self._job["state"] != "done" or kept != "matrix" or len(self.vertices) == 0:
            return text
        try:
            cells = {"size": HEATMAP_CELLS}
            return text + heatmap_html((yield from self._ask_json("/heatmap", {"cells": list}, **cells)))
        except (ApspdError, KeyError, TypeError):
            return text

    def stats(self) -> Steps[dict[str, Any]]:
        """Returns statistics: diameter, radius, mean distance and histogram; and for each vertex,
        in the order of `vertices`, its eccentricity and closeness."""
        return (yield from self._ask_json("/stats", {}))  # type: ignore[no-any-return]

    def matrix(self, path: str | os.PathLike[str] | None = None) -> Steps[Array]:
        """Downloads the whole matrix into a file and returns it as a mapped array. Its elements are
        of type `kind`; the element `unreachable` means that there is no path. An interrupted
        download is resumed, even by a later call with the same path. Without a path, the file is
        temporary."""
        yield from self._ask("HEAD", "/matrix")
        with tempfile.TemporaryDirectory(prefix="apspd-") as folder:
            target = pathlib.Path(path or f"{folder}/matrix.npy")
            yield from download(f"/v1/graphs/{self._address}/matrix", target, self._patience_s)
            # An empty matrix cannot be mapped. A mapping remains valid after its file is deleted.
            found: Array = numpy.load(target, mmap_mode="r" if len(self.vertices) > 0 else None)
            return found

    def update(self: R, edges: Any) -> Steps[R]:
        """Changes, adds or removes edges, given as (source, target, weight); a weight of None
        removes the edge. The service solves the changed graph, and this result and the graph's
        name then refer to it. Raises Conflict if the name has moved to another graph. To keep the
        result of the unchanged graph, call `copy.copy(result)` before the change.

        >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
        >>> result.update([("Rome", "Paris", 1420), ("Rome", "Berlin", 1500)])
        <Result g_...: done, 3 vertices>
        >>> result.distance("Rome", "Berlin")
        1500
        """
        yield from ResultSteps.wait(self)
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
        changed = ResultState(self._patience_s, self._memory, job, self._labels)
        yield from ResultSteps.wait(changed)
        remember(self._memory, {**job, "name": self._name}, self._labels)
        self._job, self._address = changed._job, changed._address
        return self

    def cancel(self) -> Steps[None]:
        """Cancels the job; raises Conflict if it has ended."""
        request = Request("DELETE", f"/v1/jobs/{self._job['id']}")
        self._job = job_of((yield from exchange(request, self._patience_s)))

    def delete(self) -> Steps[None]:
        """Deletes the graph and its results from the service."""
        yield from remove(self._patience_s, self.graph)


Found = Steps[tuple[dict[str, Any], Labels]]


def submit(patience_s: float, memory: Memory, graph: Any, name: str | None,
           parameters: dict[str, Any]) -> Found:  # fmt: skip
    """Submits a graph; returns the job document and the labels. Because of the idempotency key, a
    repeated request returns the same job."""
    upload = upload_of(graph, parameters)
    query = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in {**upload.parameters, "name": name}.items()
        if value is not None
    }
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    request = Request("POST", "/v1/jobs", query, headers, upload.body)
    job = job_of((yield from exchange(request, patience_s)))
    labels = upload.labels or (yield from names_of(patience_s, job))
    remember(memory, {**job, "name": job.get("name") or name}, labels)
    return job, labels


def remove(patience_s: float, graph: str) -> Steps[None]:
    yield from exchange(Request("DELETE", f"/v1/graphs/{quote(graph, safe='')}"), patience_s)


def names_of(patience_s: float, job: dict[str, Any]) -> Steps[Labels]:
    """Returns the vertex names that the service read from the file, as labels. The service sends
    integers beyond 2^53 as strings; they become integers again."""
    reply = yield from exchange(Request("GET", f"/v1/graphs/{job['graph']}/vertices"), patience_s)
    names = document_of(reply, vertices=list)["vertices"]
    are_integers = (job.get("input") or {}).get("names") == "integers"
    if are_integers or any(isinstance(name, int) for name in names):
        names = [int(name) for name in names]
    return Labels(names)


def list_all(patience_s: float, kind: str, parameters: dict[str, Any]) -> Steps[list[dict[str, Any]]]:
    """Returns the documents of all graphs or jobs, newest first."""
    query = {"limit": "1000", **{name: str(value) for name, value in parameters.items()}}
    found: list[dict[str, Any]] = []
    while True:
        reply = yield from exchange(Request("GET", f"/v1/{kind}", query), patience_s)
        page = document_of(reply, **{kind: list})
        found += page[kind]
        if not page.get("next"):  # a filtered page may be empty although more pages follow
            return found
        query["cursor"] = str(page["next"])


def estimate(patience_s: float, graph: Any, parameters: dict[str, Any]) -> Steps[dict[str, Any]]:
    """Returns the estimate for a stored graph, or for the numbers n and m of vertices and edges."""
    if graph is not None:
        parameters = {"graph": getattr(graph, "graph", graph), **parameters}
    headers = {"Content-Type": "application/json"}
    request = Request("POST", "/v1/estimate", {}, headers, json.dumps(parameters).encode())
    return document_of((yield from exchange(request, patience_s)))


def find(patience_s: float, memory: Memory, graph: str) -> Found:
    """Returns the document of the job that solved a graph, and the labels. graph is an ID or a name
    of the graph, or the ID of a job; a graph that was never solved is submitted."""
    path = f"/v1/graphs/{quote(graph, safe='')}"
    document = document_of((yield from exchange(Request("GET", path), patience_s)), id=str)
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
    for key in (graph, found["graph"]):
        if memory.get(key, ("",))[0] == found["graph"]:
            return found, memory[key][1]
    return found, (yield from names_of(patience_s, found))
