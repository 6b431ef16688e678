"""Tests the JavaScript client: with the argument `node` in Node, with `browser` in Chromium from a
page of another origin. The program in its README runs as printed, and its types are checked if
tsc is installed."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "clients")
PACKAGE = os.path.join(ROOT, "clients", "javascript")
sys.path[:0] = [os.path.join(ROOT, "tests", "http")]

import access
import harness
import sites

NODE = shutil.which("node")
TYPED = ("--strict", "--noEmit", "--target", "es2022", "--module", "node16", "--moduleResolution", "node16",
         "--lib", "es2022,dom")
KEY = "alpha:submitter"
RUN = """import { readFileSync } from "node:fs";
// Node 18 has none.
delete globalThis.crypto;
const [folder, cases, url, key, slow] = process.argv.slice(2);
const { run } = await import(cases);
console.log(JSON.stringify(await run(await import(`${folder}/apspd.js`), url, key, readFileSync(slow, "utf8"))));"""
IN_PAGE = """const [url, key, slow] = arguments, done = arguments[arguments.length - 1];
Promise.all([import("/clients/javascript/apspd.js"), import("/tests/clients/javascript_cases.js")])
    .then(([apspd, cases]) => cases.run(apspd, url, key, slow)).then(done, (error) => done({ failed: [String(error)] }));"""


def test_the_npm_package_is_complete():
    """The files that npm would publish include the licence, and have no dead links."""
    with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as readme:
        assert "](../" not in readme.read()
    if shutil.which("npm"):
        done = subprocess.run(["npm", "pack", "--dry-run", "--json", "--offline"], cwd=PACKAGE, capture_output=True,
                              text=True, check=True)
        (made,) = json.loads(done.stdout)
        assert {file["path"] for file in made["files"]} == {
            "LICENSE", "README.md", "apspd.d.ts", "apspd.js", "openapi.d.ts", "package.json"}, made
    with open(os.path.join(PACKAGE, "LICENSE"), "rb") as copy, open(os.path.join(ROOT, "LICENSE"), "rb") as file:
        assert copy.read() == file.read()


@contextlib.contextmanager
def daemon_for(*flags):
    keys = access.Keys(KEY)
    with access.Daemon("--http.keys_file", keys.path, *flags, *harness.LASTING) as daemon:
        yield daemon


def check(outcome):
    assert not outcome["failed"], "\n".join(outcome["failed"])
    assert outcome["tried"] >= 7, outcome


def node(*arguments, **more):
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE_S, **more)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout


def test_the_client_works_in_node():
    with daemon_for() as daemon, tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/slow.gr", "wb") as file:
            file.write(harness.slow_graph(harness.LASTING_SIZE))
        with open(f"{folder}/run.mjs", "w", encoding="utf-8") as file:
            file.write(RUN)
        # Outside the package's folder, Node recognizes a module by its file ending or a
        # package.json.
        cases = shutil.copy(f"{HERE}/javascript_cases.js", f"{folder}/cases.mjs")
        check(json.loads(node(f"{folder}/run.mjs", PACKAGE, cases, daemon.url, access.Keys.key(KEY), f"{folder}/slow.gr")))


def test_the_client_works_in_a_browser():
    with sites.app(ROOT) as port, daemon_for("--http.cors_origins", f"http://localhost:{port}") as daemon:
        with browser.Browser() as page:
            page.open(f"http://localhost:{port}/", 800, "document.title")
            slow = harness.slow_graph(harness.LASTING_SIZE).decode()
            check(page.run(IN_PAGE, daemon.url, access.Keys.key(KEY), slow, kind="async"))


def test_the_examples_in_the_readme_run():
    """The program in the README runs in a folder whose node_modules contains the package."""
    with open(f"{PACKAGE}/README.md", encoding="utf-8") as file:
        (program,) = re.findall(r"```js\n(.*?)```", file.read(), re.S)
    with harness.Daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/node_modules")
        os.symlink(PACKAGE, f"{folder}/node_modules/apspd")
        with open(f"{folder}/program.mjs", "w", encoding="utf-8") as file:
            file.write(program.replace("http://127.0.0.1:8080", daemon.url))
        printed = re.findall(r"// prints (.*)", program)
        assert printed and node("program.mjs", cwd=folder).splitlines() == printed
        if shutil.which("tsc"):
            os.rename(f"{folder}/program.mjs", f"{folder}/program.mts")
            with open(f"{folder}/wrong.mts", "w", encoding="utf-8") as file:
                file.write('import { Client } from "apspd";\nconst n: string = await new Client().solve([[1, 2]]);\n')
            subprocess.run(["tsc", *TYPED, "program.mts"], cwd=folder, check=True)
            subprocess.run(["tsc", *TYPED, "--allowJs", "--checkJs", f"{PACKAGE}/apspd.js"], cwd=folder, check=True)
            wrong = subprocess.run(["tsc", *TYPED, "wrong.mts"], cwd=folder, capture_output=True, text=True)
            assert "TS2322" in wrong.stdout, wrong


def test_the_package_has_the_version_of_the_service():
    with open(f"{ROOT}/meson.build", encoding="utf-8") as file, open(f"{PACKAGE}/package.json", "rb") as package:
        assert json.load(package)["version"] == re.search(r"version: '([\d.]+)'", file.read())[1]


if __name__ == "__main__":
    if sys.argv[3] == "browser":
        import browser  # this skips the test if there is no browser

        harness.run({"test_the_client_works_in_a_browser": test_the_client_works_in_a_browser})
    elif NODE is None:
        print("skipped: nodejs is missing")
        sys.exit(harness.SKIPPED)
    else:
        del test_the_client_works_in_a_browser
        harness.run(globals())
