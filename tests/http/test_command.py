"""Tests the commands of apsp that need no service: python3 test_command.py BUILD_DIR"""

import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import unittest

from folder_case import FolderCase

try:
    import numpy
except ImportError:
    numpy = None

APSP = os.path.join(os.path.abspath(sys.argv.pop()), "apsp") if len(sys.argv) > 1 else "apsp"
SHAPES = ("gnp", "dense", "grid", "road")
UNREACHABLE = 1073741823
NPY_HEADER = 128
# With one thread, the same graph always has the same plan.
ONE_THREAD = ("--solver", "cpu", "--solver.cpu_threads", "1")
TRIANGLE = b"p sp 4 3\na 1 2 4\na 2 3 5\na 1 3 20\n"
TRIANGLE_ROWS = [[0, 4, 9, None], [None, 0, 5, None], [None, None, 0, None], [None, None, None, 0]]


def apsp(*arguments, stdin=b"", **environment):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
    variables.update(environment)
    return subprocess.run([APSP, *arguments], input=stdin, capture_output=True, timeout=600,
                          env=variables)


class CommandTest(FolderCase):
    def ok(self, *arguments, **more):
        done = apsp(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, code, *arguments, **more):
        done = apsp(*arguments, **more)
        self.assertEqual(done.returncode, code, done)
        message = done.stderr.decode()
        self.assertTrue(message.startswith("apsp: "), message)
        return message

    def generate(self, shape, name, *more):
        self.ok("generate", "--shape", shape, "--n", "70", *more, self.path(name))
        return self.path(name)


class Generate(CommandTest):
    def test_the_same_seed_gives_the_same_file(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.generate(shape, "a.gr", "--seed", "5")
                self.generate(shape, "b.gr", "--seed", "5")
                self.generate(shape, "c.gr", "--seed", "6")
                self.assertEqual(self.read("a.gr"), self.read("b.gr"))
                self.assertNotEqual(self.read("a.gr"), self.read("c.gr"))

    def test_every_format_gives_the_same_graph(self):
        matrices = []
        for ending in ("gr", "csv", "json", "nthu"):
            graph = self.generate("road", "g." + ending)
            self.ok("solve", graph, self.path("g.raw"), "--solver", "cpu")
            matrices.append(self.read("g.raw"))
        self.assertEqual(len(matrices[0]), 70 * 70 * 4)
        self.assertEqual(set(matrices), {matrices[0]})
        # The written table of distances could also be read as an edge list. It is read as a
        # matrix: solving it gives the same distances.
        self.ok("solve", graph, self.path("m.csv"), "--solver", "cpu")
        self.ok("solve", self.path("m.csv"), self.path("g.raw"), "--solver", "cpu")
        self.assertEqual(self.read("g.raw"), matrices[0])

    def test_an_input_only_format_is_refused_for_output(self):
        for arguments in ((self.path("g.mtx"),), ("--to", "metis", self.path("g.gr"))):
            message = self.refused(2, "generate", "--shape", "grid", "--n", "9", *arguments)
            self.assertIn("choose dimacs, edges, json or nthu", message)

    def test_decimal_weights_cannot_be_generated_as_nthu(self):
        message = self.refused(2, "generate", "--shape", "grid", "--n", "9", "--kind", "f4",
                               self.path("g.nthu"))
        self.assertIn("integers", message)
        self.assertEqual(os.listdir(self.folder), [])


class Solve(CommandTest):
    def test_compressed_files_are_read(self):
        plain = self.read(os.path.basename(self.generate("road", "g.csv")))
        self.ok("solve", self.path("g.csv"), self.path("plain.raw"))
        packed = gzip.compress(plain)
        self.ok("solve", self.path("p.csv.gz", packed), self.path("packed.raw"))
        self.assertEqual(self.read("plain.raw"), self.read("packed.raw"))
        message = self.refused(1, "solve", self.path("c.gz", packed[:-5]), self.path("c.raw"))
        self.assertIn("is incomplete", message)
        message = self.refused(1, "solve", self.path("d.gz", plain), self.path("d.raw"))
        self.assertIn("not gzip", message)
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", self.path("g.csv")], check=True)
            self.ok("solve", self.path("g.csv.zst"), self.path("zstd.raw"))
            self.assertEqual(self.read("plain.raw"), self.read("zstd.raw"))

    def test_graphs_of_every_shape_are_solved_and_verified(self):
        for shape in SHAPES:
            for kind in ("i4", "f4"):
                with self.subTest(shape=shape, kind=kind):
                    graph = self.generate(shape, "g.gr", "--kind", kind, "--directed")
                    self.ok("solve", graph, self.path("g.npy"), "--verify", "--solver=cpu")
                    done = self.ok("verify", graph, self.path("g.npy"))
                    self.assertEqual(done.stdout, b"verified: 70 rows\n")

    def test_distances_are_correct_if_some_edges_exceed_16_bits(self):
        """16 bits hold every distance of this graph, but not every edge."""
        draw = random.Random(1)
        n, edges = 600, {}
        for vertex in range(n):
            for _ in range(12):
                edges[vertex, draw.randrange(n)] = draw.randint(1, 10)
            edges[vertex, (vertex + 1) % n] = 3
            edges.setdefault((vertex, draw.randrange(n)), draw.choice([32768, 40000, 65535, 65541, 5000000]))
        graph, matrix = self.path("heavy.edges"), self.path("heavy.npy")
        with open(graph, "w") as file:
            file.writelines(f"{u} {v} {w}\n" for (u, v), w in edges.items())
        for isa in ("auto", "portable"):
            self.ok("solve", graph, matrix, "--solver.cpu_isa", isa)
            self.ok("verify", graph, matrix)

    def test_sums_prone_to_rounding_are_exact_or_refused(self):
        """Each edge has a reverse edge with the negated weight, so every cycle of decimals has
        length 0."""
        draw = random.Random(3)
        n, edges = 100, {}
        height = [draw.randint(-10000, 10000) / 10 for _ in range(n)]
        for u in range(n):
            for v in {(u + draw.randint(1, 30)) % n for _ in range(2)} - {u}:
                edges[u, v] = round(height[v] - height[u], 1)
                edges[v, u] = -edges[u, v]
        graph = self.path("ruined.edges")
        with open(graph, "w") as file:
            file.writelines(f"{u} {v} {w}\n" for (u, v), w in edges.items())
        self.ok("solve", graph, self.path("ruined.npy"), "--verify")
        failed = apsp("solve", graph, self.path("ruined.npy"), "--solver", "cpu", "--kind", "f4")
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn(b"Scale the weights to integers", b" ".join(failed.stderr.split()))

    def test_every_output_format_has_the_same_distances(self):
        graph = self.path("g.gr", TRIANGLE)
        for ending in ("npy", "raw", "nthu", "json", "csv", "ndjson", "mtx"):
            self.ok("solve", graph, self.path("g." + ending))
        document = json.loads(self.read("g.json"))
        self.assertEqual(document, {"sources": [1, 2, 3, 4], "destinations": [1, 2, 3, 4],
                                    "distances": TRIANGLE_ROWS})
        cells = struct.unpack("<16i", self.read("g.raw"))
        self.assertEqual(list(cells), [UNREACHABLE if cell is None else cell
                                       for row in TRIANGLE_ROWS for cell in row])
        self.assertEqual(self.read("g.npy")[NPY_HEADER:], self.read("g.raw"))
        self.assertEqual(self.read("g.nthu"), self.read("g.raw"))
        self.assertEqual([json.loads(line) for line in self.read("g.ndjson").splitlines()],
                         TRIANGLE_ROWS)
        self.assertEqual(self.read("g.csv").decode().splitlines(),
                         [",".join("" if cell is None else str(cell) for cell in row)
                          for row in TRIANGLE_ROWS])
        self.assertEqual(self.read("g.mtx").decode().splitlines()[3:],
                         ["inf" if cell is None else str(cell)
                          for column in zip(*TRIANGLE_ROWS) for cell in column])

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_npy_and_json_files_have_the_same_elements(self):
        graph = self.generate("gnp", "g.gr", "--kind", "f4", "--degree", "1")
        self.ok("solve", graph, self.path("g.npy"))
        self.ok("solve", graph, self.path("g.json"))
        rows = [[numpy.inf if cell is None else cell for cell in row]
                for row in json.loads(self.read("g.json"))["distances"]]
        self.assertTrue((numpy.load(self.path("g.npy"))
                         == numpy.array(rows)).all())

    def test_a_graph_is_read_from_stdin_and_the_matrix_written_to_stdout(self):
        done = self.ok("solve", "-", "-", "--to", "json", stdin=TRIANGLE)
        self.assertEqual(json.loads(done.stdout)["distances"], TRIANGLE_ROWS)
        self.assertIn(b"4 vertices", done.stderr)
        done = self.ok("solve", "-", "-", "--to", "npy", "--quiet", stdin=TRIANGLE)
        self.assertEqual(len(done.stdout), NPY_HEADER + 64)
        self.assertEqual(done.stderr, b"")

    def test_the_last_line_of_output_is_the_json_report(self):
        graph = self.path("g.gr", TRIANGLE)
        done = self.ok("solve", graph, self.path("g.npy"), "--json", "--verify", "--solver", "cpu")
        report = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(set(report),
                         {"summary", "plan", "timings", "solver", "device", "verified", "verification", "warnings"})
        self.assertEqual((report["warnings"], done.stderr), ([], b""))
        self.assertEqual(report["summary"]["n"], 4)
        self.assertEqual(report["summary"]["kind"], "i4")
        self.assertEqual(report["solver"], "cpu")
        self.assertEqual(report["verified"]["rows"], 4)
        verification = report["verification"]
        self.assertEqual((verification["rows"], verification["of"], verification["on"]),
                         (4, 4, "host"))
        self.assertIn("tight_path", verification["checks"])
        self.assertGreaterEqual(report["timings"]["total_s"], report["timings"]["compute_s"])

    def test_assumptions_about_the_input_are_printed_as_warnings(self):
        graph = self.path("g.csv", b"source,target,year\na,b,5\nb,c,7\na,b,9\n")
        done = self.ok("solve", graph, self.path("g.npy"), "--json", "--weight", "year")
        warnings = json.loads(done.stdout.splitlines()[-1])["warnings"]
        self.assertEqual([warning["code"] for warning in warnings], ["DirectedAssumed", "ParallelMerged"])
        lines = [line for warning in warnings for line in ("warning: " + warning["detail"], "  " + warning["hint"])]
        self.assertEqual(done.stderr.decode().splitlines(), lines)
        for command in (("solve", graph, self.path("g.npy"), "--quiet"), ("verify", graph, self.path("g.npy")),
                        ("plan", graph)):
            done = self.ok(*command, "--weight", "year", "--directed", "true")
            self.assertEqual(done.stderr.decode().splitlines(), lines[2:], command)

    def test_a_failure_is_reported_as_a_json_problem(self):
        graph = self.path("g.gr", b"p sp 2 2\na 1 2 1\na 2 1 -3\n")
        done = apsp("solve", graph, self.path("g.npy"), "--json", "--solver", "cpu")
        self.assertEqual(done.returncode, 1)
        problem = json.loads(done.stdout.splitlines()[-1])["problem"]
        self.assertEqual(problem["code"], "NegativeCycle")
        self.assertEqual(sorted(problem["cycle"]), [1, 2])
        self.assertEqual(os.listdir(self.folder), ["g.gr"])

    def test_existing_output_survives_a_failure(self):
        self.path("g.npy", b"precious")
        self.refused(1, "solve", self.path("g.gr", b"p sp 2 1\na 1 5 1\n"), self.path("g.npy"))
        self.assertEqual(self.read("g.npy"), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.gr", "g.npy"])

    def test_an_output_that_is_not_a_regular_file_is_not_replaced(self):
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.ok("solve", "-", self.path("pipe"), "--to", "raw", stdin=TRIANGLE)
        self.assertEqual(len(os.read(reader, 4096)), 64)
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_an_interrupt_leaves_no_file(self):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("APSPD_")}
        child = subprocess.Popen([APSP, "solve", "-", self.path("g.npy")], stdin=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=variables)
        # The input is larger than a pipe: once all is written, the command is reading it and
        # handles signals.
        child.stdin.write(b"p sp 4 1000000\n" + b"a 1 2 4\n" * 20000)
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(600), 130)
        child.stdin.close()
        child.stderr.close()
        self.assertEqual(os.listdir(self.folder), [])


class Words(CommandTest):
    def test_help_fits_a_terminal_of_80_columns(self):
        for command in ([], ["solve"], ["verify"], ["generate"], ["plan"], ["bench"]):
            done = apsp(*command, "--help")
            self.assertEqual(done.returncode, 0)
            for line in done.stdout.decode().splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        graph = self.path("graph.gr", TRIANGLE)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([APSP, "solve", graph, self.path("m.npy")], stdout=full,
                                  stderr=subprocess.PIPE, timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class Plan(CommandTest):
    def rings(self, count=20):
        """Returns the edges of separate rings of 100 vertices each."""
        edges = [(v, v // 100 * 100 + (v + 1) % 100) for v in range(100 * count)]
        return self.path("rings.csv", "".join(f"{a},{b},1\n" for a, b in edges).encode())

    def plan(self, graph, *more):
        return json.loads(self.ok("plan", graph, "--json", "--solver", "cpu", *more).stdout)

    def test_a_disconnected_graph_gets_a_plan_with_a_part_per_component(self):
        told = self.plan(self.rings())
        self.assertEqual((told["n"], told["m"], told["directed"]), (2000, 2000, True))
        self.assertEqual((told["solver"], told["kind"]), ("cpu", "i4"))
        self.assertEqual(told["plan"]["kind"], "nested_dissection")
        self.assertLess(told["plan"]["work_fraction"], 0.01)
        self.assertGreater(told["plan"]["planning_s"], 0)
        self.assertGreater(told["seconds"], told["plan"]["planning_s"])
        words = self.ok("plan", self.rings(), *ONE_THREAD).stdout
        self.assertIn(b"nested_dissection, 20 parts", words)
        self.assertIn(b"2000 vertices, 2000 edges, directed, kind i4, for the cpu solver", words)

    def test_a_dense_graph_gets_a_dense_plan(self):
        graph = self.path("dense.gr")
        self.ok("generate", "--shape", "dense", "--n", "700", graph)
        plan = self.plan(graph)["plan"]
        self.assertEqual((plan["kind"], plan["work_fraction"], plan["parts"]), ("dense", 1, 1))
        self.assertEqual(self.plan(self.path("none.gr", b"p sp 0 0\n"))["n"], 0)

    def test_the_plan_command_reports_the_plan_that_a_solve_uses(self):
        """The plan is the same for decimals, which are solved as integers."""
        for kind in ("i4", "f4"):
            graph = self.path("road.gr")
            self.ok("generate", "--shape", "road", "--n", "5000", "--kind", kind, graph)
            planned = self.plan(graph, *ONE_THREAD)
            solved = json.loads(self.ok("solve", graph, self.path("m.npy"), "--json", *ONE_THREAD).stdout)
            self.assertEqual(planned["kind"], solved["summary"]["kind"])
            for name in ("kind", "parts", "largest_separator", "work_fraction"):
                self.assertEqual(planned["plan"][name], solved["plan"][name], (kind, name))
            self.assertEqual(planned["plan"]["kind"], "nested_dissection")


class Refusals(CommandTest):
    def test_the_error_for_an_invalid_graph_contains_its_line_number(self):
        path = self.path("bad.gr", b"p sp 3 2\na 1 2 4\na 1 9 4\n")
        message = self.refused(1, "solve", path, self.path("g.npy"))
        self.assertIn(path + ":3", message)
        message = self.refused(1, "solve", "-", self.path("g.npy"), "--from", "dimacs",
                               stdin=b"p sp 3 2\nrubbish\n")
        self.assertIn("standard input:2", message)
        self.assertEqual(os.listdir(self.folder), ["bad.gr"])

    def test_missing_and_empty_inputs_are_refused(self):
        self.assertIn("nowhere.gr", self.refused(1, "solve", self.path("nowhere.gr"), "-"))
        self.refused(1, "solve", self.path("empty.gr", b""), "-")
        self.assertIn("--from", self.refused(1, "solve", "-", "-", stdin=b"\0\1\2\3"))

    def test_a_usage_error_gives_exit_code_2(self):
        for arguments, hint in (
            (("solv",), "solv"),
            (("solve", "a", "b", "--kin", "i4"), "--kin"),
            (("solve", "a", "b", "-kind", "i4"), "unknown flag -kind"),
            (("solve", "a", "b", "-\x14"), r"unknown flag -\u0014"),
            (("solve", "a", "b", "-é"), "unknown flag -é"),
            (("solve", "a", "b", "--ki"), "unknown flag --ki"),
            (("solve", "a", "b", "--quie=1"), "unknown flag --quie=1"),
            (("solve", "a"), "OUT"),
            (("solve", "a", "b", "c"), "operand c; the maximum number of operands is 2"),
            (("solve", "a", "b", "--kind"), "value"),
            (("solve", "a", "b", "--kind", "i8"), "i8"),
            (("solve", "a", "b", "--to", "dimacs"), "npy"),
            (("solve", "a", "b.xls"), "--to"),
            (("solve", "a", "b", "--to", "nthu", "--kind", "f4"), "nthu"),
            (("solve", "a", "b", "--n", "-1"), "-1"),
            (("solve", "a", "b", "--solver", "tpu"), "tpu"),
            (("solve", "a", "b", "--directed", "yes"), "yes"),
            (("verify", "a", "b.raw"), "--kind"),
            (("plan",), "GRAPH"),
            (("plan", "a", "--kind", "i8"), "i8"),
            (("generate", "--n", "3", "a"), "--shape"),
            (("generate", "--shape", "grid", "a"), "--n"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(hint, self.refused(2, *arguments))
        self.assertEqual(apsp().returncode, 2)

    def test_flags_may_follow_operands(self):
        graph = self.path("g.gr", TRIANGLE)
        self.ok("solve", graph, self.path("g.raw"), "--kind", "f8", POSIXLY_CORRECT="1")
        self.assertEqual(len(self.read("g.raw")), 4 * 4 * 8)

    def test_environment_variables_select_the_solver(self):
        graph = self.path("g.gr", TRIANGLE)
        self.assertIn("APSPD_SOLVER", self.refused(2, "solve", graph, "-", APSPD_SOLVER="cpu"))
        done = self.ok("solve", graph, self.path("g.npy"), "--json", APSPD_SOLVER_BACKEND="cpu")
        self.assertEqual(json.loads(done.stdout)["solver"], "cpu")

    def test_help_and_version_are_printed(self):
        self.assertIn(b"verify", self.ok("--help").stdout)
        self.assertIn(b"--max-weight", self.ok("generate", "--help").stdout)
        self.assertIn(b"--solver.cpu_isa", self.ok("solve", "--help").stdout)
        self.assertRegex(self.ok("--version").stdout, rb"^apsp \d")

    def test_a_missing_device_gives_exit_code_3(self):
        message = self.refused(3, "solve", "-", self.path("g.npy"), "--solver", "gpu",
                               stdin=TRIANGLE, CUDA_VISIBLE_DEVICES="-1")
        self.assertGreater(len(message), len("apsp: \n"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_nthu_output_of_decimals_is_refused(self):
        message = self.refused(1, "solve", "-", self.path("g.nthu"), "--from", "edges",
                               "--directed", "true", stdin=b"a b 1.5\n")
        self.assertIn("npy", message)


class Verify(CommandTest):
    def test_verify_detects_a_single_wrong_cell(self):
        graph = self.generate("road", "g.gr")
        self.ok("solve", graph, self.path("g.npy"))
        content = bytearray(self.read("g.npy"))
        for change in (-1, 1):
            wrong = bytearray(content)
            place = NPY_HEADER + 4 * (70 * 13 + 29)
            struct.pack_into("<i", wrong, place, struct.unpack_from("<i", content, place)[0] + change)
            message = self.refused(1, "verify", graph, self.path("wrong.npy", bytes(wrong)))
            self.assertIn("wrong.npy", message)
            self.assertIn("14", message)

    def test_verify_refuses_files_with_a_wrong_size_or_header(self):
        graph = self.path("g.gr", TRIANGLE)
        self.ok("solve", graph, self.path("g.raw"))
        self.ok("verify", graph, self.path("g.raw"), "--kind", "i4", "--rows", "2")
        self.refused(1, "verify", graph, self.path("g.raw"), "--kind", "f8")
        self.refused(1, "verify", graph, self.path("short.npy", b"\x93NUMPY"))
        self.refused(1, "verify", graph, self.path("empty.npy", b""))
        self.refused(1, "verify", graph, self.path("nowhere.npy"))


if __name__ == "__main__":
    unittest.main()
