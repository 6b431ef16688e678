"""The page at / of a service with keys, in a real browser: a wrong key, a valid key, a key
revoked during use, another tenant's key. Skipped without Chromium and its driver."""

import contextlib

import browser
import access
import harness
from test_page_browser import OPEN, WIDTHS, drop, expect_no_obstacle, generate, look, picture, text

keys = access.Keys("alpha:submitter", "beta:submitter")
ALPHA, BETA = (access.Keys.key(f"{name}:submitter") for name in ("alpha", "beta"))
ASKED = "document.querySelector('#key-dialog').open && document.querySelector('#key-words').textContent === '%s'"
WANTED, WRONG = "This service needs a key.", "The service refused this key."
SHUT = "!document.querySelector('#key-dialog').open"
JOBS = "[...document.querySelectorAll('.job .name')].map((one) => one.textContent).join()"
TOLD = "return [...document.querySelectorAll('.problem')].map((one) => one.closest('[id]').id)"
KEPT = "return sessionStorage.getItem('apspd-key')"


def give(page, key):
    page.type("#key", key)
    page.click("#key-form button.main")


def come_in(page, key):
    page.until(ASKED % WANTED)
    give(page, key)
    page.until(f"{SHUT} && document.querySelector('#devices li')")


@contextlib.contextmanager
def keys_restored(daemon):
    try:
        yield
    finally:
        keys.write("alpha:submitter", "beta:submitter")
        daemon.reload()


def ask_pair(page):
    page.click("#pair button.main")


def test_the_page_asks_for_a_key_until_it_is_valid(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], ASKED % WANTED)
        picture(page, "key-wanted")
        expect_no_obstacle(page, "key", "light")
        give(page, "of-nobody-0123456789")
        page.until(ASKED % WRONG)
        picture(page, "key-wrong")
        give(page, ALPHA)
        page.until(f"{SHUT} && document.querySelector('#devices li')")
        assert text(page, "#key-button") == "Key in use"
        assert page.run("return document.querySelectorAll('.problem').length") == 0
        drop(page, "town", generate(daemon, "road", 300))
        page.until(f"document.querySelector('#graph-name').textContent === 'town' && {OPEN}")
        ask_pair(page)
        page.until("document.querySelector('#pair-answer .path li')")
        assert text(page, "#curl-line").startswith('curl -H "Authorization: Bearer $APSPD_KEY" ')
        page.run("document.querySelector('#downloads a').click()")
        page.until("document.querySelector('#curl-line').textContent.includes('-o town.npy')")
        picture(page, "key-in-use")
        # Only the tab stores the key.
        page.open(page.run("return location.href"), WIDTHS[0], OPEN)
        assert page.run(KEPT) == ALPHA and page.run("return localStorage.length") == 0


def test_the_page_asks_for_another_key_after_a_key_is_revoked(daemon):
    with browser.Browser() as page, keys_restored(daemon):
        page.open(f"{daemon.url}/", WIDTHS[0], ASKED % WANTED)
        come_in(page, ALPHA)
        drop(page, "mine", "p sp 2 1\na 1 2 3\n")
        page.until(f"document.querySelector('#graph-name').textContent === 'mine' && {OPEN}")
        keys.write("beta:submitter")
        daemon.reload()
        ask_pair(page)
        page.until(ASKED % WRONG)
        picture(page, "key-revoked")
        # Nothing of the first tenant is left for the second.
        give(page, BETA)
        page.until(f"{SHUT} && document.querySelector('#graph-problem .problem')")
        assert "NoSuchGraph" in text(page, "#graph-problem")
        assert page.run(f"return {JOBS}") == ""
        assert page.run("return [document.querySelector('#solved').hidden, document.querySelector('#facts').textContent]") == [True, ""]
        assert page.run("return `#${document.querySelector('#graph-name').textContent}` === location.hash")
        picture(page, "key-of-another")
        drop(page, "other", "p sp 2 1\na 1 2 4\n")
        page.until(f"document.querySelector('#graph-name').textContent === 'other' && {OPEN}")
        assert page.run(f"return {JOBS}") == "other"


def test_the_page_asks_for_a_key_when_a_large_upload_is_refused(daemon):
    """The refusal arrives while the file is being sent."""
    with browser.Browser() as page, keys_restored(daemon):
        page.open(f"{daemon.url}/", WIDTHS[0], ASKED % WANTED)
        come_in(page, ALPHA)
        keys.write("beta:submitter")
        daemon.reload()
        drop(page, "large", "p sp 2 1\na 1 2 3\n", comments=1000000)
        page.until(ASKED % WRONG)
        page.until("document.querySelector('#submit-problem .problem')")
        assert "Unauthorized" in text(page, "#submit-problem"), text(page, "#submit-problem")


def test_a_key_can_be_declined_and_forgotten(daemon):
    with browser.Browser() as page:
        page.open(f"{daemon.url}/", WIDTHS[0], ASKED % WANTED)
        page.click("#key-cancel")
        assert page.run(TOLD) == ["service-problem"]
        page.run("document.dispatchEvent(new Event('visibilitychange'))")
        page.click("[data-example=town]")
        page.until("document.querySelector('#submit-problem .problem')")
        assert page.run(f"return {SHUT}") and page.run(TOLD) == ["service-problem", "submit-problem"]
        look(page, "key-declined")
        page.click("#service-problem button")
        give(page, BETA)
        page.until(f"{SHUT} && document.querySelector('#devices li')")
        page.click("#key-button")
        page.click("#key-forget")
        page.until("document.querySelector('#service-problem .problem')")
        assert page.run(f"return {SHUT} && sessionStorage.length === 0 && {JOBS} === ''")
        assert text(page, "#key-button") == "Key"


if __name__ == "__main__":
    harness.Daemon = access.Daemon
    harness.run(globals(), ("--http.keys_file", keys.path))
