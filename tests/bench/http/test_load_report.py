"""The load report comes out whole and without errors; never how fast anything is:
python3 test_load_report.py APSPD APSP BARE CLIENT"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:5]]
del sys.argv[1:5]
REPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load_report.py")
# A job that lasts: on one thread, and of a graph that takes it seconds.
SMALL = ("--connections", "1,5", "--seconds", "0.05", "--rounds", "1", "--vertices", "60", "--upload-vertices", "300",
         "--job-vertices", "6000", "--job-threads", "1", "--threads", "2")
QUESTIONS = {
    "distance": {"apspd", "bare", "nginx"},
    "distances_json": {"apspd", "bare"},
    "distances_binary": {"apspd", "bare"},
    "npy": {"apspd", "nginx"},
    "range": {"apspd", "nginx"},
    "upload_dimacs": {"apspd", "bare"},
    "upload_csv": {"apspd", "bare"},
    "upload_nthu": {"apspd", "bare"},
}


def run(out, *flags):
    return subprocess.run([sys.executable, "-B", REPORT, *PROGRAMS, "--out", out, *SMALL, *flags],
                          capture_output=True, text=True, timeout=280)


class LoadReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "report")

    def check_points(self, points, without):
        for question, subjects in QUESTIONS.items():
            expected = {(subject, connections, busy) for subject in subjects - without
                        for connections in (1, 5) for busy in (False, True)}
            those = [p for p in points if p["question"] == question]
            self.assertEqual({(p["subject"], p["connections"], p["busy"]) for p in those}, expected)
            self.assertEqual(len(those), len(expected))
        for point in points:
            self.assertEqual(point["errors"], 0, point)
            for figure in ("rate", "bytes_per_s", "p50_us", "p99_us"):
                self.assertGreater(point[figure], 0, point)
            self.assertGreaterEqual(point["p99_us"], point["p50_us"], point)

    def test_report_is_whole(self):
        done = run(self.out, "--nginx", "")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        with open(os.path.join(self.out, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["schema"], "apsp-load/1")
        self.assertIsNone(report["nginx"])
        self.check_points(report["points"], {"nginx"})
        with open(os.path.join(self.out, "report.md"), encoding="utf-8") as file:
            words = file.read()
        self.assertEqual(words.count("| a job |"), 2 * len(QUESTIONS))

    def test_a_wrong_answer_is_an_error(self):
        programs = PROGRAMS.copy()
        PROGRAMS[3] = os.path.join(os.path.dirname(self.out), "client")
        self.addCleanup(lambda: PROGRAMS.__setitem__(slice(None), programs))
        with open(PROGRAMS[3], "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho answers=1 rate=1 p50_us=1 p99_us=2 bytes_per_s=1 errors=1\n"
                       "echo not an answer >&2\nexit 1\n")
        os.chmod(PROGRAMS[3], 0o755)
        done = run(self.out, "--nginx", "", "--connections", "1")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("not an answer", done.stdout)


if __name__ == "__main__":
    unittest.main()
