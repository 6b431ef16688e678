"""Tests apsp-mpi from outside, with ranks that mpirun starts on this machine: python3
test_ranks.py BUILD_DIR"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import unittest

from folder_case import FolderCase

BUILD = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else "."
APSP, RANKS = os.path.join(BUILD, "apsp"), os.path.join(BUILD, "apsp-mpi")
SKIPPED = 77


def environment():
    """Open MPI refuses to run as root, as in continuous integration, unless two variables allow
    it."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("APSPD_")},
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launch(count):
    return ["mpirun", "--oversubscribe", "-np", str(count), RANKS]


def run(command, stdin=b""):
    return subprocess.run(command, input=stdin, capture_output=True, timeout=600, env=environment())


class RanksTest(FolderCase):
    def generate(self, name, *arguments):
        done = run([APSP, "generate", *arguments, self.path(name)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def refused(self, code, count, *arguments):
        done = run([*launch(count), *arguments])
        said = [line for line in done.stderr.decode().splitlines() if line.startswith("apsp: ")]
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(len(said), 1, done)
        self.assertEqual(os.listdir(self.folder).count("out.npy"), 0)
        return said[0]

    def test_ranks_compute_the_same_matrix_as_a_single_process(self):
        for shape in (("gnp", "--n", "400", "--directed"), ("gnp", "--n", "300"),
                      ("road", "--n", "3000"), ("gnp", "--n", "90", "--kind", "f4")):
            graph = self.generate("g.gr" if "f4" not in shape else "g.csv", "--shape", *shape)
            self.assertEqual(run([APSP, "solve", graph, self.path("one.npy")]).returncode, 0)
            for count in (1, 2, 3) if "--directed" in shape else (2,):
                done = run([*launch(count), "solve", graph, self.path("out.npy"), "--verify"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.read("out.npy"), self.read("one.npy"), (shape, count))
                self.assertEqual(done.stdout.decode().count("vertices"), 1, done.stdout)
                self.assertIn("verified: ", done.stdout.decode())
                os.unlink(self.path("out.npy"))

    def test_ranks_on_gpus_compute_the_same_matrix_as_a_single_process(self):
        """The GPUs solve the graph together, if there are any; otherwise, all ranks use the CPU."""
        graph = self.generate("g.gr", "--shape", "gnp", "--n", "4300", "--directed")
        one, many = self.path("one.npy"), self.path("many.npy")
        if run([APSP, "solve", graph, one, "--solver", "gpu"]).returncode == 3:
            self.skipTest("no GPU")
        solve = (RANKS, "solve", graph, many, "--verify")
        blind = ("env", "CUDA_VISIBLE_DEVICES=", *solve)
        for ranks, device in ((("-n", "3", *solve), "gpu on"),
                              (("-n", "1", *solve, ":", "-n", "1", *blind), "cpu on")):
            done = run(["mpirun", "--oversubscribe", *ranks])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read("many.npy"), self.read("one.npy"))
            self.assertIn(device, done.stdout.decode())
            self.assertEqual(device == "cpu on", b"not every rank has a GPU" in done.stderr, done)

    def test_ranks_write_matrices_of_any_format_and_kind(self):
        graph = self.generate("g.gr", "--shape", "gnp", "--n", "150")
        for name, more in (("out.csv", ()), ("out.npy", ("--kind", "u2"))):
            self.assertEqual(run([APSP, "solve", graph, self.path("one"), "--to", name[-3:], *more]).returncode, 0)
            done = run([*launch(2), "solve", graph, self.path(name), *more])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(name), self.read("one"), name)

    def test_an_error_is_printed_once_and_not_by_every_rank(self):
        graph = self.generate("g.gr", "--shape", "gnp", "--n", "50")
        out = self.path("out.npy")
        self.assertIn("No such file", self.refused(1, 3, "solve", self.path("none.gr"), out))
        done = run([*launch(2), "solve", graph, self.path("gpu.npy"), "--solver", "gpu"])
        self.assertIn(done.returncode, (0, 3))
        self.assertEqual(done.returncode == 3, b"No GPU can be used" in done.stderr, done)
        self.assertIn("cannot write", self.refused(1, 2, "solve", graph, "/no/such/folder/out.npy"))
        self.assertIn("only the solve command", self.refused(2, 2, "verify", graph, out))
        self.assertIn("--nonsense", self.refused(2, 2, "solve", graph, out, "--nonsense"))
        cycle = self.path("cycle.csv", b"source,target,weight\nx,y,1\ny,x,-2\n")
        self.assertIn("-> ", self.refused(1, 3, "solve", cycle, out))
        self.assertEqual(os.listdir(self.folder).count("out.npy.tmp"), 0)

    def test_the_batch_script_starts_ranks(self):
        graph = self.generate("g.gr", "--shape", "road", "--n", "500")
        script = os.path.join(os.path.dirname(__file__), "..", "..", "deploy", "slurm-mpi.sbatch")
        launcher = " ".join(launch(2)[:-1])
        done = subprocess.run(["bash", script, graph, self.path("out.npy")], capture_output=True,
                              env={**environment(), "SRUN": launcher, "APSP_MPI": RANKS})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("verified: ", done.stdout.decode())
        self.assertEqual(subprocess.run(["bash", script], capture_output=True).returncode, 2)

    def test_a_killed_rank_ends_all_ranks_and_the_next_run_succeeds(self):
        graph = self.generate("g.gr", "--shape", "gnp", "--n", "6000", "--directed", "--degree", "50")
        out = self.path("out.npy")
        with subprocess.Popen([*launch(2), "solve", graph, out, "--solver", "cpu", "--solver.cpu_threads", "1"],
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as group:
            while not os.path.exists(out + ".tmp"):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.fail(f"it ended: {group.wait(timeout=0.02)}")
            ranks = subprocess.run(["pgrep", "-P", str(group.pid)], stdout=subprocess.PIPE, check=True)
            os.kill(int(ranks.stdout.split()[-1]), signal.SIGKILL)
            self.assertNotEqual(group.wait(timeout=600), 0)
        self.assertFalse(os.path.exists(out))
        small = self.generate("s.gr", "--shape", "gnp", "--n", "200")
        self.assertEqual(run([*launch(2), "solve", small, out]).returncode, 0)
        self.assertEqual(run([APSP, "verify", small, out]).returncode, 0)


if __name__ == "__main__":
    if not os.path.exists(RANKS) or shutil.which("mpirun") is None:
        print("skipped: built without MPI, or no mpirun")
        sys.exit(SKIPPED)
    unittest.main()
