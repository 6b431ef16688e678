"""apsp bench from outside, never what it measures: python3 test_bench.py BUILD_DIR"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

APSP = os.path.join(os.path.abspath(sys.argv.pop()), "apsp") if len(sys.argv) > 1 else "apsp"
SMALL = ("--solver", "cpu", "--sizes", "64,128", "--runs", "1")
SVG = "{http://www.w3.org/2000/svg}"


def bench(*arguments, **environment):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
    variables.update(environment)
    return subprocess.run([APSP, "bench", *arguments], capture_output=True, text=True, timeout=600,
                          env=variables)


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def ok(self, *arguments):
        done = bench(*arguments)
        self.assertEqual(done.returncode, 0, done)
        return done

    def refused(self, code, *arguments, **environment):
        done = bench(*arguments, **environment)
        self.assertEqual(done.returncode, code, done)
        self.assertTrue(done.stderr.startswith("apsp: "), done)
        return done.stderr

    def check_document(self, document, rows):
        self.assertEqual(document["schema"], "apsp-bench/1")
        self.assertEqual(document["device"]["solver"], "cpu")
        self.assertGreater(document["device"]["units"], 0)
        self.assertEqual(set(document["limits"]), {"i4"} | {kind for kind, _, _ in rows})
        for limit in document["limits"].values():
            self.assertGreater(limit["relaxations_per_s"], 0)
        self.assertGreater(document["memory"]["copy_bytes_per_s"], 0)
        found = [(row["kind"], row["directed"], row["n"]) for row in document["rows"]]
        self.assertEqual(found, rows)
        for row in document["rows"]:
            self.assertGreater(row["compute_s"], 0)
            self.assertLessEqual(row["fastest_s"], row["compute_s"])
            self.assertLessEqual(row["compute_s"], row["slowest_s"])
            rate = row["n"] ** 3 / row["compute_s"]
            self.assertAlmostEqual(row["relaxations_per_s"] / rate, 1, places=6)
            limit = document["limits"][row["kind"]]["relaxations_per_s"]
            self.assertAlmostEqual(row["limit_fraction"] * limit / rate, 1, places=6)

    def test_a_folder_of_results(self):
        out = os.path.join(self.folder, "results")
        done = self.ok(*SMALL, "--out", out)
        self.assertEqual(set(os.listdir(out)), {"bench.json", "speed.svg", "roofline.svg"})
        with open(os.path.join(out, "bench.json")) as file:
            document = json.load(file)
        rows = [(kind, directed, n) for kind in ("i4", "u2", "f4", "f8") for directed in (True, False)
                for n in (64, 128)]
        self.check_document(document, rows)
        for name in ("speed.svg", "roofline.svg"):
            root = xml.parse(os.path.join(out, name)).getroot()
            self.assertEqual(root.tag, SVG + "svg")
            self.assertTrue(root.find(SVG + "title").text)
            self.assertTrue(root.find(SVG + "desc").text)
        lines = done.stdout.splitlines()
        self.assertEqual(sum(line.startswith("limit ") for line in lines), 4)
        self.assertEqual(sum(line.startswith("solve ") for line in lines), 16)
        self.assertEqual(sum(line.startswith("| ") for line in lines), 17)
        self.ok(*SMALL, "--kinds", "i4", "--directed", "--out", out)

    def test_a_batch_of_small_graphs(self):
        done = self.ok("--solver", "cpu", "--sizes", "64", "--runs", "1", "--kinds", "i4,f4",
                       "--directed", "--batch", "30", "--json", "-")
        rows = json.loads(done.stdout)["rows"]
        found = [(row["kind"], row["n"], row["graphs"]) for row in rows]
        self.assertEqual(found, [("i4", 64, 1), ("f4", 64, 1), ("i4", 128, 30), ("f4", 128, 30)])
        for row in rows[2:]:
            rate = row["graphs"] * row["n"] ** 3 / row["compute_s"]
            self.assertAlmostEqual(row["relaxations_per_s"] / rate, 1, places=6)
            self.assertAlmostEqual(row["edges"] / (16 * row["n"]), 1, delta=0.1)
        self.assertIn("30 graphs", done.stderr)

    def test_json_on_standard_output(self):
        done = self.ok(*SMALL, "--kinds", "f4", "--undirected", "--json", "-")
        self.check_document(json.loads(done.stdout), [("f4", False, 64), ("f4", False, 128)])
        self.assertIn("solve n=64 f4 undirected", done.stderr)

    def test_what_does_not_fit_is_left_out(self):
        done = self.ok("--solver", "cpu", "--sizes", "1000000,64", "--runs", "1", "--kinds", "f8",
                       "--directed", "--json", "-")
        document = json.loads(done.stdout)
        self.check_document(document, [("f8", True, 64)])
        self.assertEqual([skip["n"] for skip in document["skipped"]], [1000000])
        self.assertIn("memory", document["skipped"][0]["reason"])

    def test_usage(self):
        for arguments, hint in (
            (("--sizes", "64..x"), "--sizes"),
            (("--kinds", "i8"), "--kinds"),
            (("--runs", "0"), "--runs"),
            (("--batch", "-1"), "--batch"),
            (("--sweep-size", "-1"), "--sweep-size"),
            (("--size", "64"), "--sizes"),
            (("more",), "0 are taken"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(hint, self.refused(2, *arguments))

    def test_a_missing_device_is_exit_3(self):
        message = self.refused(3, "--solver", "gpu", CUDA_VISIBLE_DEVICES="-1")
        self.assertIn("GPU", message)

    def test_a_folder_that_cannot_be(self):
        out = os.path.join(self.folder, "no", "such")
        self.assertIn(out, self.refused(1, *SMALL, "--kinds", "i4", "--directed", "--out", out))

    def test_help(self):
        self.assertIn("--sweep-size", self.ok("--help").stdout)


if __name__ == "__main__":
    unittest.main()
