"""The page at / in a real browser: a complete visit, from a dropped file to a path and a
cancelled job, at four widths and in both colour schemes. Skipped without Chromium and its
driver. APSPD_TEST_PICTURES=FOLDER saves pictures there; AXE=axe.min.js checks accessibility
(axe-core)."""

import json
import os
import re
import subprocess

import browser
import harness

WIDTHS = (1440, 820, 390, 2560)
PICTURES = os.environ.get("APSPD_TEST_PICTURES")
AXE = os.environ.get("AXE")
DATA = os.environ.get("APSPD_TEST_DATA")
READY = "document.querySelector('#devices li')"
OPEN = """!document.querySelector('#solved').hidden && document.querySelector('.histogram')
    && document.querySelector('#downloads li') && document.querySelector('#heat-block').textContent
    && document.querySelector('#workspace').getAttribute('aria-busy') === 'false'"""
ADD_FILE = 'data.items.add(new File([text, "c as large as can be\\n".repeat(comments)], name));'
# Drops a file on the page as a user would. WebDriver takes seconds for each megabyte of an
# argument, so the page itself makes the comments of a large file.
DROP = """const [name, text, comments = 0] = arguments;
const data = new DataTransfer();
""" + ADD_FILE + """
for (const type of ["dragenter", "dragover", "drop"]) {
  document.querySelector("#drop").dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
JOB = "[...document.querySelectorAll('.job')].find((one) => one.querySelector('.name').textContent === '%s')"


def generate(daemon, shape, n):
    path = os.path.join(daemon.scratch, f"{shape}.gr")
    subprocess.run([harness.COMMAND, "generate", "--shape", shape, "--n", str(n), "--seed", "4", path], check=True)
    with open(path, encoding="utf-8") as file:
        return file.read()


def text(page, selector):
    return page.run("return document.querySelector(arguments[0]).textContent", selector)


def picture(page, name):
    if PICTURES:
        os.makedirs(PICTURES, exist_ok=True)
        page.picture(os.path.join(PICTURES, f"{name}.png"))


def look(page, where):
    """Checks that nothing overflows at any width, and that both schemes are accessible."""
    for scheme in ("light", "dark"):
        page.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in WIDTHS:
            page.size(width)
            wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, (where, width, wide)
            picture(page, f"{where}-{width}-{scheme}")
        expect_no_obstacle(page, where, scheme)
    page.size(WIDTHS[0])


def expect_no_obstacle(page, where, scheme):
    if not AXE:
        return
    with open(AXE, encoding="utf-8") as file:
        page.devtools("Runtime.evaluate", expression=file.read())
    found = page.run("""const done = arguments[arguments.length - 1];
        axe.run().then((all) => {
          window.passed = all.passes.length;
          done(all.violations.map((one) => [one.impact, one.id, one.nodes[0].html + one.nodes[0].failureSummary]));
        });""", kind="async")
    print(f"axe: {where}, {scheme}: {page.run('return window.passed')} rules pass", json.dumps(found, indent=1))
    assert found == [], (where, scheme)


def drop(page, name, content, comments=0):
    page.run(DROP, f"{name}.gr", content, comments)


def expect_no_other_error(page, *known):
    log = [line for line in page.log() if line["level"] == "SEVERE"]
    assert [line for line in log if not any(part in line["message"] for part in known)] == [], log


def solve(page, name, content, source, target):
    """Drops a file, waits for the result, and queries a pair; its path is listed and drawn."""
    drop(page, name, content)
    page.until(f"{JOB % name}?.dataset.state === 'done'")
    page.until(f"document.querySelector('#graph-name').textContent === '{name}' && {OPEN}")
    assert "vertices" in text(page, "#facts")
    assert text(page, "#heat-block").startswith("All ")
    assert painted(page, "#heat") > 20
    page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
             ["source", source], ["target", target])
    page.click("#pair button.main")
    page.until("document.querySelector('#pair-answer .path li')")


def painted(page, selector):
    """Returns the number of colours in a canvas."""
    return page.run("""const canvas = document.querySelector(arguments[0]);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;""", selector)


def test_a_first_visit_works_in_the_browser(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        page.devtools("Network.enable")
        look(page, "start")
        assert ".." not in text(page, "#gpu-reason"), text(page, "#gpu-reason")
        solve(page, "town", generate(daemon, "road", 300), "1", "300")
        answer = daemon.get("/v1/graphs/town/path?source=1&target=300").json
        assert text(page, "#pair-answer .distance").replace(",", "") == str(answer["distance"])
        listed = page.run("return document.querySelectorAll('#pair-answer .path li').length")
        assert listed == len(answer["vertices"])
        path = f"/v1/graphs/{daemon.get('/v1/graphs/town').json['id']}/path?source=1&target=300"
        assert text(page, "#curl-line") == f"curl '{daemon.url}{path}'"
        assert painted(page, "#drawing canvas") > 10
        look(page, "solved")
        around_a_vertex(page, daemon)
        into_a_block(page)
        cancel_a_job(page, daemon)
        bad_graphs(page)
        if DATA:
            with open(os.path.join(DATA, "graphs/rome99.gr"), encoding="utf-8") as file:
                solve(page, "rome99", file.read(), "1", "3353")
            look(page, "rome99")
        expect_no_other_error(page, "jobs?name=broken", "source=nowhere")


def around_a_vertex(page, daemon):
    page.run("document.getElementById('around').value = '7'; document.getElementById('most').value = '4';")
    page.click("#around-form button.main")
    page.until("document.querySelectorAll('#around-answer tbody tr').length === 4")
    near = daemon.get("/v1/graphs/town/nearest?source=7&k=4").json
    cells = page.run("return [...document.querySelectorAll('#around-answer td')].map((one) => one.textContent)")
    assert cells[::2] == [str(vertex) for vertex in near["vertices"]], cells
    assert [cell.replace(",", "") for cell in cells[1::2]] == [str(one) for one in near["distances"]], cells
    links = page.run("return [...document.querySelectorAll('#downloads a')].map((one) => one.href)")
    assert len(links) == 7
    for link in links:
        assert daemon.ask("HEAD", link.removeprefix(daemon.url)).status == 200, link


def into_a_block(page):
    """Uses the keyboard only: selects a cell, opens its block, and returns."""
    page.run("document.getElementById('heat').focus()")
    page.press("\ue015", "\ue014", "\ue014")
    said = text(page, "#heat-cell")
    assert re.match(r"From 3 vertices starting at \d+ to 2 vertices starting at \d+: mean|From .* to .*: mean", said), said
    page.press("\ue007")
    page.until("document.querySelector('#heat-block').textContent.startsWith('Rows 0 to ')")
    assert "heatmap?rows=0:" in text(page, "#curl-line")
    page.press("\ue00c")
    page.until("document.querySelector('#heat-block').textContent.startsWith('All ')")


def cancel_a_job(page, daemon):
    """Cancels a job that cannot finish in time, and another that waits behind it."""
    drop(page, "endless", harness.slow_graph(harness.LASTING_SIZE).decode())
    running = JOB % "endless"
    page.until(f"{running}?.dataset.state === 'running'")
    assert page.run(f"return {running}.querySelector('progress').hidden") is False
    page.until(f"{running}.querySelector('.words').textContent.startsWith('solving, ')")
    picture(page, "running")
    drop(page, "behind", "p sp 2 1\na 1 2 3\n")
    behind = JOB % "behind"
    page.until(f"{behind}?.dataset.state === 'queued'")
    page.until(f"{running}.dataset.state === 'running' && {behind}.querySelector('.words').textContent.includes('next in the queue')")
    page.run(f"{running}.querySelectorAll('button')[1].click()")
    page.until(f"{running}?.dataset.state === 'cancelled'")
    page.until(f"{behind}?.dataset.state === 'done'")
    states = {job["name"]: job["state"] for job in daemon.get("/v1/jobs").json["jobs"]}
    assert states["endless"] == "cancelled" and states["behind"] == "done", states
    assert "-X DELETE" in page.run("return document.querySelector('#curl-list').textContent")


def bad_graphs(page):
    drop(page, "broken", "p sp 3 2\na 1 2 3\na 1 nine 3\n")
    page.until("document.querySelector('#submit-problem pre')")
    said = text(page, "#submit-problem")
    assert "line 3" in said and "a 1 nine 3" in said and "BadGraph" in said, said
    picture(page, "problem")
    # The query is repeated until it is answered: a job that ends meanwhile shows its graph and
    # clears the form.
    page.until("""document.querySelector('#pair-problem .problem')
        || void (document.getElementById('source').value = 'nowhere',
                 document.querySelector('#pair button.main').click())""")
    assert "NoSuchVertex" in text(page, "#pair-problem")


def test_every_example_is_solved(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        for name in ("city", "town", "islands", "small-world"):
            page.click(f"[data-example={name}]")
            page.until(f"document.querySelector('#graph-name').textContent === 'example-{name}' && {OPEN}")
            page.until("!document.querySelector('#drawing-box').hidden")
            assert text(page, "#warnings") == "", name
            # An example shows a path, and suggests a distance within which there are vertices.
            page.until("document.querySelectorAll('#pair-answer .path li').length > 5")
            page.run("const how = document.querySelector('#how'); how.value = 'within'; how.dispatchEvent(new Event('change'))")
            page.click("#around-form button.main")
            page.until("document.querySelector('#around-answer').textContent.includes('coloured in the drawing')")
            found = page.run("return document.querySelectorAll('#around-answer tbody tr').length")
            assert 4 < found < daemon.get(f"/v1/graphs/example-{name}").json["n"] - 1, (name, found)
            page.run("document.querySelector('#how').value = 'nearest'; document.querySelector('#how').dispatchEvent(new Event('change'))")
            assert page.run("return document.querySelector('#again').hidden"), name
            picture(page, f"example-{name}")
            if name == "city":
                page.until("document.querySelector('.placed')")
                assert "components" not in text(page, "#facts"), text(page, "#facts")
                look(page, "city")
        page.open(page.run("return location.href"), WIDTHS[0], OPEN)
        assert text(page, "#graph-name") == "example-small-world"
        assert text(page, "#warnings") == ""
        page.run(DROP, "guessed.csv", "a,b,5\nb,c,7\n")
        page.until(f"document.querySelector('#graph-name').textContent === 'guessed' && {OPEN}")
        assert "No edge has a reverse edge" in text(page, "#warnings")
        assert page.run("return document.title") == "guessed · apspd"
        look(page, "warnings")
        expect_no_other_error(page)


def test_warning_buttons_upload_the_graph_again_and_keep_its_coordinates(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        page.run(DROP, "roads.csv", "from,to,length_m,travel_time_s\na,b,500,60\nb,c,700,30\n")
        page.until(f"document.querySelector('#graph-name').textContent === 'roads' && {OPEN}")
        page.run(DROP, "places.csv", "vertex,x,y\na,0,0\nb,5,0\nc,9,1\n")
        page.until("document.querySelector('.placed')")
        for label, fact in (("Use column travel_time_s", "weights 30 to 60"), ("Make edges undirected", "undirected")):
            page.run("[...document.querySelectorAll('#warnings button')].find((one) => one.textContent === arguments[0]).click()", label)
            page.until(f"document.querySelector('#facts').textContent.includes('{fact}') && document.querySelector('.placed') && {OPEN}")
        assert daemon.get("/v1/graphs/roads/distance?source=c&target=a").json["distance"] == 90
        expect_no_other_error(page, "jobs?name=roads")


def test_decimals_are_shown_with_all_digits(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        for name, body, fact in (("tolls", "a,b,1234567.891\nb,a,0.25\n", "weights 0.25 to 1,234,567.891"),
                                 ("grains", "a,b,1e-7\nb,a,0.0000012345678901234567\n",
                                  "weights 1e-7 to 0.0000012345678901234567"),
                                 ("fares", "a,b,0.1\nb,a,0.2\n", "added exactly as 32-bit integers in units of 0.1")):
            page.run(DROP, f"{name}.csv", f"source,target,weight\n{body}")
            page.until(f"document.querySelector('#graph-name').textContent === '{name}' && {OPEN}")
            assert fact in text(page, "#facts"), text(page, "#facts")
        expect_no_other_error(page)


if __name__ == "__main__":
    harness.run(globals(), harness.LASTING)
