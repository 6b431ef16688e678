"""The drawing on the page at /, in a real browser: an edge's weight is changed and the path moves.
Skipped without Chromium and its driver."""

import browser
import harness
from test_page_browser import OPEN, WIDTHS, expect_no_other_error, look, picture, text

# Two ways from a to d: by b in 4, by c in 6.
TWO_WAYS = b"from,to,minutes\na,b,2\nb,d,2\na,c,3\nc,d,3\n"
DRAWN = f"{OPEN} && !document.querySelector('#drawing-box').hidden"
PATH = "[...document.querySelectorAll('#pair-answer .path li')].map((one) => one.firstChild.textContent.trim()).join('')"


def ask_pair(page, source, target, path):
    page.run("for (const [id, value] of arguments) document.getElementById(id).value = value;",
             ["source", source], ["target", target])
    page.click("#pair button.main")
    page.until(f"{PATH} === '{path}'")


def set_weight(page, weight):
    page.run("document.querySelector('#edge-weight').value = arguments[0]", weight)
    page.click("#edge-form button.main")


def test_a_changed_weight_moves_the_path(daemon):
    daemon.solve(TWO_WAYS, "?format=edges&name=ways&directed=false")
    first = daemon.get("/v1/graphs/ways").json["id"]
    page = browser.Browser()
    try:
        page.open(f"{daemon.url}/#ways", WIDTHS[0], DRAWN)
        ask_pair(page, "a", "d", "abd")
        page.click("#pair-answer .path .step")
        assert text(page, "#edge-words") == "Edge a – b"
        set_weight(page, "many")
        page.until("document.querySelector('#edge-problem .problem')")
        set_weight(page, "9")
        page.until(f"{PATH} === 'acd' && {DRAWN}")
        assert "before the change 4" in text(page, "#pair-answer"), text(page, "#pair-answer")
        assert text(page, "#graph-name") == "ways" and text(page, "#graph-id") != first
        look(page, "changed")
        assert daemon.get("/v1/graphs/ways/distance?source=a&target=d").json["distance"] == 6
        assert "-X PATCH " in page.run("return document.querySelector('#curl-list').textContent")
        # Removed, the other way is left; with both gone there is none.
        page.click("#pair-answer .path .step")
        page.click("#edge-remove")
        page.until(f"{PATH} === 'abd' && {DRAWN}")
        page.click("#pair-answer .path .step")
        page.click("#edge-remove")
        page.until("document.querySelector('#pair-answer').textContent.startsWith('Unreachable')")
        expect_no_other_error(page)
    finally:
        page.close()


def test_a_name_that_has_moved_is_not_changed(daemon):
    daemon.solve(TWO_WAYS, "?format=edges&name=moved&directed=false")
    page = browser.Browser()
    try:
        page.open(f"{daemon.url}/#moved", WIDTHS[0], DRAWN)
        ask_pair(page, "a", "d", "abd")
        daemon.solve(b"from,to,minutes\na,b,1\n", "?format=edges&name=moved&directed=false")
        page.click("#pair-answer .path .step")
        set_weight(page, "9")
        page.until("document.querySelector('#edge-problem .problem')")
        assert daemon.get("/v1/graphs/moved/distance?source=a&target=b").json["distance"] == 1
        picture(page, "moved")
        expect_no_other_error(page, "edges?wait")
    finally:
        page.close()


if __name__ == "__main__":
    harness.run(globals())
