"""Tests the answers of the Python client: each method, with both forms of results, all kinds of
weights, and the asynchronous client."""

import asyncio
import copy
import math
import pathlib
import xml.etree.ElementTree

import python_client  # first, because it may skip the test
from python_client import client_of, expect

import apspd
import harness
import networkx
import numpy
import pandas

N = 60


def road_graph():
    graph = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(6, 10), first_label=1)
    for at, (source, target) in enumerate(graph.edges):
        graph.edges[source, target]["weight"] = 1 + at * at % 17
    graph.remove_edges_from([(N, N - 1), (N, N - 10)])
    return networkx.relabel_nodes(graph, lambda at: f"v{at}")


def check_answers(result, graph, wanted):
    labels = list(graph)
    pairs = [(labels[i * 7 % N], labels[i * 11 % N]) for i in range(200)]
    at = {label: row for row, label in enumerate(labels)}
    distances = [wanted[at[s], at[t]] for s, t in pairs]
    assert result.pairs(pairs).tolist() == distances
    assert result.pairs(numpy.array(pairs)).tolist() == distances
    assert result.pairs([]).tolist() == [] and result.table([], ["v1"]).shape == (0, 1)
    assert result.row("v7").tolist() == wanted[6].tolist()
    assert result.table().tolist() == wanted.tolist()
    assert result.table(["v3", "v60"]).tolist() == wanted[[2, 59]].tolist()
    assert result.table(destinations=("v5",)).tolist() == wanted[:, [4]].tolist()
    assert result.table(numpy.array(["v9"]), ["v1", "v2"]).tolist() == wanted[[8], :2].tolist()
    nearest = result.nearest("v1", 5)
    assert [distance for _, distance in nearest] == sorted(wanted[0])[1:6], nearest
    within = result.within("v1", max=20)
    assert {vertex for vertex, _ in within} == {v for v in labels if 0 < wanted[0, at[v]] <= 20}
    assert result.path("v1", "v60") == [] and result.path("v1", "v60").distance == math.inf
    path = result.path("v1", "v44")
    assert path.vertices == path and len(path.weights) == len(path) - 1
    assert networkx.path_weight(graph, path, "weight") == path.distance == wanted[0, 43]


def test_a_matrix_and_a_hierarchy_give_the_same_answers(daemon):
    graph = road_graph()
    wanted = networkx.floyd_warshall_numpy(graph)
    with client_of(daemon) as client:
        for form, kinds in (("matrix", ("i4", "u2", "f4", "f8")), ("hierarchy", ("i4", "f4", "f8"))):
            for kind in kinds:
                result = client.solve(graph, kind=kind, result=form)
                assert (result.kind, result.job["result"]["kind"]) == (kind, form), result.job
                check_answers(result, graph, wanted)
                distance = result.distance("v1", "v59")
                assert type(distance) is (int if kind in ("i4", "u2") else float)
                matrix = result.matrix()
                assert matrix.dtype == kind and isinstance(matrix, numpy.memmap)
                assert numpy.where(matrix == result.unreachable, math.inf, matrix).tolist() == wanted.tolist()
        stats = client.solve(graph, result="matrix").stats()
        assert stats["diameter"] == wanted[wanted < math.inf].max()


def test_documents_of_jobs_and_graphs_are_returned(daemon):
    with client_of(daemon) as client:
        result = client.solve([("a", "b", 2), ("a", "b", 3)], "named", verify=True, priority=3)
        assert result.job["name"] == "named" and result.job["priority"] == 3 and result.job["verified"]
        assert [warning["code"] for warning in result.warnings] == ["ParallelMerged"]
        assert "named" in repr(result) and result.graph.startswith("g_")
        again = client.result(result.graph)
        assert again.job == {**result.job, "durable": again.job["durable"]}
        stored = daemon.ask("POST", "/v1/graphs?name=stored&format=edges", b"Rome Paris 3\n").expect(201).json["id"]
        assert client.result("stored").distance("Rome", "Paris") == 3
        assert client.result(stored).job["state"] == "done"
        assert repr(client.result(result.job["id"])) == repr(result)
        result.delete()
        expect(apspd.NotFound, "NoSuchGraph", client.result, "named")


def test_errors_contain_the_problem_document(daemon):
    with client_of(daemon) as client:
        result = client.solve([(("x", 1), "y", 2), ("y", "z", 2)])
        for vertex in ("nowhere", 0, None, [], ("x", 2)):
            assert isinstance(expect(apspd.NoSuchVertex, "NoSuchVertex", result.distance, "y", vertex), KeyError)
        for call in (result.row, result.nearest, lambda vertex: result.path(vertex, "y"),
                     lambda vertex: result.pairs([("y", vertex)]), lambda vertex: result.table([vertex])):
            expect(apspd.NoSuchVertex, "NoSuchVertex", call, "nowhere")
        numbers = client.solve([(0, 1, 5)])
        for vertex in (-1, 2, "0", 0.5):
            expect(apspd.NoSuchVertex, "NoSuchVertex", numbers.distance, 0, vertex)
        expect(apspd.NoSuchVertex, "NoSuchVertex", numbers.pairs, numpy.array([[0, 1], [0, 2]]))
        expect(apspd.BadRequest, "UnknownParameter", client.solve, [(0, 1)], bogus=1)
        error = expect(apspd.NegativeCycle, "NegativeCycle", client.solve, [("a", (1, 2), -3), ((1, 2), "a", 1)])
        assert set(error.cycle) == {"a", (1, 2)} and error.job["state"] == "failed"
        expect(apspd.NotFound, "NoSuchGraph", client.result, "nobody/knows")


def test_jobs_are_watched_and_cancelled(_):
    with harness.Daemon(*harness.LASTING) as daemon, client_of(daemon) as client:
        path = pathlib.Path(daemon.scratch, "slow.gr")
        path.write_bytes(harness.slow_graph(harness.LASTING_SIZE))
        result = client.submit(path)
        assert len(result.vertices) == harness.LASTING_SIZE
        try:
            result.wait(timeout_s=1)
            raise AssertionError("it cannot be done")
        except TimeoutError:
            pass
        result.cancel()
        assert expect(apspd.JobCancelled, None, result.wait).job["state"] == "cancelled"
        expect(apspd.JobCancelled, None, result.distance, 1, 2)


def test_a_result_can_be_queried_after_its_job_is_forgotten(_):
    with harness.Daemon("--jobs.history_limit", "1") as daemon, client_of(daemon) as client:
        result = client.solve([("a", "b", 7)], kind="f8")
        client.solve([("a", "b", 7)], kind="i4")
        client.solve([("c", "d", 7)])
        client.solve([("e", "f", 7)])
        harness.wait_until(daemon, lambda: daemon.get(f"/v1/jobs/{result.job['id']}").status == 404)
        assert result.distance("a", "b") == 7 and result.matrix()[0, 1] == 7
        assert result.kind == result.matrix().dtype


def test_coordinates_can_be_set_and_queried(daemon):
    for edges, places in (([(" a", "b ", 1), ("b ", "c", 2)], {" a": (1, 2), "b ": (2.5, 3)}),
                          ([(7, 9, 1), (9, 8, 2)], {7: (1, 2), 9: (2.5, 3)}),
                          ([((0, 1), 'x,"y', 1), ('x,"y', "z", 2)], {(0, 1): (1, 2), 'x,"y': (2.5, 3)})):
        with client_of(daemon) as client:
            result = client.solve(edges)
            first, second = list(places)
            expect(apspd.Conflict, "NoCoordinates", result.nearest, lon=1, lat=2)
            result.coordinates = places
            assert result.coordinates == places, result.coordinates
            assert result.nearest(lon=1.1, lat=2) == first and result.nearest(first) == [(second, 1)]
            assert result.geojson(first, second)["geometry"]["coordinates"] == [[1, 2], [2.5, 3]]
            assert len(result.geojson(first, max=9)["features"]) == 2
            assert len(result.geojson(first, k=1)["features"]) == 1
            frame = pandas.DataFrame({"x": [100.0, 500.0], "y": [0.0, 1.0]})
            frame.index = pandas.Index(list(places), tupleize_cols=False)
            result.coordinates = frame
            assert result.coordinates == {first: (100, 0), second: (500, 1)}
            assert result.nearest(x=499, y=0) == second
            if isinstance(first, int):
                result.coordinates = frame.assign(id=[first, second]).reset_index(drop=True)
                assert result.nearest(x=499, y=0) == second
            result.set_coordinates(places, plane=True)
            assert result.nearest(x=1, y=1) == first
            expect(apspd.GraphError, "GraphError", result.set_coordinates, [1, 2])
            expect(apspd.NoSuchVertex, "NoSuchVertex", result.set_coordinates, {"nobody": (1, 2)})


def test_the_client_returns_lists_and_estimates_and_reports_progress(daemon):
    class Bar:
        """Records the updates that a progress bar of tqdm would receive."""
        n, total = 0, 1

        def update(self, more):
            self.n += more

    with client_of(daemon) as client:
        told, bar = [], Bar()
        result = client.solve([("p", "q", 1)], "listed", on_progress=lambda share, job: told.append((share, job["state"])))
        client.solve([("p", "q", 9)], on_progress=bar)
        assert told[-1] == (1, "done") and bar.n == 1, (told, bar.n)
        assert result.graph in [graph["id"] for graph in client.graphs()]
        assert result.job["id"] in [job["id"] for job in client.jobs(state="done")]
        assert [graph["id"] for graph in client.graphs(limit=1)] == [graph["id"] for graph in client.graphs()]
        assert client.estimate(result)["n"] == client.estimate("listed")["n"] == 2
        assert client.estimate(n=9, m=1, kind="i4")["fits"] is True
        frame = result.to_frame()
        assert frame.loc["p", "q"] == 1 and frame.loc["q", "p"] == math.inf


def test_a_notebook_shows_a_heat_map(daemon):
    with client_of(daemon) as client:
        shown = client.solve([(at, at + 1, 3) for at in range(40)], "shown")._repr_html_()
        root = xml.etree.ElementTree.fromstring(f"<div>{shown.replace('<br>', '')}</div>")
        assert "41 vertices, 40 edges, kind i4" in "".join(root.itertext()) and root.find("b").text == "shown"
        colors = {rect.get("fill") for rect in root.iter("rect")}
        assert "light is 118.5, grey is no path" in root.find("small").text, root.find("small").text
        assert len(list(root.iter("rect"))) > 400 and "#bbb" in colors and len(colors) > 5, colors
        assert "<b>&lt;i&gt;</b>" in apspd._notebook.summary_html({"state": "done"}, "<i>")
        assert "svg" not in client.submit([("a", "b", -1), ("b", "a", 0)])._repr_html_()


def test_updates_change_the_distances(daemon):
    with client_of(daemon) as client:
        result = client.solve([((0, 0), "b", 5), ("b", "c", 5)], "changing")
        before, other = copy.copy(result), client.result("changing")
        assert other.vertices == [(0, 0), "b", "c"]
        assert result.update([((0, 0), "c", numpy.int32(7)), ("b", "c", None)]) is result
        assert result.table().tolist() == [[0, 5, 7], [math.inf, 0, math.inf], [math.inf, math.inf, 0]]
        assert result.job["parent"] == before.graph != result.graph and before.distance((0, 0), "c") == 10
        assert result.update([("c", "b", 0.1)]).kind == "f8" and result.distance((0, 0), "b") == 5
        found = client.result("changing")
        assert found.graph == result.graph and found.distance((0, 0), "b") == 5 and result.distance("c", "b") == 0.1
        expect(apspd.Conflict, "PreconditionFailed", other.update, [((0, 0), "b", 1)])
        expect(apspd.NoSuchVertex, None, result.update, [("b", "z", 1)])
        expect(apspd.GraphError, None, result.update, [("b", "c", math.nan)])
        expect(apspd.NegativeCycle, None, result.update, [("b", (0, 0), -9)])
        assert result.distance("c", "b") == 0.1
        unnamed = client.solve([(0, 1, 5)], directed=False)
        assert unnamed.update([(1, 0, 3)]).distance(0, 1) == 3
        assert client.solve([(0, 1, 5)], result="hierarchy").update([(0, 1, 4)]).job["result"]["kind"] == "hierarchy"


def test_the_asynchronous_client_gives_the_same_answers(daemon):
    graph = road_graph()
    path = pathlib.Path(daemon.scratch, "small.gr")
    path.write_bytes(harness.SMALL)

    async def ask():
        async with apspd.AsyncClient(daemon.url) as client:
            result, small = await asyncio.gather(client.solve(graph, "async", result="matrix"), client.solve(path))
            assert await small.distance(1, 3) == 12 and list(small.vertices) == [1, 2, 3, 4]
            assert (await client.result("async")).graph == result.graph
            table, row, matrix = await asyncio.gather(result.table(), result.row("v7"), result.matrix())
            assert table[6].tolist() == row.tolist() and matrix.shape == table.shape
            assert await result.pairs([("v1", "v2")]) == table[0, 1]
            found = await result.path("v1", "v44")
            assert found.distance == await result.distance("v1", "v44") == table[0, 43]
            assert (await result.nearest("v1", 2)) == (await result.within("v1", 9999))[:2]
            assert (await result.stats())["n"] == N
            try:
                await result.row("nowhere")
                raise AssertionError("there is no such vertex")
            except apspd.NoSuchVertex:
                pass
            assert (await small.update([(1, 2, 1)])) is small and await small.distance(1, 3) == 8
            submitted = await client.submit([("p", "q", 1)])
            assert (await submitted.wait()).job["state"] == "done"
            await submitted.delete()

    asyncio.run(ask())
    def public(kind):
        return [name for name in dir(kind) if not name.startswith("_")]

    assert [name for name in public(apspd.Result) if name != "coordinates"] == public(apspd.AsyncResult)
    assert not [name for name in public(apspd.Result) if "steps" in name]
    assert set(public(apspd.Client)) - set(public(apspd.AsyncClient)) == {"local"}
    assert all(hasattr(apspd, name) for name in apspd.__all__)


if __name__ == "__main__":
    assert python_client
    harness.run(globals())
