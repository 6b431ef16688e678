"""The page at / on the first visit, in a real browser: the solved sample, the wording, and a
phone, where tapping an example scrolls its result into view. Skipped without Chromium and its
driver."""

import browser
import harness
from test_page_browser import OPEN, READY, WIDTHS, expect_no_other_error, look, picture, text

PHONE = 390
TOP = "document.querySelector('#workspace').getBoundingClientRect().top"


def tap(page, selector):
    page.devtools("Emulation.setTouchEmulationEnabled", enabled=True)
    page.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
    x, y = page.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];""", selector)
    page.devtools("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    page.devtools("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def test_the_page_shows_a_solved_sample_before_the_first_upload(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], READY)
        before = text(page, "#sample-words")
        assert before.startswith("From 1 to 24: "), before
        page.click("#sample-next")
        page.until("!document.querySelector('#sample-words').textContent.startsWith('From 1 to 24:')")
        for number in (1, 12):
            page.run("document.querySelectorAll('#sample-town circle')[arguments[0] - 1].dispatchEvent(new MouseEvent('click'))", number)
        assert text(page, "#sample-words").startswith("From 1 to 12: "), text(page, "#sample-words")
        edges = page.run("return document.querySelectorAll('#sample-town .walk').length")
        assert f"over {edges} streets" in text(page, "#sample-words")
        # curl commands wrap instead of being cut off.
        for width in WIDTHS:
            page.size(width)
            shell = page.run("const { scrollWidth, clientWidth } = document.querySelector('#shell'); return [scrollWidth, clientWidth]")
            assert shell[0] <= shell[1], (width, shell)
        look(page, "sample")
        expect_no_other_error(page)


def test_tapping_an_example_shows_its_result(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", PHONE, READY)
        tap(page, "[data-example=islands]")
        page.until(f"document.querySelector('#graph-name').textContent === 'example-islands' && {OPEN}")
        page.until(f"{TOP} >= 0 && {TOP} < innerHeight / 2")
        page.until("document.querySelector('#news').textContent.includes('example-islands: solved')")
        assert page.run("return document.querySelector('#news').getAttribute('role')") == "status"
        picture(page, "phone-result")
        tap(page, "#pair button.main")
        page.until("document.querySelector('#curl-line').textContent.includes('/path?')")
        line = page.run("const { scrollWidth, clientWidth } = document.querySelector('#curl-line'); return [scrollWidth, clientWidth]")
        assert line[0] <= line[1], line
        # The same graph is uploaded again and answered at once.
        tap(page, "[data-example=islands]")
        page.until(f"{TOP} >= 0 && {TOP} < innerHeight / 2")
        expect_no_other_error(page)


def test_the_page_uses_standard_terms(daemon):
    page = daemon.get("/", Accept="text/html").expect(200).body.decode()
    for word in ("Interface", "Take the matrix away", "Give up", "What was done"):
        assert word not in page, word
    for word in (">API</a>", ">Download", ">History<"):
        assert word in page, word


if __name__ == "__main__":
    harness.run(globals())
