"""Tests coordinates of vertices: upload, query, survival of a kill, detection of damage, deletion."""

import gzip
import math
import os

import access
import harness

SQUARE = b"p sp 4 8\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\na 3 4 1\na 4 3 1\na 4 1 2\na 1 4 2\n"
CO = b"c four corners\np aux sp co 4\nv 1 7439000 46948000\nv 2 8541000 47376000\nv 3 6143000 46204000\nv 4 7588000 47559000\n"
CSV = "text/csv"
GEOJSON = "application/geo+json"
EARTH = 6371008.8


def stored(daemon, body=SQUARE, query=""):
    answer = daemon.ask("POST", "/v1/graphs" + query, body)
    assert answer.status in (200, 201), answer.body
    return "/v1/graphs/" + answer.json["id"]


def put(daemon, graph, body, query="", **headers):
    return daemon.ask("PUT", graph + "/coordinates" + query, body,
                      {name.replace("_", "-"): value for name, value in headers.items()})


def located(daemon, body=CO, query="", graph=SQUARE):
    path = stored(daemon, graph)
    daemon.ask("DELETE", path + "/coordinates")
    put(daemon, path, body, query).expect(201)
    return path


def metres(a, b):
    """Returns the great-circle distance, computed with the haversine formula."""
    x, y, u, v = (math.radians(number) for number in (*a, *b))
    square = math.sin((v - y) / 2) ** 2 + math.cos(y) * math.cos(v) * math.sin((u - x) / 2) ** 2
    return 2 * EARTH * math.asin(min(1, math.sqrt(square)))


def test_the_error_for_a_query_without_coordinates_explains_how_to_upload_them(daemon):
    path = stored(daemon)
    for answer in (daemon.get(path + "/coordinates"), daemon.get(path + "/nearest?lon=7&lat=46"),
                   daemon.ask("DELETE", path + "/coordinates")):
        answer.expect(409, "NoCoordinates")
    assert "PUT" in daemon.get(path + "/coordinates").json["hint"]
    assert daemon.get(path).json["coordinates"] is None


def places_of(daemon, path):
    header, *lines = daemon.get(path + "/coordinates").expect(200).body.decode().split()
    assert header in ("vertex,lon,lat", "vertex,x,y"), header
    return {int(vertex): (float(x), float(y)) for vertex, x, y in (line.split(",") for line in lines)}


def test_coordinates_uploaded_as_a_co_file_are_returned_as_csv(daemon):
    path = stored(daemon)
    answer = put(daemon, path, CO).expect(201)
    assert answer.json["coordinates"] == {"system": "degrees", "located": 4, "missing": 0}, answer.json
    assert put(daemon, path, CO).expect(200).json == daemon.get(path).json
    answer = daemon.get(path + "/coordinates").expect(200)
    assert answer.headers["Content-Type"].startswith(CSV)
    lines = answer.body.decode().split("\n")
    assert lines == ["vertex,lon,lat", "1,7.439,46.948", "2,8.541,47.376", "3,6.143,46.204", "4,7.588,47.559", ""]
    daemon.get(path + "/coordinates", Accept="application/json").expect(406, "NotAcceptable")
    assert daemon.get(path).json["coordinates"] == {"system": "degrees", "located": 4, "missing": 0}


def test_downloaded_coordinates_can_be_uploaded_again(daemon):
    path = located(daemon)
    first = daemon.get(path + "/coordinates")
    daemon.ask("DELETE", path + "/coordinates").expect(204)
    put(daemon, path, first.body, Content_Type="application/x-www-form-urlencoded").expect(201)
    again = daemon.get(path + "/coordinates").expect(200)
    assert (again.body, again.headers["ETag"]) == (first.body, first.headers["ETag"])
    put(daemon, path, gzip.compress(CO)).expect(200)
    assert daemon.get(path + "/coordinates").body == first.body


def test_some_vertices_may_have_no_coordinates(daemon):
    path = stored(daemon)
    answer = put(daemon, path, b"vertex,x,y\n2,10,20\n", Content_Type=CSV)
    assert answer.json["coordinates"] == {"system": "plane", "located": 1, "missing": 3}, answer.json
    assert daemon.get(path + "/nearest?x=13&y=24").expect(200).json == {"vertex": 2, "x": 10, "y": 20, "distance": 5}
    daemon.get(path + "/nearest?x=1e200&y=0").expect(400, "BadParameter")
    daemon.get(path + "/nearest?x=0&y=-1e101").expect(400, "BadParameter")
    put(daemon, path, b"vertex,lon,lat\n1,,\n").expect(200)
    daemon.get(path + "/nearest?lon=1&lat=2").expect(409, "NoCoordinates")


def test_invalid_coordinates_are_refused_with_their_position(daemon):
    path = located(daemon)
    before = daemon.get(path + "/coordinates").body
    cases = (
        (b"p aux sp co 1\nv 17 1 2\n", 2, 3, "'17'"),
        (b"p aux sp co 2\nv 1 1 2\n", None, None, "declares 2"),
        (b"vertex,lon,lat\n1,2,north\n", 2, 5, "number"),
        (b"1,2,3\n", 1, 1, "columns"),
        (b"vertex,lon,lat\n1,2,91\n", 2, 1, "latitude"),
        (b'{"type":"FeatureCollection","features":[]}', 1, 1, "GeoJSON"),
        (gzip.compress(CO)[:-9], None, None, ""),
    )
    for body, line, column, word in cases:
        problem = put(daemon, path, body).expect(422, "BadCoordinates").json
        assert (problem.get("line"), problem.get("column")) == (line, column), problem
        assert word in problem["detail"], problem
    put(daemon, path, b"").expect(422, "EmptyBody")
    put(daemon, path, CO, "?system=plane").expect(400, "UnknownParameter")
    put(daemon, "/v1/graphs/nobody", CO).expect(404, "NoSuchGraph")
    assert daemon.get(path + "/coordinates").body == before


def test_if_match_guards_a_change_of_coordinates(daemon):
    path = located(daemon)
    tag = daemon.get(path + "/coordinates").headers["ETag"]
    assert daemon.get(path + "/coordinates", If_None_Match=tag).status == 304
    put(daemon, path, CO, If_Match=", ".join([tag] * 11)).expect(400, "BadRequest")
    put(daemon, path, b"vertex,x,y\n1,2,3\n", If_Match=f"W/{tag}, {tag}").expect(200)
    put(daemon, path, CO, If_Match=tag).expect(412, "PreconditionFailed")
    daemon.ask("DELETE", path + "/coordinates", headers={"If-Match": tag}).expect(412, "PreconditionFailed")
    daemon.ask("DELETE", path + "/coordinates", headers={"If-Match": "*"}).expect(204)
    put(daemon, path, CO, If_Match="*").expect(412, "PreconditionFailed")
    put(daemon, path, CO).expect(201)


def test_the_nearest_vertex_is_found_on_the_sphere(daemon):
    path = located(daemon)
    places = places_of(daemon, path)
    for lon in range(-180, 181, 30):
        for lat in (-90, -45, 0, 46.9, 47.5, 90):
            found = daemon.get(path + f"/nearest?lon={lon}&lat={lat}").expect(200).json
            best = min(places, key=lambda v: (metres(places[v], (lon, lat)), v))
            assert metres(places[found["vertex"]], (lon, lat)) <= metres(places[best], (lon, lat)) + 1e-6
            assert abs(found["metres"] - metres(places[best], (lon, lat))) < 0.01, found
            assert (found["lon"], found["lat"]) == places[found["vertex"]]


def test_the_nearest_vertex_may_be_across_the_antimeridian_or_a_pole(daemon):
    path = located(daemon, b"vertex,lon,lat\n1,-179.9,0\n2,170,0\n3,10,89.9\n4,0,80\n")
    found = daemon.get(path + "/nearest?lon=179.9&lat=0").expect(200).json
    assert found["vertex"] == 1 and abs(found["metres"] - math.radians(0.2) * EARTH) < 0.01, found
    assert daemon.get(path + "/nearest?lon=-170&lat=89.5").json["vertex"] == 3


def test_a_nearest_query_must_have_exactly_one_kind_of_position(daemon):
    path = located(daemon)
    for query in ("lon=7", "lat=7", "x=1", "lon=7&lat=east", "lon=181&lat=0", "lon=1&lat=2&x=3", "x=1&y=2",
                  "lon=7&lat=46&k=2", "", "k=1", "source=1&lon=7&lat=46"):
        daemon.get(path + "/nearest?" + query).expect(400, "BadParameter")
    daemon.get("/v1/graphs/nobody/nearest?lon=1&lat=2").expect(404, "NoSuchGraph")


def test_coordinates_change_neither_the_id_nor_the_result_of_a_graph(daemon):
    job = daemon.solve(SQUARE, "?name=square")
    before = daemon.get("/v1/graphs/square/matrix").headers["ETag"]
    put(daemon, "/v1/graphs/square", CO)
    assert daemon.submit(SQUARE).expect(200).json["graph"] == job["graph"]
    assert daemon.get("/v1/graphs/square/matrix").headers["ETag"] == before
    assert daemon.get("/v1/graphs/square/nearest?lon=7.4&lat=46.9").expect(200).json["vertex"] == 1
    assert daemon.get(f"/v1/graphs/{job['id']}/nearest?lon=7.4&lat=46.9").expect(200).json["vertex"] == 1


def test_coordinates_are_deleted_with_their_graph(daemon):
    path = located(daemon, graph=b"p sp 2 1\na 1 2 3\n", body=b"p aux sp co 2\nv 1 1 2\nv 2 3 4\n")
    file = f"{daemon.state}/coordinates/{path.rpartition('/')[2]}"
    assert os.path.exists(file)
    daemon.ask("DELETE", path).expect(204)
    assert not os.path.exists(file)
    assert stored(daemon, b"p sp 2 1\na 1 2 3\n") == path
    daemon.get(path + "/coordinates").expect(409, "NoCoordinates")


def test_coordinates_survive_a_kill():
    with harness.Daemon() as daemon:
        path = located(daemon)
        before = daemon.get(path + "/coordinates")
        daemon.kill()
        # Creates the file of a deleted graph, and a draft that a crash left behind.
        for name in ("g_00000000000000000000000000", ".tmp-7"):
            with open(f"{daemon.state}/coordinates/{name}", "wb") as file:
                file.write(b"left")
        daemon.start()
        after = daemon.get(path + "/coordinates").expect(200)
        assert (after.body, after.headers["ETag"]) == (before.body, before.headers["ETag"])
        assert os.listdir(f"{daemon.state}/coordinates") == [path.rpartition("/")[2]]
        daemon.ask("DELETE", path + "/coordinates").expect(204)
        daemon.kill()
        daemon.start()
        daemon.get(path + "/coordinates").expect(409, "NoCoordinates")


def test_damaged_coordinates_are_detected_and_replaced_by_a_put():
    with harness.Daemon() as daemon:
        path = located(daemon)
        name = path.rpartition("/")[2]
        file = f"{daemon.state}/coordinates/{name}"
        daemon.terminate()
        harness.flip(file, 20)  # in the header, where a start of the daemon finds the damage
        daemon.start()
        daemon.get(path + "/coordinates").expect(409, "NoCoordinates")
        assert os.path.exists(f"{daemon.state}/quarantine/{name}.coordinates")
        assert b"damage_found" in daemon.log()
        put(daemon, path, CO).expect(201)
        daemon.terminate()
        harness.flip(file, 100)  # in the coordinates, where a query finds the damage
        daemon.start()
        for route in ("/coordinates", "/nearest?lon=7&lat=46"):
            assert "PUT" in daemon.get(path + route).expect(500, "Corrupt").json["hint"]
        put(daemon, path, CO).expect(200)
        daemon.get(path + "/coordinates").expect(200)


def test_coordinates_are_private_to_a_tenant_and_count_towards_its_quota():
    keys = access.Keys("alpha:submitter bytes=2000", "beta:submitter", "alpha:reader")
    with access.Daemon("--http.keys_file", keys.path) as daemon:
        graph = daemon.by("alpha:submitter", "POST", "/v1/graphs", SQUARE).expect(201).json["id"]
        path = f"/v1/graphs/{graph}/coordinates"
        daemon.by("alpha:submitter", "PUT", path, CO).expect(201)
        daemon.by("alpha:reader", "GET", path).expect(200)
        daemon.by("alpha:reader", "PUT", path, CO).expect(403, "Forbidden")
        for method, body in (("GET", None), ("PUT", CO), ("DELETE", None)):
            daemon.by("beta:submitter", method, path, body).expect(404, "NoSuchGraph")
        daemon.by("beta:submitter", "GET", f"/v1/graphs/{graph}/nearest?lon=1&lat=2").expect(404, "NoSuchGraph")
        long = b"p sp 200 1\na 1 2 3\n"
        other = daemon.by("beta:submitter", "POST", "/v1/graphs", long).expect(201).json["id"]
        places = b"vertex,x,y\n1,2,3\n"
        daemon.by("beta:submitter", "PUT", f"/v1/graphs/{other}/coordinates", places).expect(201)
        line = b"p sp 60 1\na 1 2 3\n"
        third = daemon.by("alpha:submitter", "POST", "/v1/graphs", line).expect(201).json["id"]
        daemon.by("alpha:submitter", "PUT", f"/v1/graphs/{third}/coordinates", places).expect(507, "StorageQuota")
        daemon.get("/livez").expect(200)


def test_the_error_for_a_co_file_uploaded_as_a_graph_names_the_right_route(daemon):
    problem = daemon.submit(CO).expect(422, "BadGraph").json
    assert "coordinates" in problem["detail"] and "PUT" in problem["hint"], problem


def geo(daemon, path):
    answer = daemon.get(path, Accept=GEOJSON)
    assert answer.headers["Content-Type"] == GEOJSON, (answer.status, answer.body[:300])
    return answer.expect(200)


def test_paths_and_vertices_are_returned_as_geojson(daemon):
    daemon.solve(b"1 2 5\n2 3 5\n3 4 2\n4 5 1\n", "?name=line&directed=true")
    for route in ("path?source=1&target=4", "nearest?source=1&k=2", "within?source=1&max=10"):
        refusal = daemon.get(f"/v1/graphs/line/{route}", Accept=GEOJSON).expect(409, "NoCoordinates")
        assert "PUT" in refusal.json["hint"], refusal.json
    places = "vertex,lon,lat\n1,10,50\n2,11,50.5\n4,13,50\n"
    put(daemon, "/v1/graphs/line", places)
    path = geo(daemon, "/v1/graphs/line/path?source=1&target=4")
    assert path.json["geometry"] == {"type": "LineString", "coordinates": [[10, 50], [11, 50.5], [13, 50]]}
    plain = daemon.get("/v1/graphs/line/path?source=1&target=4").json
    assert path.json["type"] == "Feature" and path.json["properties"] == plain, path.json
    # A path of one edge has two positions; a missing path has none.
    for ends, distance in (("source=4&target=5", 1), ("source=4&target=1", None), ("source=2&target=2", 0)):
        feature = geo(daemon, f"/v1/graphs/line/path?{ends}").json
        assert feature["geometry"] is None and feature["properties"]["distance"] == distance, feature
    for route in ("nearest?source=1&k=4", "within?source=1&max=12", "nearest?source=5&k=2"):
        found = geo(daemon, f"/v1/graphs/line/{route}").json
        plain = daemon.get(f"/v1/graphs/line/{route}").json
        assert found["type"] == "FeatureCollection"
        properties = [feature["properties"] for feature in found["features"]]
        assert properties == [{"vertex": v, "distance": d} for v, d in zip(plain["vertices"], plain["distances"])]
        for feature in found["features"]:
            placed = feature["properties"]["vertex"] in (1, 2, 4)
            assert (feature["geometry"] is not None) == placed, feature
    daemon.get("/v1/graphs/line/within?source=1&max=12&bands=3", Accept=GEOJSON).expect(400, "UnknownParameter")
    nearest = geo(daemon, "/v1/graphs/line/nearest?lon=11.1&lat=50.5").json
    assert nearest["geometry"]["coordinates"] == [11, 50.5] and nearest["properties"]["vertex"] == 2, nearest
    # The ETag covers the result and the coordinates.
    tag = path.headers["ETag"]
    daemon.get("/v1/graphs/line/path?source=1&target=4", Accept=GEOJSON, If_None_Match=tag).expect(304)
    put(daemon, "/v1/graphs/line", places.replace("50.5", "51"))
    again = daemon.get("/v1/graphs/line/path?source=1&target=4", Accept=GEOJSON, If_None_Match=tag).expect(200)
    assert again.json["geometry"]["coordinates"][1] == [11, 51]


def test_coordinates_follow_a_name_to_a_graph_with_the_same_vertices(daemon):
    roads = b"from,to,km,min\na,b,3,9\nb,c,4,5\n"
    daemon.solve(roads, "?format=edges&name=town&weight=km&directed=true")
    put(daemon, "/v1/graphs/town", "vertex,lon,lat\na,1,2\nb,3,4\n").expect(201)
    before = daemon.get("/v1/graphs/town/coordinates").body
    daemon.solve(roads, "?format=edges&name=town&weight=min&directed=true")
    assert daemon.get("/v1/graphs/town/distance?source=a&target=c").json["distance"] == 14
    assert daemon.get("/v1/graphs/town/coordinates").expect(200).body == before
    daemon.solve(b"from,to,km\na,b,3\nb,d,4\n", "?format=edges&name=town&weight=km&directed=true")
    daemon.get("/v1/graphs/town/coordinates").expect(409, "NoCoordinates")


def test_coordinates_survive_an_upload_with_other_weights_and_a_kill():
    table = b"source,target,metres,seconds\na,b,5,9\nb,c,7,2\nc,a,1,4\n"
    with harness.Daemon() as daemon:
        daemon.solve(table, "?format=edges&directed=true&weight=metres&name=live")
        put(daemon, "/v1/graphs/live", b"vertex,lon,lat\na,7,46\nb,8,47\nc,9,48\n", Content_Type=CSV).expect(201)
        before = daemon.get("/v1/graphs/live/coordinates").expect(200).body
        assert daemon.distance("live", "a", "c") == 12
        job = daemon.solve(table, "?format=edges&directed=true&weight=seconds&name=live")["id"]
        daemon.wait_until_durable(job)
        for _ in range(2):
            assert daemon.distance("live", "a", "c") == 11
            assert daemon.get("/v1/graphs/live/coordinates").expect(200).body == before
            daemon.kill()
            daemon.start()


def test_a_path_is_split_at_the_antimeridian(daemon):
    daemon.solve(b"1 2 5\n2 3 5\n3 4 2\n4 5 1\n", "?name=pacific&directed=true")
    put(daemon, "/v1/graphs/pacific", "vertex,lon,lat\n1,170,10\n2,-170,20\n3,-175,0\n4,180,0\n5,-180,3\n")
    geometry = geo(daemon, "/v1/graphs/pacific/path?source=1&target=3").json["geometry"]
    assert geometry == {"type": "MultiLineString",
                        "coordinates": [[[170, 10], [180, 15]], [[-180, 15], [-170, 20], [-175, 0]]]}, geometry
    geometry = geo(daemon, "/v1/graphs/pacific/path?source=1&target=5").json["geometry"]
    assert geometry["coordinates"][1:] == [[[-180, 15], [-170, 20], [-175, 0], [-180, 0]], [[180, 0], [180, 0], [180, 0]],
                                           [[-180, 0], [-180, 3]]], geometry
    geometry = geo(daemon, "/v1/graphs/pacific/path?source=2&target=3").json["geometry"]
    assert geometry["type"] == "LineString", geometry
    # A plane has no antimeridian.
    put(daemon, "/v1/graphs/pacific", "vertex,x,y\n1,170,10\n2,-170,20\n3,-175,0\n")
    assert geo(daemon, "/v1/graphs/pacific/path?source=1&target=3").json["geometry"]["type"] == "LineString"


if __name__ == "__main__":
    harness.run(globals())
