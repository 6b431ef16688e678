"""Tests the apsp bench command, not its measurements: python3 test_bench.py BUILD_DIR"""

import json
import os
import subprocess
import sys
import unittest

APSP = os.path.join(os.path.abspath(sys.argv.pop()), "apsp") if len(sys.argv) > 1 else "apsp"
SMALL = ("--solver", "cpu", "--sizes", "64,128", "--runs", "1")


def bench(*arguments, **environment):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
    variables.update(environment)
    return subprocess.run([APSP, "bench", *arguments], capture_output=True, text=True, timeout=600,
                          env=variables)


class Bench(unittest.TestCase):
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
        self.assertEqual(document["device"]["solver"], "cpu")
        self.assertGreater(document["device"]["units"], 0)
        found = [(row["kind"], row["directed"], row["n"]) for row in document["rows"]]
        self.assertEqual(found, rows)
        for row in document["rows"]:
            self.assertGreater(row["compute_s"], 0)
            self.assertLessEqual(row["fastest_s"], row["compute_s"])
            rate = row["n"] ** 3 / row["compute_s"]
            self.assertAlmostEqual(row["relaxations_per_s"] / rate, 1, places=6)

    def test_the_table_has_a_row_for_every_measurement(self):
        lines = self.ok(*SMALL).stdout.splitlines()
        self.assertEqual(sum(line.startswith("| 64 |") for line in lines), 8)
        self.assertEqual(sum(line.startswith("| 128 |") for line in lines), 8)
        self.assertEqual({line.count("|") for line in lines if line.startswith("|")}, {9})

    def test_the_json_document_has_a_row_per_measurement(self):
        document = json.loads(self.ok(*SMALL, "--json").stdout)
        self.check_document(document, [(kind, directed, n) for kind in ("i4", "u2", "f4", "f8")
                                       for directed in (True, False) for n in (64, 128)])
        done = self.ok(*SMALL, "--kinds", "f4", "--directed", "--json")
        self.check_document(json.loads(done.stdout), [("f4", True, 64), ("f4", True, 128)])
        self.assertIn("| 64 | f4 | directed |", done.stderr)

    def test_sizes_that_do_not_fit_in_memory_are_skipped(self):
        done = self.ok("--solver", "cpu", "--sizes", "1000000,64", "--runs", "1", "--kinds", "f8",
                       "--directed", "--json")
        document = json.loads(done.stdout)
        self.check_document(document, [("f8", True, 64)])
        self.assertIn("| 1000000 | f8 | directed | skipped: needs", done.stderr)

    def test_a_usage_error_gives_exit_code_2(self):
        for arguments, hint in (
            (("--sizes", "64..x"), "--sizes"),
            (("--kinds", "i8"), "--kinds"),
            (("--kinds", "i4,"), "--kinds"),
            (("--runs", "0"), "--runs"),
            (("--sizes", "64,,128"), "--sizes"),
            (("--sizes", ",".join(["64"] * 33)), "up to 32"),
            (("--size", "64"), "--size"),
            (("more",), "maximum number of operands is 0"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(hint, self.refused(2, *arguments))

    def test_a_missing_device_gives_exit_code_3(self):
        message = self.refused(3, "--solver", "gpu", CUDA_VISIBLE_DEVICES="-1")
        self.assertIn("GPU", message)


if __name__ == "__main__":
    unittest.main()
