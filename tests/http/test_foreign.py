"""Files of other formats are refused by name, and the command in the hint converts them.
NetworkX and igraph write and convert the files if Debian's Python has them."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness

TNTP = (b"<NUMBER OF ZONES> 3\n<END OF METADATA>\n\n~\tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\t;\n"
        b"\t1\t2\t259.5\t6\t7\t;\n\t2\t3\t234.1\t4\t5\t;\n")
TSPLIB = b"NAME: t\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\nEOF\n"
# Runs in a temporary folder and writes one file per name; a file that a library cannot write is
# skipped.
WRITER = """
import networkx as nx
G = nx.DiGraph([("a", "b", {"weight": 5}), ("b", "c", {"weight": 7.5}), ("a", "c", {"weight": 20})])
nx.write_gml(G, "g.gml")
nx.write_pajek(G, "g.net")
nx.write_gexf(G, "g.gexf")
nx.write_multiline_adjlist(G, "multi.adjlist")
nx.write_adjlist(nx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")]), "plain.adjlist")
try:
    nx.nx_agraph.write_dot(G, "g.dot")
except ImportError:
    pass
import igraph
g = igraph.Graph.TupleList([("a", "b", 5), ("b", "c", 7.5), ("a", "c", 20)], weights=True)
g.write_lgl("g.lgl", names="name", weights="weight")
"""
# file, format, query of the converted file, distance from a to c
CASES = (
    ("g.gml", "GML", "", 12.5),
    ("g.net", "Pajek", "", 12.5),
    ("g.gexf", "GEXF", "", 12.5),
    ("multi.adjlist", "multi-line", "?directed=false", 12.5),
    ("plain.adjlist", "adjacency", "?directed=false", 1),
    ("g.dot", "DOT", "", 12.5),
    ("g.lgl", "LGL", "?directed=false", 12.5),
)


def refuse(daemon, body, name):
    for query in ("", "?name=x"):
        problem = daemon.submit(body, query).expect(422, "BadGraph").json
    assert name in problem["detail"], problem
    # No other format= would help.
    assert not re.search(r"format=(?!edges\.)", problem["hint"]), problem
    return problem["hint"]


def run_hint(hint, folder, file):
    """Runs the command of the hint on the file, without the text after it."""
    line = re.match(r"Convert the file: (.*?)(?:; (?:if|pass|upload|column) .*|, with .*)?$", hint, re.S)[1]
    ending = file.rpartition(".")[2]
    target = pathlib.Path(folder, f"g.{ending}")
    if not target.exists() or target.name != file:
        shutil.copy(pathlib.Path(folder, file), target)
    command = ["sh", "-c", line] if line.startswith("awk") else [sys.executable, "-c", line]
    subprocess.run(command, cwd=folder, check=True)
    name = re.search(r"g\.(?:json|edges|csv)", line)[0]
    return pathlib.Path(folder, name).read_bytes()


def test_files_of_networkx_and_igraph_are_read_after_the_suggested_conversion(daemon):
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        done = subprocess.run([sys.executable, "-c", WRITER], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 or "ModuleNotFoundError" in done.stderr, done.stderr
        for file, name, query, distance in CASES:
            path = pathlib.Path(folder, file)
            if not path.exists():
                print("skipped:", file, "has no library that writes it")
                continue
            hint = refuse(daemon, path.read_bytes(), name)
            job = daemon.solve(run_hint(hint, folder, file), query)
            assert job["state"] == "done" and job["summary"]["n"] == 3, (file, job)
            found = daemon.distance(job["graph"], "a", "c")
            assert found == distance, (file, found, job["input"])


def test_files_of_other_tools_are_refused_with_a_working_conversion(daemon):
    with tempfile.TemporaryDirectory(prefix="apspd-test-") as folder:
        for file, body, name, distance in (("g.tntp", TNTP, "TNTP", 10), ("g.sif", b"1 pp 2\n2 pd 3 1\n", "SIF", 2)):
            hint = refuse(daemon, body, name)
            pathlib.Path(folder, file).write_bytes(body)
            job = daemon.solve(run_hint(hint, folder, file))
            assert daemon.distance(job["graph"], 1, 3) == distance, job
    assert "tsplib95" in refuse(daemon, TSPLIB, "TSPLIB")


def test_ambiguous_lists_of_neighbours_are_refused(daemon):
    """Without NetworkX's comment, the number of columns identifies the format."""
    problem = daemon.submit(b"0 1 3\n1 2\n2 3\n3\n").expect(422, "BadGraph").json
    assert "read_adjlist" in problem["hint"] and problem["line"] == 2, problem


def test_auxiliary_dimacs_files_are_refused_with_a_hint(daemon):
    for kind, way in (("co", "the .gr file"), ("p2p 1", "/distances")):
        body = f"c x\np aux sp {kind}\n".encode()
        for query in ("", "?format=dimacs"):
            problem = daemon.submit(body, query).expect(422, "BadGraph").json
            assert problem["line"] == 2 and way in problem["hint"], problem
    assert "coordinates" in daemon.submit(b"p aux sp co 2\nv 1 5 6\nv 2 7 8\n").json["detail"]


def test_hints_suggest_a_format_only_if_another_format_may_be_right(daemon):
    """A hint has no format= if the format is certain, or if no other format fits better."""
    for body in (b"hello there, world of graphs\nhow are you\n", b"p sp 2 1\na 1 5 7\n", b'{"n":2,"edges":[[0,5]]}'):
        problem = daemon.submit(body).expect(422, "BadGraph").json
        assert "format=" not in problem.get("hint", ""), problem


if __name__ == "__main__":
    harness.run(globals())
