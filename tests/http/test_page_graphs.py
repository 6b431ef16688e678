"""The page at / with many graphs, in a real browser: the list, unknown names, several files at
once, options, and a service that stops and restarts. Skipped without Chromium and its driver."""

import browser
import harness
from test_page_browser import ADD_FILE, DROP, JOB, OPEN, READY, WIDTHS, drop, expect_no_other_error, look, picture, text

LISTED = "[...document.querySelectorAll('#library .name')].map((one) => one.textContent).join()"
SHOWN = f"document.querySelector('#graph-name').textContent === '%s' && {OPEN}"
SMALL = "p sp 2 1\na 1 2 %d\n"


def search(page, words):
    page.run("const box = document.querySelector('#library-search'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", words)


def test_graphs_are_listed_searched_opened_and_deleted(daemon):
    for number, name in enumerate(("north", "south", "northwest")):
        daemon.solve((SMALL % (number + 2)).encode(), f"?name={name}")
    daemon.ask("POST", "/v1/graphs?name=raw", body=SMALL % 9).expect(201)
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], f"{LISTED} === 'raw,northwest,south,north'")
        words = page.run("return [...document.querySelectorAll('#library .entry > .words')].map((one) => one.textContent)")
        assert words[0].startswith("2 vertices · 1 edge · ") and "added just now" in words[0] and "not solved" in words[0], words
        assert "not solved" not in words[1], words
        search(page, "NORTH")
        page.until(f"{LISTED} === 'northwest,north'")
        look(page, "graphs")
        page.run("document.querySelector('#library-form').requestSubmit()")
        page.until(SHOWN % "northwest")
        search(page, "north")
        page.run("document.querySelector('#library-form').requestSubmit()")
        page.until(SHOWN % "north")
        page.click("#library [aria-label='Delete northwest']")
        page.click("#library .yes")
        page.until(f"{LISTED} === 'north'")
        daemon.get("/v1/graphs/northwest").expect(404, "NoSuchGraph")
        # The shown graph disappears with its list entry.
        page.click("#library [aria-label='Delete north']")
        page.click("#library .yes")
        page.until("document.querySelector('#workspace').hidden && !document.querySelector('#welcome').hidden")
        page.until("document.querySelector('#library-words').textContent.includes('No graph has a name like this')")
        search(page, "")
        page.until(f"{LISTED} === 'raw,south'")
        # With the last graph the search field disappears, and the keyboard focus moves to the file
        # button.
        for name, left in (("raw", "south"), ("south", "")):
            page.click(f"#library [aria-label='Delete {name}']")
            page.click("#library .yes")
            page.until(f"{LISTED} === '{left}'")
        page.until("document.querySelector('#library-form').hidden && document.activeElement.id === 'file'")
        expect_no_other_error(page)


def test_a_name_in_the_url_shows_its_graph_or_an_error(daemon):
    daemon.solve((SMALL % 5).encode(), "?name=by.name")
    with browser.Browser() as page:
        page.open(f"{daemon.url}/#by.name", WIDTHS[0], SHOWN % "by.name")
        page.run("location.hash = 'nowhere'")
        page.until("document.querySelector('#graph-problem .problem')")
        assert 'There is no graph "nowhere"' in text(page, "#graph-problem")
        assert page.run("return document.querySelector('#solved').hidden")
        assert text(page, "#graph-name") == "nowhere"
        picture(page, "no-such-graph")
        page.click("h1 a")
        page.until("!document.querySelector('#welcome').hidden && document.querySelector('#workspace').hidden")
        expect_no_other_error(page, "graphs/nowhere")


def test_all_dropped_files_are_uploaded_and_options_are_reset(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        page.run("for (const [name, value] of arguments) document.querySelector(`#options [name=${name}]`).value = value",
                 ["kind", "f8"], ["name", "mine"])
        drop(page, "first", SMALL % 11)
        page.until(SHOWN % "mine")
        assert daemon.get("/v1/graphs/mine").json["result"] == "f8"
        page.run("document.querySelector('#options [name=kind]').value = 'f4'")
        page.run(DROP.replace(ADD_FILE, """
            for (let at = 0; at < 3; at += 1) data.items.add(new File([text[at]], name[at]));"""),
                 ["a.gr", "b.gr", "c.gr"], [SMALL % 21, "p sp 2 1\na 1 nine 3\n", SMALL % 23])
        page.until(f"{JOB % 'a'}?.dataset.state === 'done' && {JOB % 'c'}?.dataset.state === 'done'")
        assert [daemon.get(f"/v1/graphs/{name}").json["result"] for name in ("a", "c")] == ["f4", "f4"]
        problem = text(page, "#submit-problem")
        assert "b.gr" in problem and "line 2" in problem, problem
        drop(page, "last", SMALL % 31)
        page.until(SHOWN % "last")
        assert daemon.get("/v1/graphs/last").json["result"] == "i4"
        # The same graph was solved before, so the page shows no time for it.
        page.click("#again")
        page.until("document.querySelector('.job .words').textContent.includes('already solved')")
        page.until(f"{SHOWN % 'last'} && document.querySelector('#facts').textContent.includes('already solved')")
        assert text(page, "#phases") == ""
        expect_no_other_error(page, "jobs?name=b&")


def test_the_page_shows_a_banner_while_the_service_is_down(_):
    daemon = harness.Daemon()
    with browser.Browser() as page:
        daemon.arguments = ("--listen", f"127.0.0.1:{daemon.port}")
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        drop(page, "lasting", SMALL % 41)
        page.until(SHOWN % "lasting")
        daemon.kill()
        page.click("#pair button.main")
        page.until("!document.querySelector('#gone').hidden")
        assert page.run("return document.querySelectorAll('.problem').length") == 0
        look(page, "gone")
        # A file dropped meanwhile is queued and sent afterwards.
        drop(page, "kept", SMALL % 43)
        page.until("document.querySelector('#upload-words').textContent.startsWith('kept.gr will be sent')")
        daemon.start()
        # The page also retries automatically, and may have hidden the button meanwhile.
        page.run("document.querySelector('#retry').click()")
        page.until("document.querySelector('#gone').hidden")
        page.until(SHOWN % "kept")
        page.click("#pair button.main")
        page.until("document.querySelector('#pair-answer .path li')")
        daemon.kill()


if __name__ == "__main__":
    harness.run(globals())
