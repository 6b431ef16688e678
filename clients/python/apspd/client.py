"""Client and AsyncClient, and the results that they return. The README.md of this client has a
tour."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import pathlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from .errors import ConnectionFailed
from ._exchange import Reply, Request, Steps, count_down, open_sink
from ._labels import Labels
from ._local import Daemon
from ._steps import Memory, Progress, ResultState, ResultSteps, estimate, find, list_all, remove, submit

P = ParamSpec("P")
T = TypeVar("T")

VERSION = "0.1.0"
DEFAULT_URL = "http://127.0.0.1:8080"
# The service may wait up to 60 seconds before it answers; a longer silence is an error.
READ_TIMEOUT_S = 90.0
PIECE_BYTES = 1 << 20


def options_of(url: str | None, key: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of httpx's clients. Responses must be uncompressed, because an interrupted
    download continues with a byte range of the body as the service sent it."""
    key = key if key is not None else os.environ.get("APSPD_KEY")
    headers = {"Accept-Encoding": "identity", "User-Agent": f"apspd-python/{VERSION}"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return {
        "base_url": url or os.environ.get("APSPD_URL") or DEFAULT_URL,
        "timeout": httpx.Timeout(READ_TIMEOUT_S, connect=10.0),
        **options,
        "headers": {**headers, **options.get("headers", {})},
    }


def address_of(client: httpx.Client | httpx.AsyncClient) -> str:
    """Returns the address of the service, without the user and password that it may contain."""
    return str(client.base_url.copy_with(username=None, password=None))


class Client:
    """A connection to a service. `url` and `key` default to $APSPD_URL and $APSPD_KEY.
    `patience_s` is the total time in seconds that a request waits while the service is busy. Other
    options, such as `verify`, are passed to httpx.Client. Threads may share a client.

    >>> with Client() as client:
    ...     result = client.solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
    >>> result.job["state"]
    'done'
    """

    def __init__(self, url: str | None = None, key: str | None = None, *,
                 patience_s: float = 120, **options: Any) -> None:  # fmt: skip
        self._patience_s = patience_s
        self._http = httpx.Client(**options_of(url, key, options))
        self._sleep = time.sleep
        self._answered = False  # at least once
        self._memory: Memory = {}
        self._daemon: Daemon | None = None  # the daemon that local() started

    @classmethod
    def local(cls, *arguments: str, **options: Any) -> Client:
        """Starts a daemon with these arguments of apspd on a free port, and returns its client. The
        daemon ends when the client is closed, or when the process ends. The program is $APSPD, else
        apspd on PATH, else apspd in the package's folder.

        >>> with Client.local("--solver", "cpu") as client:
        ...     client.solve([(1, 2, 5)]).distance(1, 2)
        5
        """
        daemon = Daemon(*arguments)
        options = {"key": "", **options}
        client = cls(daemon.url, **options)
        client._daemon = daemon
        return client

    def __repr__(self) -> str:
        return f"<Client {address_of(self._http)}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()
        if self._daemon is not None:
            self._daemon.stop()

    def solve(self, graph: Any = None, name: str | None = None, *,
              on_progress: Progress | Any = None, **parameters: Any) -> Result:  # fmt: skip
        """Uploads a graph, waits until it is solved, and returns the result.

        graph: a NetworkX graph, a SciPy sparse matrix, an array or list of edges (2 or 3 columns),
            a pandas frame of edges, or the path of a file in a format of the service. A square
            array, or a frame with the same labels in rows and columns, is a dense matrix as in
            SciPy: 0, inf and nan are missing edges. To pass an array of edges that is square, use
            edges=.
        name: an alias by which the service also knows the graph.
        on_progress: a function that is called every second with the progress (0 to 1) and the job
            document, or a progress bar such as tqdm(total=1).
        parameters: `weight` (an attribute or column; with None, each edge of a NetworkX graph has
            weight 1), `directed`, `n`, and parameters of the service: `kind`, `result`, `priority`,
            `deadline_s`, `verify`, `format`, `charset`.

        Raises BadGraph, TooLarge, NegativeCycle and other subclasses of ApspdError.

        >>> Client().solve([(1, 2, 2.5), (2, 3, 1.5)], directed=False).distance(3, 1)
        4.0
        """
        return self.submit(graph, name, **parameters).wait(on_progress=on_progress)

    def submit(self, graph: Any = None, name: str | None = None, **parameters: Any) -> Result:
        """Does the same as solve() without waiting for the job; the first query waits."""
        job, labels = self._run(submit(self._patience_s, self._memory, graph, name, parameters))
        return Result(self, job, labels)

    def result(self, graph: str) -> Result:
        """Returns the result of a graph in the service, given the graph's ID or name or a job's ID.
        Labels that the service does not know are taken from this client's own upload."""
        job, labels = self._run(find(self._patience_s, self._memory, graph))
        return Result(self, job, labels).wait()

    def delete(self, graph: str) -> None:
        """Deletes a graph, given its ID or name, and its results from the service."""
        self._run(remove(self._patience_s, graph))

    def graphs(self, **parameters: Any) -> list[dict[str, Any]]:
        """Returns the documents of all graphs in the service, newest first."""
        return self._run(list_all(self._patience_s, "graphs", parameters))

    def jobs(self, **parameters: Any) -> list[dict[str, Any]]:
        """Returns the documents of all jobs, newest first. With state="running", only running jobs are
        returned."""
        return self._run(list_all(self._patience_s, "jobs", parameters))

    def estimate(self, graph: Any = None, **parameters: Any) -> dict[str, Any]:
        """Returns the expected bytes and seconds of a solve, and whether the job fits. The argument is
        a stored graph, given by its ID, name or result, or the numbers of vertices and edges, n= and
        m=.

        >>> Client().estimate(n=1000, m=5000, kind="i4")["fits"]
        True
        """
        return self._run(estimate(self._patience_s, graph, parameters))

    @contextlib.contextmanager
    def _solved_once(self, graph: Any, **parameters: Any) -> Iterator[Result]:
        """Yields the result of solve(), and deletes the graph afterwards unless the service already
        had it."""
        result = self.submit(graph, **parameters)
        try:
            yield result.wait()
        finally:
            if not result.job["input"].get("cached"):
                result.delete()

    def _run(self, steps: Steps[T]) -> T:
        sent: Reply | Exception | None = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            sent = self._send(step) if isinstance(step, Request) else self._sleep(step)

    def _send(self, request: Request) -> Reply | Exception:
        body = request.body
        content: Any = read(body) if isinstance(body, pathlib.Path) else body
        try:
            trace = {"trace": send_at_once}
            with self._http.stream(**request.options(), content=content, extensions=trace) as reply:
                self._answered = True
                if request.sink is None or reply.status_code not in (200, 206):
                    found, left = bytearray(), request.limit
                    for piece in reply.iter_bytes():
                        left = count_down(left, piece)
                        found += piece
                    return Reply(reply.status_code, reply.headers, found)
                with open_sink(request, reply.status_code, reply.headers) as sink:
                    left = request.limit - sink.tell()
                    for piece in reply.iter_raw():
                        left = count_down(left, piece)
                        sink.write(piece)
                return Reply(reply.status_code, reply.headers)
        except httpx.TransportError as error:
            return failure(error, self._answered, self._http.base_url)


@functools.cache
def default_client() -> Client:
    """Returns the client for functions that are called without a client. It connects to $APSPD_URL,
    else to the default address if a service responds there, else to a local daemon."""
    client = Client()
    if "APSPD_URL" not in os.environ:
        try:
            client._http.get("/livez")
        except httpx.TransportError:
            client.close()
            client = Client.local()
    return client


class AsyncClient:
    """Client for asyncio, with the methods of Client as coroutines.

    >>> async def ask():
    ...     async with AsyncClient() as client:
    ...         result = await client.solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
    ...         return await result.distance("Rome", "Berlin")
    >>> asyncio.run(ask())
    1983
    """

    def __init__(self, url: str | None = None, key: str | None = None, *,
                 patience_s: float = 120, **options: Any) -> None:  # fmt: skip
        self._patience_s = patience_s
        self._http = httpx.AsyncClient(**options_of(url, key, options))
        self._sleep = asyncio.sleep
        self._answered = False  # at least once
        self._memory: Memory = {}

    def __repr__(self) -> str:
        return f"<AsyncClient {address_of(self._http)}>"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def solve(self, graph: Any = None, name: str | None = None, *,
                    on_progress: Progress | Any = None, **parameters: Any) -> AsyncResult:  # fmt: skip
        return await (await self.submit(graph, name, **parameters)).wait(on_progress=on_progress)

    async def submit(self, graph: Any = None, name: str | None = None, **parameters: Any) -> AsyncResult:
        steps = submit(self._patience_s, self._memory, graph, name, parameters)
        job, labels = await self._run(steps)
        return AsyncResult(self, job, labels)

    async def result(self, graph: str) -> AsyncResult:
        job, labels = await self._run(find(self._patience_s, self._memory, graph))
        return await AsyncResult(self, job, labels).wait()

    async def delete(self, graph: str) -> None:
        await self._run(remove(self._patience_s, graph))

    async def graphs(self, **parameters: Any) -> list[dict[str, Any]]:
        return await self._run(list_all(self._patience_s, "graphs", parameters))

    async def jobs(self, **parameters: Any) -> list[dict[str, Any]]:
        return await self._run(list_all(self._patience_s, "jobs", parameters))

    async def estimate(self, graph: Any = None, **parameters: Any) -> dict[str, Any]:
        return await self._run(estimate(self._patience_s, graph, parameters))

    async def _run(self, steps: Steps[T]) -> T:
        sent: Reply | Exception | None = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            sent = await (self._send(step) if isinstance(step, Request) else self._sleep(step))

    async def _send(self, request: Request) -> Reply | Exception:
        body = request.body
        content: Any = read_asynchronously(body) if isinstance(body, pathlib.Path) else body
        try:
            async with self._http.stream(**request.options(), content=content) as reply:
                self._answered = True
                if request.sink is None or reply.status_code not in (200, 206):
                    found, left = bytearray(), request.limit
                    async for piece in reply.aiter_bytes():
                        left = count_down(left, piece)
                        found += piece
                    return Reply(reply.status_code, reply.headers, found)
                with open_sink(request, reply.status_code, reply.headers) as sink:
                    left = request.limit - sink.tell()
                    async for piece in reply.aiter_raw():
                        left = count_down(left, piece)
                        sink.write(piece)
                return Reply(reply.status_code, reply.headers)
        except httpx.TransportError as error:
            return failure(error, self._answered, self._http.base_url)


def failure(error: httpx.TransportError, answered: bool, url: httpx.URL) -> Exception:
    """Returns the error if a repeated request may succeed, because a service that has answered
    before may be restarting. Otherwise raises ConnectionFailed: the address may be wrong."""
    if answered or not isinstance(error, httpx.ConnectError):
        return error
    raise ConnectionFailed(
        f"No service responds at {url}: {error}. Is apspd running there? Pass another address to "
        "Client(), or set APSPD_URL."
    ) from error


def send_at_once(event: str, details: Mapping[str, Any]) -> None:
    """Disables Nagle's algorithm, which httpcore before 0.18 leaves enabled: the body of a
    request would wait 40 ms until its head is acknowledged. Not needed after Debian 12."""
    if event == "connection.connect_tcp.complete":
        plug = details["return_value"].get_extra_info("socket")
        plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def read(path: pathlib.Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


async def read_asynchronously(path: pathlib.Path) -> AsyncIterator[bytes]:
    for piece in read(path):
        yield piece


def called(steps: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Result, P], T]:
    @functools.wraps(steps)
    def call(self: Result, /, *arguments: P.args, **more: P.kwargs) -> T:
        return self._client._run(steps(self, *arguments, **more))

    return call


def awaited(
    steps: Callable[Concatenate[Any, P], Steps[T]],
) -> Callable[Concatenate[AsyncResult, P], Awaitable[T]]:
    @functools.wraps(steps)
    async def call(self: AsyncResult, /, *arguments: P.args, **more: P.kwargs) -> T:
        return await self._client._run(steps(self, *arguments, **more))

    return call


class Result(ResultState):
    """The shortest distances of a graph. Methods take and return the labels that the vertices have
    in the graph; the distance math.inf means that there is no path.

    >>> result = Client().solve([("Rome", "Paris", 1105), ("Paris", "Berlin", 878)])
    >>> result.distance("Rome", "Berlin"), result.distance("Berlin", "Rome")
    (1983, inf)
    >>> result.vertices
    ['Rome', 'Paris', 'Berlin']
    """

    def __init__(self, client: Client, job: dict[str, Any], labels: Labels) -> None:
        super().__init__(client._patience_s, client._memory, job, labels)
        self._client = client

    wait = called(ResultSteps.wait)
    distance = called(ResultSteps.distance)
    pairs = called(ResultSteps.pairs)
    table = called(ResultSteps.table)
    row = called(ResultSteps.row)
    path = called(ResultSteps.path)
    nearest = called(ResultSteps.nearest)
    within = called(ResultSteps.within)
    stats = called(ResultSteps.stats)
    matrix = called(ResultSteps.matrix)
    update = called(ResultSteps.update)
    cancel = called(ResultSteps.cancel)
    delete = called(ResultSteps.delete)
    geojson = called(ResultSteps.geojson)
    to_frame = called(ResultSteps.to_frame)
    set_coordinates = called(ResultSteps.set_coordinates)
    get_coordinates = called(ResultSteps.get_coordinates)
    coordinates = property(get_coordinates, set_coordinates, doc="The coordinates of the vertices.")
    _repr_html_ = called(ResultSteps._repr_html_)


class AsyncResult(ResultState):
    """Result for asyncio, with the methods of Result as coroutines."""

    def __init__(self, client: AsyncClient, job: dict[str, Any], labels: Labels) -> None:
        super().__init__(client._patience_s, client._memory, job, labels)
        self._client = client

    wait = awaited(ResultSteps.wait)
    distance = awaited(ResultSteps.distance)
    pairs = awaited(ResultSteps.pairs)
    table = awaited(ResultSteps.table)
    row = awaited(ResultSteps.row)
    path = awaited(ResultSteps.path)
    nearest = awaited(ResultSteps.nearest)
    within = awaited(ResultSteps.within)
    stats = awaited(ResultSteps.stats)
    matrix = awaited(ResultSteps.matrix)
    update = awaited(ResultSteps.update)
    cancel = awaited(ResultSteps.cancel)
    delete = awaited(ResultSteps.delete)
    geojson = awaited(ResultSteps.geojson)
    to_frame = awaited(ResultSteps.to_frame)
    set_coordinates = awaited(ResultSteps.set_coordinates)
    get_coordinates = awaited(ResultSteps.get_coordinates)
