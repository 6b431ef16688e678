"""Small files as tools write them: text, or the function that writes it if Python has the tool.
All contain one of two graphs, whose vertices are a to e, 0 to 4 or 1 to 5. The directed graph is
a b 5, b c 7.5, a c 20, c a 3, c d 2 and d e 1.5; the undirected one lacks c a. Integer
formats contain twice the weights."""

import csv
import importlib
import io
import pathlib
import re
import sqlite3
import struct
import tempfile
import zipfile

ARCS = (("a", "b", 5), ("b", "c", 7.5), ("a", "c", 20), ("c", "a", 3), ("c", "d", 2), ("d", "e", 1.5))
EDGES = tuple(arc for arc in ARCS if arc[:2] != ("c", "a"))


def crlf(text):
    return text.replace("\n", "\r\n")


def lines(form, edges=ARCS, first=1, scale=1, end="\n"):
    """Returns a line for each edge: {0} and {1} are vertices counted from `first`, {2} is the
    weight, {3} a counter."""
    return "".join(form.format("abcde".index(u) + first, "abcde".index(v) + first,
                               int(w * scale) if w * scale == int(w * scale) else w * scale, number)
                   + end for number, (u, v, w) in enumerate(edges))


def named(form, edges=ARCS, scale=1, end="\n"):
    """Like lines(), with named vertices."""
    return "".join(form.format(u, v, int(w * scale) if w * scale == int(w * scale) else w * scale, number)
                   + end for number, (u, v, w) in enumerate(edges))


def listed(form, edges=ARCS, first=None):
    """Like lines(), as elements of a JSON array."""
    form = form.replace("{", "{{").replace("}", "}}").replace("<", "{").replace(">", "}")
    text = named(form, edges, end=",") if first is None else lines(form, edges, first, end=",")
    return text[:-1]


def square(missing, separator=",", diagonal=None):
    rows = []
    for u in "abcde":
        row = {v: str(w) for s, v, w in ARCS if s == u}
        row.setdefault(u, missing if diagonal is None else diagonal)
        rows.append([row.get(v, missing) for v in "abcde"])
    return [separator.join(row) for row in rows]


def written(write):
    """Returns the bytes of the file that write(path) creates."""
    with tempfile.NamedTemporaryFile(prefix="apspd-test-", suffix=".txt") as file:
        write(file.name)
        file.seek(0)
        return file.read()


NODES = "".join('{"id":"%s"},' % v for v in "abcde")[:-1]
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="%s" attr.type="%s"/>
<graph edgedefault="directed">""" + "".join('<node id="%s"/>' % v for v in "abcde")
END = "</graph></graphml>\n"

TEXTS = {
    # Visual tools.
    "gephi directed": "Source,Target,Type,Id,Label,timeset,Weight\n" + named("{0},{1},Directed,{3},,,{2}"),
    "gephi undirected": "Source,Target,Type,Id,Label,timeset,Weight\n" + named("{0},{1},Undirected,{3},,,{2}", EDGES),
    "gephi matrix": ";a;b;c;d;e\n" + "".join("%s;%s\n" % (v, row) for v, row in zip("abcde", square("0.0", ";"))),
    "d3": '{"nodes":[%s],"links":[%s]}' % (NODES, listed('{"source":"<0>","target":"<1>","value":<2>}')),
    "d3 v3": '{"nodes":[%s],"links":[%s]}' % (NODES.replace("id", "name"),
                                              listed('{"source":<0>,"target":<1>,"value":<2>}', first=0)),
    "vis": '{"nodes":[%s],"edges":[%s]}' % (NODES, listed('{"id":<3>,"from":"<0>","to":"<1>","value":<2>}')),
    "cytoscape.js": '{"elements":{"nodes":[%s],"edges":[%s]}}' % (
        NODES.replace("{", '{"data":{').replace("}", "}}"),
        listed('{"data":{"id":"e<3>","source":"<0>","target":"<1>","weight":<2>}}')),
    "cx": '[{"numberVerification":[{"longNumber":281474976710655}]},{"nodes":[{"@id":0,"n":"a"},{"@id":1,"n":"b"}]},'
          '{"edges":[{"@id":2,"s":0,"t":1}]},{"edgeAttributes":[{"po":2,"n":"weight","v":"5","d":"double"}]}]',
    "graphology": '{"attributes":{},"options":{"type":"directed"},"nodes":[%s],"edges":[%s]}' % (
        NODES.replace("id", "key"),
        listed('{"key":"<3>","source":"<0>","target":"<1>","attributes":{"weight":<2>}}')),
    "echarts": '{"nodes":[%s],"links":[%s]}' % (NODES.replace("id", "name"),
                                                listed('{"source":"<0>","target":"<1>","value":<2>}')),
    "sif": named("{0}\tpp\t{1}"),
    "tgf": "".join("%d %s\n" % (v, name) for v, name in enumerate("abcde", 1)) + "#\n" + lines("{0} {1}"),
    "gdf": "nodedef>name VARCHAR,label VARCHAR\n" + "".join("%s,%s\n" % (v, v.upper()) for v in "abcde")
           + "edgedef>node1 VARCHAR,node2 VARCHAR,weight DOUBLE\n" + named("{0},{1},{2}"),
    "yed": """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key for="edge" id="d10" yfiles.type="edgegraphics"/><graph edgedefault="directed" id="G">
    <node id="n0"/><node id="n1"/><edge id="e0" source="n0" target="n1"><data key="d10"><y:PolyLineEdge>
      <y:EdgeLabel>5</y:EdgeLabel></y:PolyLineEdge></data></edge></graph></graphml>
""",
    "graphviz": "digraph {\n" + named('\t{0} -> {1} [weight={2}];') + "}\n",
    "boost": "digraph G {\n0;\n1;\n2;\n3;\n4;\n" + lines("{0}->{1}  [weight={2}];", first=0) + "}\n",
    "xgmml": '<?xml version="1.0"?>\n<graph label="g" directed="1" xmlns="http://www.cs.rpi.edu/XGMML">\n'
             '<node id="1" label="a"/><node id="2" label="b"/><edge source="1" target="2" weight="5"/></graph>\n',
    # Databases and tables.
    "neo4j import": ":START_ID,weight:float,:END_ID,:TYPE\n" + named("{0},{2},{1},ROAD"),
    "neo4j import 2": ":START_ID,:END_ID,weight:float,:TYPE\n" + named("{0},{1},{2},ROAD"),
    "neo4j apoc all": '"_id","_labels","name","_start","_end","_type","weight"\n"0",":P","a",,,,\n"1",":P","b",,,,\n'
                      ',,,"0","1","ROAD","5.0"\n',
    "neo4j query": '"a.name","b.name","r.weight"\n' + named('"{0}","{1}","{2}"'),
    "psql": " source | target | weight \n--------+--------+--------\n" + named(" {0}      | {1}      | {2:>6}")
            + "(6 rows)\n\n",
    "copy": named("{0}\t{1}\t{2}"),
    "pgrouting": "id,source,target,cost,reverse_cost\n"
                 + lines("{3},{0},{1},{2},-1"),
    "mysql": "source\ttarget\tweight\n" + named("{0}\t{1}\t{2}"),
    "sqlite list": named("{0}|{1}|{2}"),
    "sqlite json": "[" + listed('{"source":"<0>","target":"<1>","weight":<2>}').replace("},", "},\n") + "]\n",
    "duckdb": "source,target,weight\n" + named("{0},{1},{2}"),
    "duckdb km": "from_town,to_town,road_km,lanes\n" + named("{0},{1},{2},2"),
    "spark": lines("{0},{1},{2}"),
    "polars": "src,dst,distance\n" + named("{0},{1},{2}"),
    "jq": named('"{0}","{1}",{2}'),
    "r write.csv": '"","from","to","weight"\n' + named('"{3}","{0}","{1}",{2}'),
    "r write.table": '"from" "to" "weight"\n' + named('"{3}" "{0}" "{1}" {2}'),
    "r write.table numbers": '"from" "to" "weight"\n' + lines('"{3}" {0} {1} {2}'),
    "r matrix": '"","a","b","c","d","e"\n' + "".join('"%s",%s\n' % (v, row) for v, row in zip("abcde", square("NA"))),
    "matlab edges": lines("{0},{1},{2}"),
    "matlab table": "EndNodes_1,EndNodes_2,Weight\n" + named("{0},{1},{2}"),
    "matlab matrix": "\n".join(square("Inf", diagonal="0")) + "\n",
    "octave": "# Created by Octave 7.3.0, Mon Nov 23 09:00:00 2026 UTC <a@b>\n# name: A\n# type: matrix\n# rows: 5\n"
              "# columns: 5\n" + "".join(" %s\n" % row for row in square("0", " ")) + "\n\n",
    "julia": "\n".join(square("Inf", "\t", "0.0")) + "\n",
    "graphs.jl": "5,6,d,graph,2,Int64,simplegraph\n" + lines("{0},{1}"),
    "mathematica": crlf(lines("{0},{1},{2}")),
    "excel": "\ufeff" + crlf("Von;Nach;Gewicht\n" + named("{0};{1};{2}").replace(".", ",")),
    "excel english": "\ufeff" + crlf("from,to,weight\n" + named("{0},{1},{2}")),
    "excel unicode": crlf("from\tto\tweight\n" + named("{0}\t{1}\t{2}")),
    "libreoffice": "from,to,weight\n" + named('"{0}","{1}",{2}'),
    "sheets": crlf("Source,Target,Weight\n" + named("{0},{1},{2}")).rstrip("\r\n"),
    # Routing.
    "osmnx csv": "u,v,key,osmid,highway,oneway,reversed,length,geometry\n"
                 + lines('{0},{1},0,{3}77,residential,False,False,{2},"LINESTRING (7.4 46.9, 7.5 46.9)"'),
    "osmnx graphml": GRAPHML % ("length", "string") + named(
        '<edge source="{0}" target="{1}" id="0"><data key="d0">{2}</data></edge>') + END,
    "osm": '<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6"><node id="1" lat="46.9" lon="7.4"/>'
           '<way id="2"><nd ref="1"/><nd ref="3"/></way></osm>\n',
    "geojson": '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"length":5},'
               '"geometry":{"type":"LineString","coordinates":[[7.4,46.9],[7.5,46.9]]}}]}',
    "gtfs": "from_stop_id,to_stop_id,transfer_type,min_transfer_time\n" + named("{0},{1},2,{2}", scale=2),
    "openflights": "2B,410,AER,2965,KZN,2990,,0,CR2\n2B,410,ASF,2966,KZN,2990,,0,CR2\n",
    "osm2pgrouting": "gid,length,source,target,cost,reverse_cost,cost_s,reverse_cost_s\n"
                     + lines("1{3},0.1,{0},{1},0.1,-0.1,{2},-{2}"),
    "path4gmns": "name,link_id,from_node_id,to_node_id,length,lanes,cost\n" + lines(",{3},{0},{1},{2},2,0"),
    "osrm": '{"code":"Ok","durations":[[%s]],"sources":[{"name":"","location":[7.4,46.9]}],"destinations":[]}'
            % "],[".join(square("null")),
    "or-tools": "[[%s]]" % "],[".join(square("null", ", ", "0")),
    "r write.csv2": '"";"source";"target";"weight"\n' + named('"{3}";"{0}";"{1}";{2}').replace(".", ","),
    "sqlite bars": "source|target|weight\n" + named("{0}|{1}|{2}"),
    "mysql table": "+--------+--------+--------+\n| source | target | weight |\n+--------+--------+--------+\n"
                   + named("| {0}      | {1}      |    {2} |") + "+--------+--------+--------+\n",
    "markdown": "| source | target | weight |\n|:-------|:-------|-------:|\n" + named("| {0} | {1} | {2} |"),
    "old mac": ("Source,Target,Weight\n" + named("{0},{1},{2}")).replace("\n", "\r"),
    "tntp": "<NUMBER OF ZONES> 5\n<NUMBER OF LINKS> 6\n<END OF METADATA>\n\n~\tinit_node\tterm_node\tcapacity\tlength"
            "\tfree_flow_time\tb\tpower\tspeed\ttoll\tlink_type\t;\n" + lines("\t{0}\t{1}\t259\t{2}\t{2}\t0.15\t4\t0\t0\t1\t;"),
    # Collections and challenges.
    "snap directed": "# Directed graph (each unordered pair of nodes is saved once): g.txt\n# Nodes: 5 Edges: 6\n"
                     "# FromNodeId\tToNodeId\n" + lines("{0}\t{1}", first=0),
    "snap undirected": "# Undirected graph: ../../data/output/g.txt\n# Nodes: 5 Edges: 5\n# FromNodeId\tToNodeId\n"
                       + lines("{0}\t{1}", EDGES, first=0),
    "snap signed": "# Directed graph: g.txt\n# FromNodeId\tToNodeId\tSign\n" + lines("{0}\t{1}\t{2}", first=0),
    "snap temporal": lines("{0} {1} 12892419{3}1"),
    "snap rating": lines("{0},{1},{2},12892419{3}1.72836"),
    "konect asym": "% asym posweighted\n% 6 5 5\n" + lines("{0} {1} {2} 10820085{3}1"),
    "konect sym": "% sym posweighted\n% 5 5 5\n" + lines("{0} {1} {2}", EDGES),
    "network repository": lines("{0} {1} {2} 10820085{3}1"),
    "network repository mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 5\n" + lines("{1} {0}", EDGES),
    "suitesparse": "%%MatrixMarket matrix coordinate real general\n%" + "-" * 70 + "\n% name: T/g\n%" + "-" * 70
                   + "\n5 5 6\n" + lines("{0} {1} {2}"),
    "graphblas": "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type double\n5 5 6\n" + lines("{0} {1} {2}"),
    "string": "protein1 protein2 combined_score\n" + named("{0} {1} {2}", scale=2),
    "ogb": lines("{0},{1}", first=0),
    "graphalytics": lines("{0} {1} {2}"),
    "gap": lines("{0} {1} {2}", first=0, scale=2),
    "pbbs": "WeightedEdgeArray\n" + lines("{0} {1} {2}", first=0, scale=2),
    "ligra": "WeightedAdjacencyGraph\n5\n6\n0\n2\n3\n5\n6\n1\n2\n2\n0\n3\n4\n10\n40\n15\n6\n4\n3\n",
    "dimacs gr": "c 9th DIMACS Implementation Challenge\np sp 5 6\n" + lines("a {0} {1} {2}", scale=2),
    "dimacs co": "p aux sp co 5\n" + "".join("v %d -7353%d 4093%d\n" % (v, v, v) for v in range(1, 6)),
    "dimacs col": "c coloring\np edge 5 5\n" + lines("e {0} {1}", EDGES),
    "dimacs max": "c max-flow\np max 5 6\nn 1 s\nn 5 t\n" + lines("a {0} {1} {2}", scale=2),
    "dimacs min": "p min 5 6\nn 1 4\nn 5 -4\n" + lines("a {0} {1} 0 4 {2}", scale=2),
    "pace": "p tw 5 5\n" + lines("{0} {1}", EDGES),
    "metis": "5 5 001\n2 10 3 40\n1 10 3 15\n2 15 1 40 4 4\n3 4 5 3\n4 3\n",
    "metis hops": "5 5\n2 3\n1 3\n1 2 4\n3 5\n4\n",
    "tsplib": "NAME: g\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
              "EDGE_WEIGHT_SECTION\n0 5 20\n5 0 7\n20 7 0\nEOF\n",
    "steinlib": "33D32945 STP File, STP Format Version 1.0\n\nSECTION Graph\nNodes 5\nEdges 5\n"
                + lines("E {0} {1} {2}", EDGES, scale=2) + "END\n\nSECTION Terminals\nTerminals 1\nT 1\nEND\n\nEOF\n",
    "orlib": "5 5 1\n" + lines("{0} {1} {2}", EDGES, scale=2),
    "algs4": "5\n6\n" + lines("{0} {1} {2}", first=0),
    "contest": "5 6\n" + lines("{0} {1} {2}", scale=2),
    # Libraries that Debian's Python does not have.
    "jgrapht csv": named("{0},{1},{2}"),
    "jgrapht json": '{"creator":"JGraphT JSON Exporter","version":"1","nodes":[%s],"edges":[%s]}' % (
        NODES, listed('{"id":"<3>","source":"<0>","target":"<1>","weight":<2>}')),
    "lemon": "@nodes\nlabel\n" + "".join("%d\n" % v for v in range(5)) + "@arcs\n\t\tlabel\tweight\n"
             + lines("{0}\t{1}\t{3}\t{2}", first=0),
    "ucinet": "dl n=5 format=edgelist1\nlabels:\na,b,c,d,e\ndata:\n" + lines("{0} {1} {2}"),
    "ucinet matrix": "dl n=5 format=fullmatrix\nlabels:\na,b,c,d,e\ndata:\n" + "\n".join(square("0", " ")) + "\n",
    "graph-tool": GRAPHML % ("weight", "double") + named(
        '<edge id="e{3}" source="{0}" target="{1}"><data key="d0">{2}</data></edge>') + END,
    "rustworkx": '{"directed":true,"multigraph":true,"attrs":null,"nodes":[%s],"links":[%s]}' % (
        ",".join('{"id":%d,"data":null}' % v for v in range(5)),
        listed('{"source":<0>,"target":<1>,"id":<3>,"data":{"weight":"<2>"}}', first=0)),
    "jgf": '{"graph":{"directed":true,"nodes":{%s},"edges":[%s]}}' % (
        NODES.replace('{"id":', "").replace("}", ":{}"),
        listed('{"source":"<0>","target":"<1>","metadata":{"weight":<2>}}')),
}


def networkx_files():
    import json

    import networkx as nx

    graph, hops = nx.DiGraph(), nx.Graph([edge[:2] for edge in EDGES])
    graph.add_weighted_edges_from(ARCS)
    undirected = nx.Graph()
    undirected.add_weighted_edges_from(EDGES)
    numbered = nx.convert_node_labels_to_integers(undirected)
    yield "networkx edgelist", written(lambda path: nx.write_edgelist(graph, path))
    yield "networkx edgelist undirected", written(lambda path: nx.write_edgelist(undirected, path))
    yield "networkx edgelist hops", written(lambda path: nx.write_edgelist(hops, path))
    yield "networkx edgelist data", written(lambda path: nx.write_edgelist(graph, path, data=["weight"]))
    yield "networkx edgelist csv", written(lambda path: nx.write_edgelist(graph, path, delimiter=",", data=["weight"]))
    yield "networkx weighted", written(lambda path: nx.write_weighted_edgelist(graph, path))
    yield "networkx adjlist", written(lambda path: nx.write_adjlist(graph, path))
    yield "networkx multiline", written(lambda path: nx.write_multiline_adjlist(graph, path))
    yield "networkx gml", written(lambda path: nx.write_gml(graph, path))
    yield "networkx graphml", written(lambda path: nx.write_graphml(graph, path))
    yield "networkx graphml undirected", written(lambda path: nx.write_graphml(undirected, path))
    yield "networkx pajek", written(lambda path: nx.write_pajek(graph, path))
    yield "networkx gexf", written(lambda path: nx.write_gexf(graph, path))
    yield "networkx graph6", written(lambda path: nx.write_graph6(numbered, path))
    yield "networkx sparse6", written(lambda path: nx.write_sparse6(numbered, path))
    for name, form in (("node-link", nx.node_link_data), ("cytoscape", nx.cytoscape_data),
                       ("adjacency", nx.adjacency_data), ("dicts", nx.to_dict_of_dicts)):
        yield "networkx " + name, json.dumps(form(graph)).encode()
    yield "networkx node-link undirected", json.dumps(nx.node_link_data(undirected)).encode()


def igraph_files():
    import igraph

    graph = igraph.Graph.TupleList(ARCS, directed=True, weights=True)
    undirected = igraph.Graph.TupleList(EDGES, weights=True)
    weights = {"names": "name", "weights": "weight"}
    yield "igraph edgelist", written(graph.write_edgelist)
    yield "igraph ncol", written(lambda path: graph.write_ncol(path, **weights))
    yield "igraph ncol undirected", written(lambda path: undirected.write_ncol(path, **weights))
    yield "igraph lgl", written(lambda path: graph.write_lgl(path, **weights))
    yield "igraph adjacency", written(graph.write_adjacency)
    yield "igraph graphml", written(graph.write_graphml)
    yield "igraph pajek", written(graph.write_pajek)
    yield "igraph gml", written(graph.write_gml)
    yield "igraph dot", written(graph.write_dot)
    yield "igraph leda", written(lambda path: graph.write_leda(path, **weights))
    yield "igraph dimacs", written(lambda path: graph.write_dimacs(path, source=0, target=4, capacity="weight"))


def pandas_files():
    import pandas

    frame = pandas.DataFrame(ARCS, columns=["source", "target", "weight"])
    table = frame.pivot(index="source", columns="target", values="weight").reindex(
        index=list("abcde"), columns=list("abcde"))
    yield "pandas index", frame.to_csv().encode()
    yield "pandas", frame.to_csv(index=False).encode()
    yield "pandas semicolon", frame.to_csv(index=False, sep=";").encode()
    yield "pandas comma", frame.to_csv(index=False, sep=";", decimal=",").encode()
    yield "pandas table", table.rename_axis(index=None, columns=None).to_csv().encode()
    yield "pandas pivot", table.to_csv().encode()
    yield "pandas string", frame.to_string(index=False).encode()
    yield "pandas markdown", frame.to_html(index=False).encode()
    yield "pandas records", frame.to_json(orient="records").encode()
    yield "pandas lines", frame.to_json(orient="records", lines=True).encode()
    yield "pandas split", frame.to_json(orient="split").encode()
    yield "pandas columns", frame.to_json().encode()


def numpy_files():
    import numpy

    edges = numpy.array([["abcde".index(u), "abcde".index(v), w] for u, v, w in ARCS])
    matrix = numpy.zeros((5, 5))
    matrix[edges[:, 0].astype(int), edges[:, 1].astype(int)] = edges[:, 2]
    missing = numpy.where(matrix == 0, numpy.inf, matrix)
    numpy.fill_diagonal(missing, 0)
    yield "numpy edges", written(lambda path: numpy.savetxt(path, edges))
    yield "numpy edges header", written(lambda path: numpy.savetxt(path, edges, fmt="%g", header="from to weight"))
    yield "numpy matrix", written(lambda path: numpy.savetxt(path, matrix))
    yield "numpy matrix csv", written(lambda path: numpy.savetxt(path, matrix, delimiter=",", fmt="%g"))
    yield "numpy matrix inf", written(lambda path: numpy.savetxt(path, missing, fmt="%g"))
    for name, save in (("numpy save", numpy.save), ("numpy savez", numpy.savez)):
        file = io.BytesIO()
        save(file, missing)
        yield name, file.getvalue()


def scipy_files():
    import numpy
    from scipy import io as files
    from scipy import sparse

    matrix = numpy.zeros((5, 5))
    for u, v, w in ARCS:
        matrix["abcde".index(u), "abcde".index(v)] = w
    both = numpy.where(matrix == 3, 0, matrix)

    def market(a, **options):
        file = io.BytesIO()
        files.mmwrite(file, a, **options)
        return file.getvalue()

    yield "scipy coordinate", market(sparse.coo_matrix(matrix))
    yield "scipy array", market(numpy.where(matrix == 0, numpy.inf, matrix))
    yield "scipy pattern", market(sparse.coo_matrix(matrix != 0), field="pattern")
    yield "scipy symmetric", market(sparse.coo_matrix(both + both.T))
    file = io.BytesIO()
    sparse.save_npz(file, sparse.coo_matrix(matrix))
    yield "scipy npz", file.getvalue()


def sqlite_files():
    base = sqlite3.connect(":memory:")
    base.execute("create table edges(source text, target text, weight real)")
    base.executemany("insert into edges values(?, ?, ?)", ARCS)
    rows = io.StringIO(newline="")
    cursor = base.execute("select * from edges")
    csv.writer(rows).writerow(column[0] for column in cursor.description)
    csv.writer(rows).writerows(cursor)
    yield "sqlite csv", rows.getvalue().encode()
    yield "sqlite dump", "\n".join(base.iterdump()).encode()


# The versions of Debian 12, which wrote tool_files.txt.
VERSIONS = {"networkx": "2.8.8", "igraph": "0.10.2", "pandas": "1.5.3", "numpy": "1.24.2", "scipy": "1.10.1"}
LIBRARIES = {"networkx": networkx_files, "igraph": igraph_files, "pandas": pandas_files, "numpy": numpy_files,
             "scipy": scipy_files}
KEPT = pathlib.Path(__file__).with_suffix(".txt")


def undated(text):
    """Removes parts that depend on the time and the version."""
    return re.sub(rb'^#.*\n|^Creator .*\n|lastmodifieddate="[^"]*"', b"", text, flags=re.M)


def npy():
    """Returns what numpy.save writes for the matrix with inf."""
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (5, 5), }"
    rows = [float(field) for row in square("inf", diagonal="0") for field in row.split(",")]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + f"{head:117}\n".encode() + struct.pack("<25d", *rows)


def zip_of(name, data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


def kept_files():
    """Returns the stored files: those in this module and those in tool_files.txt, each after a
    line `==== name`."""
    _, *parts = re.split(r"^==== (.*)\n", KEPT.read_text(encoding="utf-8"), flags=re.M)
    files = {name: text[:-1].encode() for name, text in zip(parts[::2], parts[1::2])}
    files.update((name, text.encode()) for name, text in TEXTS.items())
    files["excel unicode"] = TEXTS["excel unicode"].encode("utf-16")
    files["libreoffice utf-16"] = files.pop("libreoffice").decode().encode("utf-16")
    files["numpy save"] = npy()
    files["numpy savez"] = zip_of("arr_0.npy", npy())
    files["scipy npz"] = zip_of("row.npy", npy())
    files["xlsx"] = zip_of("xl/workbook.xml", b"<workbook/>")
    files.update((name, head + bytes(64)) for name, head in (
        ("parquet", b"PAR1"), ("feather", b"ARROW1"), ("hdf5", b"\x89HDF\r\n\x1a\n"), ("gpkg", b"SQLite format 3\0"),
        ("mat", b"MATLAB 5.0 MAT-file"), ("pickle", b"\x80\x04\x95")))
    return files


def all_files():
    """Returns {name: bodies}: the stored file, and the one that the tool writes now if it is
    installed."""
    kept = kept_files()
    files = {name: [body] for name, body in kept.items()}
    for library, write in LIBRARIES.items():
        try:
            version = importlib.import_module(library).__version__
        except ImportError:
            print(library, "is not here: its files are those that were kept")
            continue
        for name, body in write():
            if version == VERSIONS[library] and body[:2] != b"PK":
                assert undated(body) == undated(kept[name]), f"{name} is not what {library} writes"
            files[name].append(body)
    for name, body in sqlite_files():
        files[name] = [body]
    return files
