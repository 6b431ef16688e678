"""/docs in a real browser: every operation is shown, one operation is tried out, and nothing
overflows at any width. Skipped without Chromium and its driver."""

import browser
import harness
from harness import SMALL

READY = 'document.querySelector("#index li")'
ANSWERED = """const done = arguments[0];
const answer = document.querySelector("#distance [aria-live] pre");
const wait = () => answer.textContent.length > 3 ? done(answer.textContent) : setTimeout(wait, 10);
document.querySelector("#distance button").click();
wait();"""


def test_the_docs_page_shows_every_operation_and_schema(daemon):
    daemon.solve(SMALL, "?name=town")
    document = daemon.get("/openapi.json").json
    with browser.Browser() as page:
        for width in (1280, 360):
            page.open(f"{daemon.url}/docs#distance", width, READY)
            page.run("for (const one of document.querySelectorAll('details')) one.open = true;")
            shown = page.run(
                "return [...document.querySelectorAll('details.operation')].map((one) => one.id)"
            )
            ids = [o["operationId"] for p in document["paths"].values() for o in p.values() if "tags" in o]
            assert sorted(shown) == sorted(ids)
            schemas = page.run("return document.querySelectorAll('details.schema').length")
            assert schemas == len(document["components"]["schemas"])
            wide = page.run("return document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, (width, wide)
        line = page.run("return document.querySelector('#distance pre').textContent")
        assert line == f"curl '{daemon.url}/v1/graphs/town/distance?source=1&target=4'", line
        line = page.run("return document.querySelector('#watchJob pre').textContent")
        assert line.startswith(f"curl -N {daemon.url}/v1/jobs/j_"), line
        answer = page.run(ANSWERED, kind="async")
        assert answer.startswith("200") and '"distance":null' in answer, answer
        log = page.log()
        assert log == [], log


if __name__ == "__main__":
    harness.run(globals())
