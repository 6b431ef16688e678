"""Files of many tools: each is read as the graph that the tool meant, or refused by name with a
hint. If Python has the tool, it writes the file anew; in addition, tool_files.py and
tool_files.txt store the file as the tool wrote it, so that every tool is tested everywhere.
docs/tools.md has the same table."""

import pathlib
import re

import harness
import tool_files
from tool_files import ARCS, EDGES

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "tools.md"
RIGHT, UNDIRECTED = "read correctly", "read correctly with `directed=false`"
# For accepted files: the edges, the vertex names, and the factor of the weights.
NAMED, FROM_0, FROM_1 = (ARCS, "abcde", 1), (ARCS, range(5), 1), (ARCS, range(1, 6), 1)
NAMED_EDGES, EDGES_FROM_1 = (EDGES, "abcde", 1), (EDGES, range(1, 6), 1)
DOUBLED_FROM_0, DOUBLED_FROM_1 = (ARCS, range(5), 2), (ARCS, range(1, 6), 2)
HOPS_FROM_0, HOPS_FROM_1 = (ARCS, range(5), 0), (ARCS, range(1, 6), 0)
NODE_LINK = "networkx.node_link_data"
N0 = (ARCS, [f"n{v}" for v in range(5)], 1)

# The tool, its function or menu, the name of the file, its true graph, the verdict, and a remark.
# For a refusal, the verdict has words of the detail and the remark words of the hint. If there is a
# true graph too, the parameter in the remark makes the file readable.
CASES = (
    ("NetworkX", "`write_edgelist`", "networkx edgelist", NAMED, RIGHT, ""),
    ("NetworkX", "`write_edgelist` of a `Graph`", "networkx edgelist undirected", NAMED_EDGES, UNDIRECTED, ""),
    ("NetworkX", "`write_edgelist` without weights", "networkx edgelist hops", (EDGES, "abcde", 0), UNDIRECTED, ""),
    ("NetworkX", "`write_edgelist(data=['weight'])`", "networkx edgelist data", NAMED, RIGHT, ""),
    ("NetworkX", "`write_edgelist(delimiter=',', data=['weight'])`", "networkx edgelist csv", NAMED, RIGHT, ""),
    ("NetworkX", "`write_weighted_edgelist`", "networkx weighted", NAMED, RIGHT, ""),
    ("NetworkX", "`node_link_data` in JSON", "networkx node-link", NAMED, RIGHT, ""),
    ("NetworkX", "`node_link_data` of a `Graph`", "networkx node-link undirected", NAMED_EDGES, RIGHT, ""),
    ("NetworkX", "`cytoscape_data`", "networkx cytoscape", None, "refused: neither \"edges\" nor \"links\"", NODE_LINK),
    ("NetworkX", "`adjacency_data`", "networkx adjacency", None, "refused: neither \"edges\" nor \"links\"", NODE_LINK),
    ("NetworkX", "`to_dict_of_dicts`", "networkx dicts", None, "refused: neither \"edges\" nor \"links\"", NODE_LINK),
    ("NetworkX", "`write_adjlist`", "networkx adjlist", None, "refused: an adjacency list of NetworkX", "networkx.read_adjlist"),
    ("NetworkX", "`write_multiline_adjlist`", "networkx multiline", None,
     "refused: a multi-line adjacency list of NetworkX", "networkx.read_multiline_adjlist"),
    ("NetworkX", "`write_gml`", "networkx gml", None, "refused: a GML file", "networkx.read_gml"),
    ("NetworkX", "`write_graphml`", "networkx graphml", NAMED, RIGHT, ""),
    ("NetworkX", "`write_graphml` of a `Graph`", "networkx graphml undirected", NAMED_EDGES, RIGHT, ""),
    ("NetworkX", "`write_pajek`", "networkx pajek", None, "refused: a Pajek file", "networkx.read_pajek"),
    ("NetworkX", "`write_gexf`", "networkx gexf", None, "refused: a GEXF file", "networkx.read_gexf"),
    ("igraph", "`write_edgelist`", "igraph edgelist", HOPS_FROM_0, RIGHT, "has no weights"),
    ("igraph", "`write_ncol`", "igraph ncol", NAMED, RIGHT, ""),
    ("igraph", "`write_ncol` of an undirected graph", "igraph ncol undirected", NAMED_EDGES, UNDIRECTED, ""),
    ("igraph", "`write_lgl`", "igraph lgl", None, "refused: an LGL file", "igraph.Graph.Read_Lgl"),
    ("igraph", "`write_adjacency`", "igraph adjacency", HOPS_FROM_0, RIGHT, "as a matrix"),
    ("igraph", "`write_graphml`", "igraph graphml", N0, RIGHT, "vertices are `n0`, `n1`, ..."),
    ("igraph", "`write_pajek`", "igraph pajek", None, "refused: a Pajek file", "networkx.read_pajek"),
    ("igraph", "`write_gml`", "igraph gml", None, "refused: a GML file", "networkx.read_gml"),
    ("igraph", "`write_dot`", "igraph dot", None, "refused: a DOT file", "networkx.nx_agraph.read_dot"),
    ("igraph", "`write_dimacs`", "igraph dimacs", None, "refused: maximum flow", "p sp n m"),
    ("pandas", "`to_csv()`", "pandas index", NAMED, RIGHT, "the index is left out"),
    ("pandas", "`to_csv(index=False)`", "pandas", NAMED, RIGHT, ""),
    ("pandas", "`to_csv(sep=';')`", "pandas semicolon", NAMED, RIGHT, ""),
    ("pandas", "`to_csv(sep=';', decimal=',')`", "pandas comma", NAMED, "refused: decimal comma", "decimal=,"),
    ("pandas", "`pivot(...).to_csv()`", "pandas pivot", NAMED, RIGHT, "as a matrix"),
    ("pandas", "an adjacency frame's `to_csv()`", "pandas table", NAMED, RIGHT, "as a matrix"),
    ("pandas", "`to_json(orient='records')`", "pandas records", None, "refused: neither an object", "pandas.json_normalize"),
    ("pandas", "`to_json(orient='records', lines=True)`", "pandas lines", None, "refused: JSON lines", "pandas.read_json"),
    ("pandas", "`to_markdown`", "markdown", None, "refused: a Markdown table", "Convert the file: sed"),
    ("pandas", "`to_parquet`", "parquet", None, "refused: a Parquet file", "pandas.read_parquet"),
    ("pandas", "`to_feather`", "feather", None, "refused: an Arrow file", "pandas.read_feather"),
    ("pandas", "`to_hdf`", "hdf5", None, "refused: an HDF5 file", "pandas.read_hdf"),
    ("pandas", "`to_pickle`", "pickle", None, "refused: a pickle", "A pickle can run code"),
    ("pandas", "`to_string(index=False)`", "pandas string", NAMED, RIGHT, ""),
    ("NumPy", "`savetxt` of edges, `fmt='%g'`", "numpy edges header", FROM_0, RIGHT, ""),
    ("NumPy", "`savetxt` of edges", "numpy edges", FROM_0, RIGHT, ""),
    ("NumPy", "`savetxt` of a matrix", "numpy matrix", FROM_0, RIGHT, "as a matrix"),
    ("NumPy", "`savetxt(delimiter=',')` of a matrix", "numpy matrix csv", FROM_0, RIGHT, "as a matrix"),
    ("NumPy", "`savetxt` of a matrix with `inf`", "numpy matrix inf", FROM_0, RIGHT, "as a matrix"),
    ("NumPy", "`save` of a matrix with `inf`", "numpy save", FROM_0, RIGHT, ""),
    ("NumPy", "`savez`", "numpy savez", None, "refused: a zip archive", "numpy.save('g.npy'"),
    ("SciPy", "`mmwrite` of a `coo_matrix`", "scipy coordinate", FROM_1, RIGHT, ""),
    ("SciPy", "`mmwrite` of a pattern", "scipy pattern", HOPS_FROM_1, RIGHT, ""),
    ("SciPy", "`mmwrite` of a symmetric matrix", "scipy symmetric", EDGES_FROM_1, RIGHT, ""),
    ("SciPy", "`mmwrite` of an array with `inf`", "scipy array", FROM_1, RIGHT, ""),
    ("SciPy", "`save_npz`", "scipy npz", None, "refused: a zip archive", "scipy.sparse.load_npz"),
    ("SuiteSparse", "collection, `.mtx`", "suitesparse", FROM_1, RIGHT, ""),
    ("GraphBLAS", "LAGraph's `.mtx`", "graphblas", FROM_1, RIGHT, ""),
    ("Network Repository", "`.mtx`", "network repository mtx", (EDGES, range(1, 6), 0), RIGHT, ""),
    ("Network Repository", "`.edges` with weight and time", "network repository", FROM_1,
     "refused: an edge with its weight in column 3 or later", "weight=3"),
    ("SNAP", "`# Directed graph`", "snap directed", HOPS_FROM_0, RIGHT, ""),
    ("SNAP", "`# Undirected graph`", "snap undirected", (EDGES, range(5), 0), RIGHT, ""),
    ("SNAP", "`# FromNodeId ToNodeId Sign`", "snap signed", FROM_0, RIGHT, "weights are the third column, with a warning"),
    ("SNAP", "temporal: source, target, time", "snap temporal", HOPS_FROM_1, "refused: look like times", "weight=none"),
    ("SNAP", "ratings: source, target, rating, time", "snap rating", FROM_1,
     "refused: an edge with its weight in column 3 or later", "weight=3"),
    ("KONECT", "`out.*`, `% asym`, with times", "konect asym", FROM_1, RIGHT, ""),
    ("KONECT", "`out.*`, `% sym`", "konect sym", EDGES_FROM_1, RIGHT, ""),
    ("STRING", "`protein.links.txt`", "string", (ARCS, "abcde", 2), RIGHT, ""),
    ("OGB", "`edge.csv`", "ogb", HOPS_FROM_0, RIGHT, "weights are in a separate file"),
    ("LDBC Graphalytics", "`.e`", "graphalytics", FROM_1, RIGHT, ""),
    ("GAP benchmark", "`.wel`", "gap", DOUBLED_FROM_0, RIGHT, ""),
    ("DIMACS 9th challenge", "`.gr`", "dimacs gr", DOUBLED_FROM_1, RIGHT, ""),
    ("DIMACS 9th challenge", "`.co`", "dimacs co", None, "refused: coordinates", "the .gr file"),
    ("DIMACS colouring", "`.col`", "dimacs col", None, "refused: graph colouring", "p sp n m"),
    ("DIMACS flow", "`.max`", "dimacs max", None, "refused: maximum flow", "p sp n m"),
    ("DIMACS flow", "NETGEN's `.min`", "dimacs min", None, "refused: minimum cost flow", "p sp n m"),
    ("METIS", "`.graph`", "metis", (EDGES, range(1, 6), 2), RIGHT, ""),
    ("METIS", "`.graph` without weights", "metis hops", (EDGES, range(1, 6), 0), RIGHT, ""),
    ("TSPLIB", "`.tsp`", "tsplib", None, "refused: a TSPLIB file", "tsplib95.load"),
    ("Transportation Networks", "`_net.tntp`", "tntp", None, "refused: a TNTP network", "awk '"),
    ("OSMnx", "edges of `graph_to_gdfs` to CSV", "osmnx csv", FROM_1, RIGHT, "weights are `length`"),
    ("OSMnx", "`save_graphml`", "osmnx graphml", NAMED, RIGHT, "weights are `length`"),
    ("pgRouting", "edges with `reverse_cost`, CSV", "pgrouting", FROM_1, RIGHT, "a negative cost closes the direction"),
    ("osm2pgrouting", "`ways` to CSV, with `cost_s` and `reverse_cost_s`", "osm2pgrouting", FROM_1,
     "refused: either may be the weight", "weight=cost_s"),
    ("Path4GMNS", "`link.csv`", "path4gmns", FROM_1, "refused: \"length\" and \"cost\"", "weight=length"),
    ("OSRM", "answer of `table`", "osrm", FROM_0, RIGHT, "as a matrix; `weight=distances` chooses one of two"),
    ("OR-Tools", "nested lists in JSON, as in VROOM and cuOpt", "or-tools", FROM_0, RIGHT, "as a matrix"),
    ("QGIS", "GeoPackage `.gpkg`", "gpkg", None, "refused: a GeoPackage", "sqlite3 -csv"),
    ("GTFS", "`transfers.txt`", "gtfs", (ARCS, "abcde", 2), "refused: min_transfer_time", "weight=min_transfer_time"),
    ("Gephi", "edges, directed, CSV", "gephi directed", NAMED, RIGHT, ""),
    ("Gephi", "edges, undirected, CSV", "gephi undirected", NAMED_EDGES, RIGHT, "by the column `Type`"),
    ("Gephi", "`.gdf`", "gdf", None, "refused: a GDF file", "sed '1,/^edgedef>/d' g.gdf >g.csv"),
    ("Gephi", "matrix, CSV", "gephi matrix", NAMED, RIGHT, "as a matrix"),
    ("D3", "`nodes` and `links` with ids", "d3", NAMED, RIGHT, ""),
    ("D3", "`nodes` and `links` by index", "d3 v3", None, "refused: no \"id\"", NODE_LINK),
    ("ECharts", "`nodes` and `links`", "echarts", None, "refused: no \"id\"", NODE_LINK),
    ("graphology", "`export()`", "graphology", None, "refused: no \"id\"", NODE_LINK),
    ("Cytoscape.js", "`elements`", "cytoscape.js", None, "refused: neither \"edges\" nor \"links\"", NODE_LINK),
    ("vis.js", "`nodes` and `edges`", "vis", NAMED, RIGHT, ""),
    ("JSON Graph Format", "version 2", "jgf", NAMED, RIGHT, ""),
    ("JGraphT", "`CSVExporter`", "jgrapht csv", NAMED, RIGHT, ""),
    ("JGraphT", "`JSONExporter`", "jgrapht json", NAMED, RIGHT, ""),
    ("graph-tool", "`save('g.graphml')`", "graph-tool", NAMED, RIGHT, ""),
    ("rustworkx", "`node_link_json`", "rustworkx", None, "refused: a number", "a number in the edge itself"),
    ("yEd", "`.graphml` with labels", "yed", None, "refused: a number", "another attribute with weight="),
    ("yEd", "`.tgf`", "tgf", None, "refused: TGF", "Remove this line and the node"),
    ("Graphviz", "`.dot`", "graphviz", None, "refused: a DOT file", "networkx.nx_agraph.read_dot"),
    ("Boost", "`write_graphviz`", "boost", None, "refused: a DOT file", "networkx.nx_agraph.read_dot"),
    ("Cytoscape", "`.sif`", "sif", None, "refused: a SIF file", "awk '"),
    ("Neo4j", "`admin import`: `:START_ID,weight:float,:END_ID`", "neo4j import", NAMED, RIGHT, ""),
    ("Neo4j", "`admin import`: `:START_ID,:END_ID,weight:float`", "neo4j import 2", NAMED, RIGHT, ""),
    ("Neo4j", "`apoc.export.csv.query`", "neo4j query", NAMED, RIGHT, ""),
    ("PostgreSQL", "`COPY edges TO`", "copy", NAMED, RIGHT, ""),
    ("PostgreSQL", "`psql`, as a table", "psql", None, "refused: a table printed by psql", "psql --csv"),
    ("MySQL", "`mysql --batch`", "mysql", NAMED, RIGHT, ""),
    ("MySQL", "`mysql --table`", "mysql table", None, "refused: psql or mysql", "mysql --batch"),
    ("SQLite", "`sqlite3 -csv -header`", "sqlite csv", NAMED, RIGHT, ""),
    ("SQLite", "`sqlite3 -header`", "sqlite bars", NAMED, RIGHT, ""),
    ("SQLite", "`sqlite3 -json`", "sqlite json", None, "refused: neither an object", "pandas.json_normalize"),
    ("DuckDB", "`COPY edges TO 'g.csv'`", "duckdb", NAMED, RIGHT, ""),
    ("DuckDB", "two columns of numbers, none a known name", "duckdb km", NAMED, "refused: road_km, lanes", "weight=road_km"),
    ("Spark", "`write.csv`", "spark", FROM_1, RIGHT, ""),
    ("Polars", "`write_csv`", "polars", NAMED, RIGHT, ""),
    ("jq", "`@csv`", "jq", NAMED, RIGHT, ""),
    ("R", "`write.csv(df)`", "r write.csv", NAMED, RIGHT, "row names are left out"),
    ("R", "`write.csv2(df)`", "r write.csv2", NAMED, "refused: decimal comma", "decimal=,"),
    ("R", "`write.table(df)`", "r write.table", None, "refused: 4 columns", "row.names=FALSE"),
    ("R", "`write.table(df)` of numbers", "r write.table numbers", None, "refused: 4 columns", "row.names=FALSE"),
    ("R", "`write.csv(matrix)`", "r matrix", NAMED, RIGHT, "as a matrix"),
    ("MATLAB", "`writematrix` of edges", "matlab edges", FROM_1, RIGHT, ""),
    ("MATLAB", "`writematrix` of distances with `Inf`", "matlab matrix", FROM_0, RIGHT, "as a matrix"),
    ("MATLAB", "`writetable(G.Edges)`", "matlab table", NAMED, RIGHT, ""),
    ("MATLAB", "`save`", "mat", None, "refused: a .mat file", "loadmat"),
    ("Octave", "`save -text` of a matrix", "octave", FROM_0, RIGHT, "as a matrix"),
    ("Julia", "`writedlm` of a matrix", "julia", FROM_0, RIGHT, "as a matrix"),
    ("Mathematica", "`Export` to CSV", "mathematica", FROM_1, RIGHT, ""),
    ("Excel", "CSV UTF-8", "excel english", NAMED, RIGHT, ""),
    ("Excel", "CSV with `;` and decimal comma", "excel", NAMED, "refused: decimal comma", "decimal=,"),
    ("Excel", "Unicode text, UTF-16", "excel unicode", NAMED, RIGHT, ""),
    ("Excel", "`.xlsx`", "xlsx", None, "refused: a zip archive", "save a sheet as CSV"),
    ("Excel", "CSV (Macintosh)", "old mac", None, "refused: classic Mac line endings", r"tr '\r' '\n' <g.csv >h.csv"),
    ("LibreOffice", "CSV, UTF-16", "libreoffice utf-16", NAMED, RIGHT, ""),
    ("Google Sheets", "CSV", "sheets", NAMED, RIGHT, ""),
    ("OR-Library", "p-median", "orlib", None, "refused: the numbers of vertices and edges", "otherwise remove the line"),
    ("algs4", "`V`, `E`, then the edges", "algs4", None, "refused: one column", "the number of vertices or edges"),
    ("Programming contests", "`n m`, then the edges", "contest", DOUBLED_FROM_1, RIGHT, ""),
)


def distances_of(truth, directed):
    """Runs Dijkstra between vertices as the file names them."""
    edges, names, scale = truth
    renamed = dict(zip("abcde", names))
    edges = [(renamed[u], renamed[v], w * scale or 1) for u, v, w in edges]
    return harness.distances_of(edges, list(names), directed)


def expect_right(daemon, body, truth, query=""):
    """Returns the document of the job, whose matrix must be that of the true graph."""
    job = daemon.solve(body, query)
    assert job["state"] == "done", job
    found = daemon.get(f"/v1/graphs/{job['graph']}/matrix?format=json").expect(200).json
    names = found["sources"]
    distances = {(source, target): distance for source, row in zip(names, found["distances"])
                 for target, distance in zip(names, row) if distance is not None}
    wanted = distances_of(truth, truth[0] is ARCS)
    assert distances == wanted, (job["input"], distances, wanted)
    return job


def check(daemon, body, truth, verdict, way):
    if verdict == RIGHT:
        expect_right(daemon, body, truth)
        return
    if verdict == UNDIRECTED:
        expect_right(daemon, body, truth, "?directed=false")
        return
    for query in ("", "?name=x"):
        problem = daemon.submit(body, query).expect(422, "BadGraph").json
        assert verdict.removeprefix("refused: ") in problem["detail"], problem
        assert (way.partition("=")[0] + "=" if truth else way) in problem["hint"], problem
    if truth:
        expect_right(daemon, body, truth, "?" + way)


def test_files_of_tools_are_read_or_refused_as_documented(daemon):
    files = tool_files.all_files()
    failed = []
    for _, _, name, *case in CASES:
        for body in files[name]:
            try:
                check(daemon, body, *case)
            except AssertionError as problem:
                failed.append(f"{name}: {problem}")
    assert not failed, "\n".join(failed)


def test_the_document_about_tools_contains_the_table_of_cases(_):
    rows = [f"| {tool} | {how} | {verdict} | {f'`{way}`' if 'refused' in verdict else way} |".replace("|  |", "| |")
            for tool, how, _, _, verdict, way in CASES]
    found = re.findall(r"^\|.*\|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert found[2:] == rows, "\n".join(rows)
    tools = len({tool for tool, *_ in CASES})
    assert tools >= 40 and f"{tools} tools" in DOCUMENT.read_text(encoding="utf-8"), tools


if __name__ == "__main__":
    harness.run(globals())
