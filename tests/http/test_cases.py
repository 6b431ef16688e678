"""Files and queries that gave users of other tools wrong answers: each is read correctly,
refused with a hint, or accepted with a warning that names the interpretation."""

import json

import harness
from test_warnings import npy

GRAPHML = ('<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
           '<key id="w" for="edge" attr.name="%s" attr.type="%s">%s</key><graph edgedefault="%s">%s</graph></graphml>')
NO_WAY = 2**31 - 1
SQUARE = (0, 5, NO_WAY, NO_WAY, 0, NO_WAY, NO_WAY, NO_WAY, 0)
NODES = '"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}]'
OSM2PGROUTING = ("gid,source,target,cost,reverse_cost,cost_s,reverse_cost_s\n1,10,20,0.5,-0.5,8,-8\n"
                 "2,20,30,0.5,0.25,8,4\n")
# For each accepted body: its parameters, its edges, and the codes of its warnings except
# DirectedAssumed.
READ = (
    # Cases about columns and their names.
    (",source,target,weight\n0,a,b,5\n1,b,c,6\n", "", "a b 5, b c 6", "ColumnsUnused"),
    ("source,target,weight\n1,2,10,\n2,3,20,\n", "", "1 2 10, 2 3 20", ""),
    ("Source,Target,Weight,,,\r\nA,B,5,,,\r\nB,C,6,,,\r\n", "", "A B 5, B C 6", "ColumnsUnused"),
    ("from,to,name\na,b,Main street\nb,c,Side\n", "", "a b 1, b c 1", "WeightsAbsent"),
    ("from,to,length,cost\na,b,5,0\nb,c,7,0\n", "weight=length", "a b 5, b c 7", "ColumnsUnused"),
    ("from,to,weight\na,b,0\nb,c,0\n", "", "a b 0, b c 0", "AllWeightsZero"),
    ("left,right,km\na,b,5\nb,c,6\n", "", "a b 5, b c 6", "FormatGuessed HeaderGuessed"),
    ("起点,终点,距离\n北京,上海,1200\n上海,广州,1400\n", "", "北京 上海 1200, 上海 广州 1400", "FormatGuessed HeaderGuessed"),
    ("link_id,a_node,b_node,distance\n1,10,20,5\n", "source_column=a_node&target_column=b_node", "10 20 5",
     "ColumnsUnused"),
    ("km,left,right\n5,x,y\n6,y,z\n", "source_column=3&target_column=2", "y x 5, z y 6", "FormatGuessed"),
    ("km,left,right\n5,x,y\n6,y,z\n", "source_column=2&target_column=3&weight=1", "x y 5, y z 6", ""),
    ("left,km,right\nx,5,y\ny,6,z\n", "source_column=1&target_column=3", "x y 5, y z 6", "FormatGuessed"),
    ("1,5,2\n2,6,3\n", "source_column=1&target_column=3", "1 2 5, 2 3 6", ""),
    ("wie,von,nach\nx,y,z\n", "source_column=2&target_column=3&weight=none", "von nach 1, y z 1", "FormatGuessed"),
    ("S T 1\nA B 2\n", "", "S T 1, A B 2", "FormatGuessed"),
    ("level_0,level_1,0\na,b,5\nb,c,6\n", "", "level_0 level_1 0, a b 5, b c 6", "FormatGuessed"),
    ("S T\nA B\nB S\n", "", "S T 1, A B 1, B S 1", ""),
    ('source,target,weight,"long\nname"\n"New\nYork",b,5,x\n', "", [["New\nYork", "b", 5]], "ColumnsUnused"),
    (":START_ID(P),:END_ID(P),:TYPE,weight:double\na,b,K,5.5\n", "", "a b 5.5", "ColumnsUnused"),
    ('source,target,weight,note\na,b,5,"one\rtwo"\nb,c,6,x\n', "", "a b 5, b c 6", "ColumnsUnused"),
    ("source,target,weight\na,NULL,5\nb,c,6\n", "", "a NULL 5, b c 6", "FormatGuessed"),
    # Cases about the direction of edges.
    ("from,to,length,oneway\na,b,5,yes\nb,c,7,no\nc,d,1,-1\n", "", "a b 5, b c 7, c b 7, d c 1", "DirectionsRead"),
    ("source,target,cost\n1,2,4\n2,1,-1\n2,3,5\n", "", "1 2 4, 2 1 -1, 2 3 5", "NegativeCosts"),
    ("source,target,cost\n1,2,4\n2,1,-1\n2,3,5\n", "no_edge=-1", "1 2 4, 2 3 5", ""),
    ("source,target,cost,reverse_cost\n1,2,-1,4\n2,3,5,6\n", "", "2 1 4, 2 3 5, 3 2 6", "DirectionsRead"),
    ("source,target,cost,reverse_cost,reverse_cost_s\n1,2,-1,4,9\n2,3,5,6,9\n", "", "2 1 4, 2 3 5, 3 2 6",
     "ColumnsUnused DirectionsRead"),
    (OSM2PGROUTING, "weight=cost", "10 20 0.5, 20 30 0.5, 30 20 0.25", "ColumnsUnused DirectionsRead"),
    (OSM2PGROUTING, "weight=cost_s", "10 20 8, 20 30 8, 30 20 4", "ColumnsUnused DirectionsRead"),
    ("Source,Target,Type,Weight\n0,1,Undirected,1.5\n", "", "0 1 1.5", ""),
    # Spreadsheets: byte order marks, delimiters, line ends, decimal commas.
    ("\ufeffsep=;\r\nsource;target;weight\r\na;b;2\r\nb;c;3\r\n", "", "a b 2, b c 3", ""),
    ('\ufeff"Source","Target","Weight"\n"A","B","5"\n', "", "A B 5", ""),
    ("Source\tTarget\tWeight\r\nA\tB\t1,5\r\n".encode("utf-16"), "decimal=,", "A B 1.5", ""),
    ('"";"from";"to";"weight"\n"1";"a";"b";1,5\n', "decimal=,", "a b 1.5", "ColumnsUnused"),
    ("a;b;1,5\nb;c;2,25\n", "decimal=,", "a b 1.5, b c 2.25", ""),
    ("Source,Target,Weight\r\r\nA,B,5\r\r\nB,C,6\r\r\n", "", "A B 5, B C 6", ""),
    ("Source,Target,Weight\r\nA,B,5\nB,C,6\r\nC,A,1", "", "A B 5, B C 6, C A 1", ""),
    ("source,target,weight\r\na,b,5\r\n\x1a", "", "a b 5", ""),
    ("source|target|weight\na|b|5\nb|c|6\n", "", "a b 5, b c 6", ""),
    ("source,target,weight\n1.0,2.0,+5\n2.0,3.0,.5\n3.0,4e+00,5.\n", "", "1 2 5, 2 3 0.5, 3 4 5", ""),
    ('"New York, NY",São Paulo,7686.5\nSão Paulo,"O""Higgins",4300\n', "",
     [["New York, NY", "São Paulo", 7686.5], ["São Paulo", 'O"Higgins', 4300]], ""),
    ("http://a.example/x#top http://b.example/y 2\n", "", "http://a.example/x#top http://b.example/y 2", ""),
    ("-5,0,2\n0,-7,4\n", "", "0 -7 4, -5 0 2", ""),
    ("source,target,weight\n007,008,5\n008,7,6\n", "", [["007", "008", 5], ["008", "7", 6]], ""),
    # Weights that mean a missing edge.
    (npy(b"<i4", "<9i", *SQUARE), f"no_edge={NO_WAY}", "0 1 5", ""),
    (npy(b"<i8", "<4q", 0, 2**63 - 1, 5, 0), "", "1 0 5", ""),
    ("a,b,1e18\nb,c,1\n", "no_edge=1e18", "b c 1", ""),
    ("a,b,9223372036854775807\nb,c,1\n", "no_edge=9223372036854775807", "b c 1", ""),
    # Cases about matrices.
    ("[[0,5,9],[5,0,2],[9,2,0]]", "", "0 1 5, 0 2 9, 1 0 5, 1 2 2, 2 0 9, 2 1 2", ""),
    ('{"durations":[[0,5],[5,null]]}', "", "0 1 5, 1 0 5", ""),
    ('{"durations":[[0,5],[6,0]],"distances":[[0,50],[60,0]]}', "weight=distances", "0 1 50, 1 0 60", ""),
    ("[[0,-1],[5,0]]", "", "0 1 -1, 1 0 5", "NegativeCosts"),
    ("[[0]]", "", "", ""),
    ("0,5,9,\n5,0,2,\n9,2,0,\n", "", "0 1 5, 0 2 9, 1 0 5, 1 2 2, 2 0 9, 2 1 2", "FormatGuessed"),
    ('"","a","b","c"\n"a",0,5,NA\n"b",5,0,2\n"c",NA,2,0\n', "", "a b 5, b a 5, b c 2, c b 2", "FormatGuessed"),
    (";a;b\na;0;1,5\nb;2,5;0\n", "decimal=,&format=matrix", "a b 1.5, b a 2.5", ""),
    (npy(b"<i8", "<4q", 0, 1, 1, 2), "format=npy", "0 1 1, 1 0 1", ""),
    # Cases in Matrix Market, METIS, GraphML and JSON.
    ("%%MatrixMarket matrix coordinate unsigned-integer general\n%\n3 3 2\n1 2 4\n2 3 4294967295\n", "",
     "1 2 4, 2 3 4294967295", ""),
    ("3 0\n\n\n\n", "format=metis", "", ""),
    (GRAPHML % ("stairs", "boolean", "", "directed", '<node id="a"/><node id="b"/><edge source="a" target="b">'
                '<data key="w">0</data></edge>'), "", "a b 1", "WeightsAbsent"),
    (GRAPHML % ("weight", "int", "<default>7</default>", "undirected", '<edge source="a" target="c">'
                '<data key="w">2</data></edge><edge source="c" target="b"/><node id="b"/><node id="a"/>'
                '<node id="c"/>'), "", "b c 7, a c 2", ""),
    (GRAPHML % ("weight", "int", "", "directed", '<node id="a"/><node id="b"/><edge source="a" target="b" '
                'directed="0"><data key="w">2</data></edge>'), "", "a b 2, b a 2", ""),
    ("{" + NODES + ',"edges":[{"source":"a","target":"b","weight":5,"oneway":false}]}', "", "a b 5, b a 5",
     "DirectionsRead"),
    ('{"directed":true,"nodes":[{"id":1243532000000000001},{"id":2}],"links":[{"source":1243532000000000001,'
     '"target":2,"weight":5}]}', "", [["1243532000000000001", 2, 5]], ""),
)
ENDS, PLACES = "source_column=", "/coordinates"
# For each refused body: its parameters, the position of the error, and words of detail and hint.
REFUSED = (
    # A header that is repeated in a later line, as in joined files.
    ("from,to,name\na,b,Main\nfrom,to,name\nb,c,Side\n", "", None, "is also a vertex", "all headers but the first"),
    ("source,target,weight\na,b,1\nsource,target,weight\nb,c,2\n", "weight=none", None, "is also a vertex",
     "all headers but the first"),
    ("from,to,km\na,b,5 km\n", "", (2, 5), "5 km", "units"),
    ('from,to,dist\na,b,"1,234"\n', "", (2, 5), "1,234", "thousands"),
    ("from;to;strecke\na;b;1,5\n", "", (2, 5), "decimal comma", "decimal=,"),
    ("from,to,trip\na,b,1:30\n", "", (2, 5), "1:30", "only the number"),
    ("from,to,fare\na,b,$5\n", "", (2, 5), "$5", "currency"),
    ("from,to,share\na,b,50%\n", "", (2, 5), "50%", "only the number"),
    ("from,to,km\na,b,5\nb,c,n/a\n", "", (3, 5), "n/a", "omit"),
    ("from,to,km\na,b,n/a\nb,c,5\n", "", (3, 5), "'5'", "weight=km"),
    ("source,target,weight\na,b,\\N\n", "", (2, 5), "\\N", "only the number"),
    ("Source,Target,Weight\nA,B,#DIV/0!\n", "", (2, 5), "#DIV/0!", "only the number"),
    ("Source,Target,Weight\nA,B,\u22125\n", "", (2, 5), "\u22125", "only the number"),
    ("source,target,weight\na,b,2\nb,c,\n", "", (3, 5), "missing", "weight=none"),
    (GRAPHML % ("weight", "int", "", "directed", '\n<node id="a"/><node id="b"/>\n<edge source="a" target="b">'
                '<data key="w">2</data></edge>\n<edge source="b" target="a"/>'), "", (4, 1), "missing", "weight=none"),
    ("{" + NODES + ',"links":[{"source":"a","target":"b","weight":2},\n{"source":"b","target":"c"}]}', "", (2, 1),
     "missing", "weight=none"),
    ('{"n":3,"edges":[[0,1,5],\n[1,2]]}', "", (2, 1), "missing", "weight=none"),
    ('{"graph":{"nodes":{"a":{},"b":{}},"edges":[{"source":"a","target":"b","metadata":{"weight":2}},\n'
     '{"source":"b","target":"a"}]}}', "", (2, 1), "missing", "weight=none"),
    ("from,to,length,cost\na,b,5,0\n", "", (1, 16), '"length" and "cost"', "weight=length or weight=cost"),
    ("link_id,a_node,b_node,direction,distance\n1,10,20,1,5\n", "", (1, 1), "a_node", ENDS),
    ("distance,a,b\n5,x,y\n6,y,z\n", "", (1, 12), "'b'", ENDS),
    ("node,lon,lat\na,5.5,50\n", "", (1, 1), "table of places", PLACES),
    ("Id,Label\n1,Anna\n2,Bob\n", "", (1, 1), "table of places", PLACES),
    ("id,name\n1,Rome\n2,Lima\n", "", (1, 1), "table of places", PLACES),
    ("stop_id,stop_name,stop_lat,stop_lon\n1,Rome,41,12\n", "", (1, 1), "table of places", PLACES),
    ("from,to,length,oneway\na,b,5,B\n", "", (2, 7), "oneway is 'B'", "-1"),
    ("Source,Target,Type,Weight\n0,1,Undirected,1\n1,2,Directed,2\n", "", (3, 5), "Directed", "directed="),
    ("source,target\na,b\nsource,target\nb,c\n", "", (1, 1), "'source' is also a vertex", "all headers but the first"),
    ("a,b,2147483647\nb,c,4\n", "", (1, 5), "largest value", "no_edge=2147483647"),
    ("a,b,9223372036854775807\nb,c,1\n", "", (1, 5), "largest value", "no_edge=9223372036854775807"),
    ("a,b,1000000000000000000\nb,c,1\n", "", (1, 5), "2^53", "no_edge=1000000000000000000"),
    ("a,b,1e400\n", "", (1, 5), "range of a double", "omit the edge"),
    (npy(b"<i4", "<9i", *SQUARE), "", None, "largest value", f"no_edge={NO_WAY}"),
    ("a b 5 # main street\nb c 6\n", "", (1, 5), "6 columns", "Put comments on separate lines"),
    ("// made by tool\na b 5\n", "", (1, 1), "begins with //", "Begin comments with #"),
    ("a;b;1,5\nb;c;2,25\n", "", (1, 5), "decimal comma", "decimal=,"),
    ("0,5\n5,0\n", "", (1, None), "may be a matrix", "format=matrix or format=edges"),
    ("0,5,9\n5,0,2\n9,2,0\n", "", (1, None), "may be a matrix", "format=matrix or format=edges"),
    ("3 0\n\n\n\n", "", (1, None), "METIS", "format=metis or format=edges"),
    ("4 3\n1 2\n2 3\n3 4\n", "", (1, 1), "numbers of vertices and edges", "remove the line"),
    ("[[0,5,9],[5,0,2]]", "", None, "2 rows and 3 columns", '"edges"'),
    ("[[0,1],[1,2]]", "", None, "may be a matrix", "distances"),
    ('{"durations":[[0,5],[5,0]],"distances":[[0,9],[9,0]]}', "", (1, 40), "both", "weight=distances"),
    (npy(b"<i8", "<4q", 0, 1, 1, 2), "", None, "whose diagonal is not 0, or a list of edges", "a.T"),
    (npy(b"<f8", "<9d", 0, 1, 5, 1, 2, 6, 2, 0, 7), "", None, "or a list of edges", "format=npy"),
    (",a,b,c\na,0,5 km,1\nb,5,0,2\nc,1,1,0\n", "", (1, 1), "recognized names for source and target", "format=matrix"),
    (",a,b,c\na,0,5 km,1\nb,5,0,2\nc,1,1,0\n", "format=matrix", (2, 5), "5 km", "units"),
    (",a,b,c\na,0,5,N/A\nb,5,0,2\nc,N/A,2,0\n", "", (2, 7), "N/A", "sed"),
    ("%%MatrixMarket matrix coordinate pattern general\n2 1\n3 1\n", "", (2, 4), "number of entries", "rows, columns"),
    ("Source,Target,Weight\rA,B,5\rB,C,6\r", "", None, "classic Mac line endings", "tr '\\r' '\\n'"),
    ("+---+---+\n| u | v |\n+---+---+\n| 1 | 2 |\n+---+---+\n", "", None, "psql or mysql", "mysql --batch"),
    ("  u | v \n----+---\n  1 | 2\n(1 row)\n", "", None, "psql or mysql", "psql --csv"),
    ("| u | v |\n|---|---|\n| a | b |\n", "", None, "Markdown", "sed"),
    ('{"source":"a","target":"b"}\n{"source":"b","target":"c"}\n', "", None, "JSON lines", "pandas.read_json"),
    ("a b c\nb c d\nc a\nd\n", "", (1, 5), "'c'", ENDS),
    ("0 1 2\n1 2 3\n2 3\n", "", (3, 3), "2 columns", "networkx.read_adjlist"),
    ("Source,Target,Weight\nA,B,5\n\ufeffB,C,6\n", "", (3, 1), "does not look like", "quotes"),
    ("Source,Target,Weight\nA,B,5\nB\u200b,C,6\n", "", (3, 1), "does not look like", "quotes"),
    ("source,target,weight\na,,5\n", "", (2, 3), "empty", "Name the vertex"),
    ("source,target,weight\nZ\u00fcrich,Bern,5\n".encode("latin1"), "", (2, 2), "not UTF-8", "charset="),
    (b"PAR1" + bytes(40), "", None, "Parquet", "pandas.read_parquet"), (b"ARROW1" + bytes(40), "", None, "Arrow", "read_feather"),
    (b"\x89HDF\r\n\x1a\n" + bytes(40), "", None, "HDF5", "read_hdf"), (b"PK\x03\x04" + bytes(40), "", None, "xlsx", "CSV"),
    (b"SQLite format 3\x00" + bytes(40), "", None, "GeoPackage", "sqlite3 -csv"),
    (b"MATLAB 5.0 MAT-file" + bytes(40), "", None, ".mat", "loadmat"),
    (b"\x80\x04\x95" + bytes(40), "", None, "pickle", "A pickle can run code"),
    (GRAPHML % ("w", "int", "", "directed", '\n<node id="a&#x3;"/>'), "", (2, 12), "well-formed", ""),
)


def edges_of(text):
    """Returns the edges of "a b 5, b c 6"."""
    number = {True: int, False: str}
    return [[number[name.lstrip("-").isdigit()](name) for name in edge.split()[:2]] + [float(edge.split()[2])]
            for edge in text.split(", ") if edge]


def test_accepted_input_is_read_correctly_and_guesses_are_reported(daemon):
    for body, query, edges, codes in READ:
        answer = daemon.ask("POST", "/v1/graphs?" + query, body=body.encode() if isinstance(body, str) else body)
        assert answer.status in (200, 201), (body, answer.json)
        found = daemon.get(f"/v1/graphs/{answer.json['id']}/edges").expect(200).json["edges"]
        assert sorted(map(str, found)) == sorted(map(str, ([u, v, int(w) if w == int(w) else w] for u, v, w in (
            edges_of(edges) if isinstance(edges, str) else edges)))), (body, query, found)
        told = " ".join(sorted(w["code"] for w in answer.json["warnings"] if w["code"] != "DirectedAssumed"))
        assert told == codes, (body, query, answer.json["warnings"])


def test_ambiguous_input_is_refused_with_a_position_and_a_hint(daemon):
    for body, query, place, detail, hint in REFUSED:
        problem = daemon.ask("POST", "/v1/graphs?" + query, body=body.encode() if isinstance(body, str) else body)
        assert problem.status == 422, (body, problem.json)
        problem = problem.json
        assert place is None or (problem.get("line"), problem.get("column")) == place, (body, problem)
        assert detail in problem["detail"] and hint in problem.get("hint", ""), (body, problem)


# For each body: its parameters, and its matrix with header and names, or None for a negative cycle.
TABLES = (
    ("source,target,weight\na,b,1e-50\nb,c,2e-50\na,c,5e-50\n", "directed=false",
     ",a,b,c\na,0,1e-50,3e-50\nb,1e-50,0,2e-50\nc,3e-50,2e-50,0\n"),
    ("a,b,99999.99\nb,c,-99999.98\n", "", ",a,b,c\na,0,99999.99,0.01\nb,,0,-99999.98\nc,,,0\n"),
    ("a,b,3000000000\nb,c,3000000000\nc,d,3000000000\n", "",
     ",a,b,c,d\na,0,3000000000,6000000000,9000000000\nb,,0,3000000000,6000000000\nc,,,0,3000000000\nd,,,,0\n"),
    ("source,target,weight\nUSD,EUR,0.300000000\nEUR,USD,-0.300000001\n", "", None),
    ("a,b,-1\nc,a,2\nd,e,4\n", "", ",a,b,c,d,e\na,0,-1,,,\nb,,0,,,\nc,2,1,0,,\nd,,,,0,4\ne,,,,,0\n"),
    ("%%MatrixMarket matrix coordinate unsigned-integer general\n3 3 2\n1 2 4\n2 3 4294967295\n", "",
     ",1,2,3\n1,0,4,4294967299\n2,,0,4294967295\n3,,,0\n"),
    ("[[0,5,9],[5,0,2],[9,2,0]]", "", ",0,1,2\n0,0,5,7\n1,5,0,2\n2,7,2,0\n"),
)


def test_distances_of_tiny_large_and_negative_weights_are_exact(daemon):
    for body, query, table in TABLES:
        for kind in ("auto", "f8"):
            job = daemon.solve(body.encode(), f"?kind={kind}&{query or 'directed=true'}")
            if table is None:
                assert job["problem"]["code"] == "NegativeCycle" and job["problem"]["weight"] == -1e-9, job
                continue
            csv = daemon.get(f"/v1/graphs/{job['graph']}/matrix?format=csv&header=true").expect(200)
            assert csv.body.decode() == table, (body, csv.body)


def test_written_matrices_can_be_uploaded_again(daemon):
    for edges in ([], [[0, 1, 5]], [[0, 1, 5], [1, 0, 7]], [[0, 1, 5], [1, 2, 1], [2, 0, 4]]):
        body = json.dumps({"n": max([1] + [v + 1 for edge in edges for v in edge[:2]]), "edges": edges})
        job = daemon.solve(body.encode(), "?directed=true")
        path = f"/v1/graphs/{job['graph']}/matrix?format="
        wanted = daemon.get(path + "json").expect(200).json["distances"]
        for form in ("json", "csv", "csv&header=true", "npy", "mtx"):
            again = daemon.solve(daemon.get(path + form).body, "?directed=true")
            found = daemon.get(f"/v1/graphs/{again['graph']}/matrix?format=json").json["distances"]
            assert found == wanted, (edges, form, found, again["input"])


def test_query_bodies_may_begin_with_a_byte_order_mark(daemon):
    daemon.solve(b"a,b,2\nb,c,3\n", "?directed=true&name=abc")

    def ask(path, text):
        return daemon.ask("POST", path, ("\ufeff" + text).encode(), {"Content-Type": "application/json"})

    assert ask("/v1/graphs/abc/distances", '{"pairs":[["a","c"]]}').expect(200).json == {"distances": [5]}
    table = ask("/v1/graphs/abc/table", '{"sources":["a","a","c"],"destinations":["c","b","c"]}').expect(200).json
    assert table["distances"] == [[5, 2, 5], [5, 2, 5], [0, None, 0]], table
    assert ask("/v1/graphs/abc/table", '{"sources":[]}').expect(200).json["distances"] == []
    assert ask("/v1/jobs?wait=60", '{"graph":"abc","kind":"f8"}').expect(200).json["graph"]


def test_a_name_moves_to_the_new_graph_when_that_graph_is_solved(daemon):
    first = daemon.solve(b"a,b,5\n", "?directed=true&name=town")
    tag = daemon.get("/v1/graphs/town").headers["ETag"]
    job = daemon.solve(b"a,b,-5\nb,a,1\n", "?directed=true&name=town")
    assert job["state"] == "failed" and job["problem"]["code"] == "NegativeCycle", job
    # A name has no ETag until the end of the job that moves it is stored.
    daemon.wait_until_durable(job["id"])
    assert daemon.distance("town", "a", "b") == 5
    assert daemon.get("/v1/graphs/town").json["id"] == first["graph"]
    for path in ("/v1/jobs", "/v1/graphs"):
        for guard in ({"If-None-Match": "*"}, {"If-Match": '"other"'}):
            answer = daemon.ask("POST", path + "?directed=true&name=town", b"a,b,6\n", guard)
            answer.expect(412, "PreconditionFailed")
    assert daemon.get("/v1/graphs/town").json["id"] == first["graph"]
    answer = daemon.ask("POST", "/v1/jobs?directed=true&name=town", b"a,b,7\n", {"If-Match": tag}).expect(202)
    assert daemon.finish(answer.json["id"])["state"] == "done" and daemon.distance("town", "a", "b") == 7
    daemon.ask("POST", "/v1/jobs?directed=true&name=town", b"a,b,8\n", {"If-Match": tag}).expect(412)
    answer = daemon.ask("POST", "/v1/jobs?directed=true&name=city", b"a,b,9\n", {"If-None-Match": "*"}).expect(202)
    assert daemon.finish(answer.json["id"])["state"] == "done" and daemon.distance("city", "a", "b") == 9


def test_coordinate_columns_of_other_tools_are_read_as_degrees(daemon):
    daemon.solve(b"u,v,key,length\n101,102,0,700\n102,101,0,700\n", "?directed=true&name=osmnx")
    for header, rows in (("osmid,y,x,street_count", "101,51.5,-0.12,3\n102,51.5,-0.13,3\n"),
                         ("stop_id,stop_name,stop_lat,stop_lon", "101,Rome,51.5,-0.12\n102,Ostia,51.5,-0.13\n"),
                         ("id,lng,lat", "101,-0.12,51.5\n102,-0.13,51.5\n")):
        put = daemon.ask("PUT", "/v1/graphs/osmnx/coordinates", f"{header}\n{rows}".encode(),
                         {"Content-Type": "text/csv"})
        assert put.status in (200, 201), (header, put.body)
        near = daemon.get("/v1/graphs/osmnx/nearest?lon=-0.121&lat=51.5").expect(200).json
        assert near["vertex"] == 101, (header, near)


def test_a_path_across_the_antimeridian_is_split(daemon):
    daemon.solve(b"1,2,22\n2,1,22\n", "?directed=true&name=pacific")
    daemon.ask("PUT", "/v1/graphs/pacific/coordinates", b"vertex,lon,lat\n1,179.9,-16.5\n2,-179.9,-16.5\n",
               {"Content-Type": "text/csv"}).expect(201)
    path = daemon.get("/v1/graphs/pacific/path?source=1&target=2", Accept="application/geo+json").expect(200).json
    assert path["geometry"] == {"type": "MultiLineString", "coordinates": [
        [[179.9, -16.5], [180, -16.5]], [[-180, -16.5], [-179.9, -16.5]]]}, path


def test_statistics_of_isolated_vertices_match_networkx(daemon):
    one = daemon.solve(b'{"n":1,"edges":[]}')["graph"]
    stats = daemon.get(f"/v1/graphs/{one}/stats").expect(200).json
    assert (stats["diameter"], stats["radius"], stats["eccentricity"], stats["closeness"]) == (0, 0, [0], [0]), stats
    text = '{"directed":false,"nodes":[{"id":"a"},{"id":"b"},{"id":"z"}],"links":[{"source":"a","target":"b","weight":2}]}'
    stats = daemon.get(f"/v1/graphs/{daemon.solve(text.encode())['graph']}/stats").expect(200).json
    assert stats["closeness"] == [0.25, 0.25, 0], stats


def test_the_page_has_only_relative_urls(daemon):
    """The page works behind a proxy at any path; test_proxy tests Location."""
    page = daemon.get("/").expect(200).body.decode()
    assert 'href="/' not in page and 'src="/' not in page, page[:500]


if __name__ == "__main__":
    harness.run(globals())
