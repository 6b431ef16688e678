"""The drawing on the page at /, in a real browser: changing an edge's weight moves the path;
wheel, fingers, keys and buttons zoom and move the drawing; short paths are framed, large graphs
sampled. Skipped without Chromium and its driver."""

import json
import math
import os
import re
import shutil
import struct
import subprocess
import zlib

import browser
import harness
import sites
from test_page_browser import OPEN, WIDTHS, expect_no_other_error, generate, look, picture, text

# Two paths from a to d: through b with length 4, through c with length 6.
TWO_WAYS = b"from,to,minutes\na,b,2\nb,d,2\na,c,3\nc,d,3\n"
DRAWN = f"{OPEN} && !document.querySelector('#drawing-box').hidden && document.querySelector('#drawing canvas')?.width > 300"
PATH = "[...document.querySelectorAll('#pair-answer .path li')].map((one) => one.firstChild.textContent.trim()).join('')"

DROP_TWO = """const data = new DataTransfer();
for (const [name, text] of arguments) data.items.add(new File([text], name));
document.documentElement.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));"""


def ask_pair(page, source, target, path):
    page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
             ["source", source], ["target", target])
    page.click("#pair button.main")
    page.until(f"{PATH} === '{path}'")


def set_weight(page, weight):
    page.run("document.querySelector('#edge-weight').value = arguments[0]", weight)
    page.click("#edge-form button.main")


def test_changing_a_weight_changes_the_displayed_path(daemon):
    daemon.solve(TWO_WAYS, "?format=edges&name=ways&directed=false")
    first = daemon.get("/v1/graphs/ways").json["id"]
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#ways", WIDTHS[0], DRAWN)
        ask_pair(page, "a", "d", "abd")
        page.click("#pair-answer .path .step")
        assert text(page, "#edge-words") == "Edge a – b"
        set_weight(page, "many")
        page.until("document.querySelector('#edge-problem .problem')")
        set_weight(page, "9")
        page.until(f"{PATH} === 'acd' && {DRAWN}")
        assert "; 4 before the change" in text(page, "#pair-answer"), text(page, "#pair-answer")
        assert text(page, "#graph-name") == "ways" and text(page, "#graph-id") != first
        look(page, "changed")
        assert daemon.get("/v1/graphs/ways/distance?source=a&target=d").json["distance"] == 6
        assert "-X PATCH " in page.run("return document.querySelector('#curl-list').textContent")
        # After its removal the other path remains; after both removals there is none.
        page.click("#pair-answer .path .step")
        page.click("#edge-remove")
        page.until(f"{PATH} === 'abd' && {DRAWN}")
        page.click("#pair-answer .path .step")
        page.click("#edge-remove")
        page.until("document.querySelector('#pair-answer').textContent.startsWith('Unreachable')")
        expect_no_other_error(page)


def test_an_edge_change_is_refused_if_the_name_has_moved_to_another_graph(daemon):
    daemon.solve(TWO_WAYS, "?format=edges&name=moved&directed=false")
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#moved", WIDTHS[0], DRAWN)
        ask_pair(page, "a", "d", "abd")
        daemon.solve(b"from,to,minutes\na,b,1\n", "?format=edges&name=moved&directed=false")
        page.click("#pair-answer .path .step")
        set_weight(page, "9")
        page.until("document.querySelector('#edge-problem .problem')")
        assert daemon.get("/v1/graphs/moved/distance?source=a&target=b").json["distance"] == 1
        picture(page, "moved")
        expect_no_other_error(page, "edges?wait")


def zoom_of(page):
    return float(page.run("return document.querySelector('#drawing').dataset.zoom"))


def middle(page):
    page.run("document.querySelector('#drawing').scrollIntoView({ block: 'center' })")
    return page.run("""const box = document.querySelector('#drawing').getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];""")


def touch(page, kind, *points):
    page.devtools("Input.dispatchTouchEvent", type=kind,
                  touchPoints=[{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)])


def pixels(page):
    """Waits for the next frame, in which changes are painted, and returns the pixels."""
    return page.run("""const done = arguments[0];
        requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector("#drawing canvas").toDataURL())));""",
                    kind="async")


def click_at(page, x, y):
    for kind in ("mousePressed", "mouseReleased"):
        page.devtools("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def test_the_drawing_can_be_zoomed_and_moved(daemon):
    daemon.solve(generate(daemon, "road", 300).encode(), "?name=streets")
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#streets", WIDTHS[0], DRAWN)
        assert zoom_of(page) == 1
        x, y = middle(page)
        # The wheel scrolls the page until the map is clicked.
        wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -240}
        click_at(page, x, y)
        words = text(page, "#drawing-words")
        page.devtools("Input.dispatchMouseEvent", **wheel)
        page.until("Number(document.querySelector('#drawing').dataset.zoom) > 1.1")
        before = pixels(page)
        page.devtools("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        page.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x + 60, y=y + 30, button="left", buttons=1)
        page.devtools("Input.dispatchMouseEvent", type="mouseReleased", x=x + 60, y=y + 30, button="left", clickCount=1)
        assert pixels(page) != before
        assert text(page, "#drawing-words") == words, "a drag is no click"
        page.run("document.querySelector('#drawing').focus()")
        page.press("0")
        assert zoom_of(page) == 1
        page.press("+", "+")
        assert zoom_of(page) > 2
        before = pixels(page)
        page.press("\ue014")
        assert pixels(page) != before
        page.click("#zoom-whole")
        assert zoom_of(page) == 1
        page.click(".leaflet-control-zoom-in")
        assert zoom_of(page) == 1.41
        page.click(".leaflet-control-zoom-out")
        assert zoom_of(page) == 1
        page.click("#full")
        page.until("document.fullscreenElement?.id === 'drawing-box' && document.querySelector('#full').textContent === 'Exit full screen'")
        page.until("document.querySelector('#drawing').clientWidth > 0.95 * innerWidth")
        page.click("#full")
        page.until("document.fullscreenElement === null && document.querySelector('#full').textContent === 'Full screen'")
        expect_no_other_error(page)


def test_two_fingers_zoom_the_drawing_and_one_finger_scrolls_the_page(daemon):
    daemon.solve(generate(daemon, "road", 300).encode(), "?name=streets")
    with browser.Browser() as page:
        page.devtools("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        page.open(f"{daemon.url}/#streets", WIDTHS[2], DRAWN)
        x, y = middle(page)
        action = "return getComputedStyle(document.querySelector('#drawing')).touchAction"
        assert page.run(action) == "pan-x pan-y"
        touch(page, "touchStart", (x - 20, y), (x + 20, y))
        for far in (30, 50, 80):
            touch(page, "touchMove", (x - far, y), (x + far, y))
        touch(page, "touchEnd")
        page.until("Number(document.querySelector('#drawing').dataset.zoom) > 2")
        picture(page, "pinched")
        expect_no_other_error(page)


def test_the_view_zooms_in_on_a_short_path(daemon):
    daemon.solve(generate(daemon, "road", 900).encode(), "?name=far")
    near = daemon.get("/v1/graphs/far/nearest?source=400&k=1").json["vertices"][0]
    stats = daemon.get("/v1/graphs/far/stats").json["eccentricity"]
    ends = 1 + stats.index(max(stats))
    row = daemon.get(f"/v1/graphs/far/row/{ends}").json["distances"]
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#far", WIDTHS[0], DRAWN)
        for source, target, zoomed in ((400, near, True), (ends, 1 + row.index(max(row)), False)):
            page.click("#zoom-whole")
            page.run("document.querySelector('#pair-answer').replaceChildren()")
            page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
                     ["source", str(source)], ["target", str(target)])
            page.click("#pair button.main")
            page.until("document.querySelector('#pair-answer .path li')")
            assert (zoom_of(page) > 1.5) == zoomed, (source, target, zoom_of(page))
            picture(page, f"framed-{zoomed}")
        expect_no_other_error(page)


def test_a_large_graph_is_drawn_as_a_sample(daemon):
    daemon.solve(generate(daemon, "road", 12000).encode(), "?name=large&result=hierarchy")
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#large", WIDTHS[0], "!document.querySelector('#drawing-box').hidden")
        assert "300 of its 12,000 vertices are shown" in text(page, "#drawing-words"), text(page, "#drawing-words")
        page.until("document.querySelector('#workspace').getAttribute('aria-busy') === 'false'")
        before = pixels(page)
        page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
                 ["source", "17"], ["target", "11900"])
        page.click("#pair button.main")
        page.until("!document.querySelector('#zoom-path').disabled")
        assert pixels(page) != before
        assert "(requested)" in text(page, "#facts"), text(page, "#facts")
        assert " pairs" in text(page, "#histogram"), text(page, "#histogram")
        # Downloads above 1 GB need a confirmation; all offered formats are available.
        page.run("[...document.querySelectorAll('#downloads a')].find((one) => one.textContent === 'ndjson').click()")
        assert re.search(r"about 1\.\d GiB\. Download anyway$", text(page, "#downloads .question:not(:empty)"))
        for link in page.run("return [...document.querySelectorAll('#downloads a')].map((one) => one.href)"):
            daemon.ask("HEAD", link.removeprefix(daemon.url)).expect(200)
        look(page, "sampled")
        expect_no_other_error(page, "/stats", "/heatmap")


def test_vertices_are_drawn_at_their_coordinates(daemon):
    """Three vertices in a line, which distances alone would draw as a triangle; the edge there
    can be clicked."""
    daemon.solve(b"from,to,minutes\na,b,5\nb,c,5\na,c,5\n", "?format=edges&name=placed&directed=false")
    places = "vertex,x,y\na,0,0\nb,40,0\nc,100,0\n"
    daemon.ask("PUT", "/v1/graphs/placed/coordinates", body=places, headers={"Content-Type": "text/csv"}).expect(201)
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#placed", WIDTHS[0], DRAWN)
        assert text(page, "#drawing-words").startswith("Vertices are drawn at their coordinates")
        x, y = middle(page)
        click_at(page, x + 60, y + 2)
        page.until("!document.querySelector('#edge-form').hidden")
        assert text(page, "#edge-words") in ("Edge b – c", "Edge a – c"), text(page, "#edge-words")
        # Away from both vertices, a click selects the nearest one.
        click_at(page, x + 60, y + 60)
        assert text(page, "#drawing-words").startswith("From b:"), text(page, "#drawing-words")
        picture(page, "placed")
        expect_no_other_error(page)


class TileHandler(sites.Handler):
    """Serves blue tiles and records the requests."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Referer"]))
        rows = (b"\0" + b"\x20\x60\xc0" * 256) * 256
        parts = ((b"IHDR", struct.pack(">2I5B", 256, 256, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
        body = b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)
        self.send(200, {"Content-Type": "image/png", "Content-Length": str(len(body))}, body)


def tile_of(lon, lat, zoom):
    side = 2**zoom
    angle = math.radians(lat)
    return int((lon + 180) / 360 * side), int((1 - math.asinh(math.tan(angle)) / math.pi) / 2 * side)


SAVED = """const done = arguments[0];
window.saved = {};
const blobs = new Map();
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { const address = make(blob); blobs.set(address, blob); return address; };
HTMLAnchorElement.prototype.click = async function () {
  window.saved[this.download] = await blobs.get(this.href).text();
  if (Object.keys(window.saved).length === 3) done(window.saved);
};
for (const button of document.querySelectorAll(".exports button, #picture")) button.click();"""


def saves(page, source, target):
    """Returns the files that the page saves of a path, by name: a table, a map and a picture."""
    page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
             ["source", source], ["target", target])
    page.click("#pair button.main")
    page.until("document.querySelector('.exports')")
    return page.run(SAVED, kind="async")


TILED = "document.querySelectorAll('#drawing .leaflet-tile-loaded').length > 3"


def test_a_map_is_shown_if_the_vertices_have_coordinates(_):
    places = {"Rome": (12.49, 41.89), "Paris": (2.35, 48.86), "Berlin": (13.4, 52.52)}
    edges = b"from,to,km\nRome,Paris,1105\nParis,Berlin,878\nRome,Berlin,1184\n"
    with browser.Browser() as page, sites.serving(TileHandler) as tiles:
        tiles.asked = []
        address = f"http://127.0.0.1:{tiles.server_port}"
        with harness.Daemon("--http.tiles", address + "/{z}/{x}/{y}.png", "--http.tiles_credit", "© Somebody") as daemon:
            daemon.solve(edges, "?format=edges&name=towns&directed=false")
            csv = "vertex,lon,lat\n" + "".join(f"{town},{lon},{lat}\n" for town, (lon, lat) in places.items())
            daemon.ask("PUT", "/v1/graphs/towns/coordinates", body=csv, headers={"Content-Type": "text/csv"}).expect(201)
            page.open(f"{daemon.url}/#towns", WIDTHS[0], f"{DRAWN} && {TILED}")
            assert text(page, "#drawing-credit") == "© Somebody"
            asked = [tuple(map(int, path[1:-4].split("/"))) for path, _ in tiles.asked]
            assert len(set(asked)) == len(asked) < 30, asked
            zoom = asked[0][0]
            for town, place in places.items():
                assert (zoom, *tile_of(*place, zoom)) in asked, (town, asked)
            assert {referrer for _, referrer in tiles.asked} == {daemon.url + "/"}, tiles.asked
            look(page, "map")
            saved = saves(page, "Rome", "Berlin")
            assert saved["Rome-Berlin.csv"] == "vertex,weight,distance\nRome,,0\nBerlin,1184,1184\n", saved
            assert json.loads(saved["Rome-Berlin.geojson"])["type"] in ("Feature", "FeatureCollection"), saved
            assert saved["towns.png"].startswith("\ufffdPNG"), saved["towns.png"][:20]
            # After zooming in, tiles of a deeper level are loaded.
            for _ in range(2):
                page.click(".leaflet-control-zoom-in")
            harness.wait_until(daemon, lambda: any(path.startswith(f"/{zoom + 1}/") for path, _ in tiles.asked))
            expect_no_other_error(page)


def test_vertices_within_a_distance_are_coloured(daemon):
    daemon.solve(b"from,to,minutes\na,b,5\nb,c,5\nc,d,5\n", "?format=edges&name=line&directed=false")
    colours = """const canvas = document.querySelector("#drawing canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join(" "));
        const isNear = (one, two) => one.every((part, at) => Math.abs(part - two[at]) < 4);
        return arguments[0].map((shade) => [...seen].some((one) => isNear(shade, one.split(" ").map(Number))));"""
    # Viridis at 1/2 and at 1, the bands of distances 5 and 10 out of 10.
    shades = [[35, 144, 141], [253, 231, 37]]
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#line", WIDTHS[0], DRAWN)
        assert page.run(colours, shades) == [False, False]
        page.run("""for (const [id, value] of [["how", "within"], ["most", "10"], ["around", "a"]])
            document.getElementById(id).value = value;""")
        page.click("#around-form button.main")
        page.until("document.querySelector('#around-answer').textContent.includes('coloured in the drawing')")
        pixels(page)
        assert page.run(colours, shades) == [True, True]
        expect_no_other_error(page)


def test_coordinates_are_uploaded_with_or_after_the_graph(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], "document.querySelector('#devices li')")
        page.run(DROP_TWO, ["square.co", "p aux sp co 3\nv 1 0 0\nv 2 1000000 0\nv 3 0 1000000\n"],
                 ["square.gr", "p sp 3 2\na 1 2 3\na 2 3 4\n"])
        placed = "document.querySelector('#drawing-words').textContent.startsWith('Vertices are drawn at their coordinates')"
        page.until(f"document.querySelector('#graph-name').textContent === 'square' && {placed}")
        assert daemon.get("/v1/graphs/square").json["coordinates"]["located"] == 3
        page.run(DROP_TWO, ["edges.csv", "x,y,weight\na,b,3\nb,c,4\n"])
        page.until("document.querySelector('#graph-name').textContent === 'edges'")
        page.run(DROP_TWO, ["other.gr", "p sp 3 2\na 1 2 3\na 2 3 5\n"])
        page.until(f"document.querySelector('#graph-name').textContent === 'other' && {DRAWN} && !{placed}")
        page.run(DROP_TWO, ["places.csv", "vertex,x,y\n1,0,0\n2,5,1\n"])
        page.until(f"{placed} && document.querySelector('#drawing-words').textContent.includes('1 vertex has no coordinates')")
        page.run(DROP_TWO, ["places.csv", "vertex,x,y\n1,0,0\n9,5,1\n"])
        page.until("document.querySelector('#submit-problem .problem')")
        assert "line 3" in text(page, "#submit-problem"), text(page, "#submit-problem")
        assert "-X PUT" in text(page, "#curl-line")
        expect_no_other_error(page, "/coordinates")


def test_labels_do_not_overlap(_):
    """A hundred names in a small drawing: the placed labels are inside and do not overlap."""
    if shutil.which("node") is None:
        return
    home = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../server/http/web/home")
    with open(os.path.join(home, "labels.js"), encoding="utf-8") as file:
        script = file.read() + """
const wanted = Array.from({ length: 100 }, (_, i) => ({ at: [(i * 37) % 300, (i * 61) % 200], text: `v${i}`, wide: 40 }));
console.log(JSON.stringify(placeLabels(wanted, { path: [[37, 61]], points: [[150, 100]] }, 300, 200)));"""
    printed = subprocess.run(["node", "--input-type=module"], input=script, capture_output=True, text=True, check=True)
    boxes = json.loads(printed.stdout)
    assert 20 < len(boxes) < 100 and boxes[0]["text"] == "v0", len(boxes)
    for at, one in enumerate(boxes):
        for x, y in ((150, 100), (37, 61)):
            assert not (one["left"] < x < one["right"] and one["top"] < y < one["bottom"]), one
        assert 0 <= one["left"] and one["right"] <= 300 and 0 <= one["top"] and one["bottom"] <= 200
        for other in boxes[:at]:
            assert (one["right"] <= other["left"] or other["right"] <= one["left"]
                    or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]), (one, other)


if __name__ == "__main__":
    harness.run(globals())
