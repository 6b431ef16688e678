"""Names show where things are: base names are unique in a folder, each source has a test in a
folder of the same name, globals are named after their file or folder and used by another file, and
every source is in the meson.build of its folder or of the parent folder."""

import fnmatch
import os
import re

import house

# Sources without a unit test of their own, by pattern, each with the tests that cover them instead.
WITHOUT_UNIT_TEST = {
    "proto/hierarchy_kernel.c": "test_hierarchy_search.c, each that this processor can run",
    "proto/statistics_kernel.c": "test_statistics_rows.c, each that this processor can run",
    "proto/read/json_scanner.c": "test_reader_json.c, split at every byte",
    "proto/read/json_matrix.c": "test_columns.c",
    "server/command/*.c": "tests/http/test_command.py and test_client.py run each subcommand",
    "server/config_option.c": "test_config.c",
    "server/sandbox_absent.c": "nothing is done; test_confined.py is skipped by what it says",
    "server/http/request/request.c": "tests/http: all of it needs a connection",
    "server/http/request/lifecycle.c": "tests/http: all of it needs a connection",
    "server/http/request/body.c": "tests/http: all of it needs a connection",
    "server/http/request/head.c": "tests/http: all of it needs a connection",
    "server/http/transport/http.c": "tests/http",
    "server/http/api/*.c": "tests/http",
    "server/http/transport/stream.c": "tests/http",
    "server/http/web/pages.c": "tests/http/test_page.py and test_docs.py",
    "server/solver/hierarchy/update.c": "tests/solver/test_hierarchies.c: against whole customizations",
    "server/main.c": "tests/http runs it",
    "server/command/main.c": "test_command.py runs it",
    "server/main_mpi.c": "http/test_ranks.py and fault/test_launcher.py, by mpirun",
    "server/service.c": "tests/http starts and stops it",
    "server/solver/cpu/kernel_*.c": "test_kernel.c, each that this processor can run",
    "server/solver/order/separator_absent.c": "test_separator.c, where METIS is not built",
    "server/solver/order/separator_metis.c": "test_separator.c",
    "server/solver/solver_gpu.c": "tests/solver/test_solver_gpu.c, on a device",
    "server/solver/ranks_mpi.c": "http/test_ranks.py and fault/test_launcher.py, by mpirun",
    "server/solver/solver_gpu_absent.c": "test_solver.c",
    "server/worker/child_absent.c": "built without the service alone; deploy/test.sh --all builds it",
    "server/worker/estimate.c": "test_worker.c: what a solve takes is known beforehand",
    "server/worker/program.c": "test_process.c starts one",
    "server/worker/task_solver.c": "test_worker.c, in a thread and in a process",
    "server/store/draft_file.c": "test_graph_file.c and test_result_file.c",
    "server/store/state_dir.c": "test_store.c and test_store_crash.c",
}

# Globals whose names do not begin with a word of their file's name, each with the reason.
NAMED_OTHERWISE = {
    "call_finish": "a call is a request to the scheduler; its header is scheduler.h",
    "gpu_solve": "the entry to the kernels for one graph; its header is gpu.h",
    "estimate_print": "a further document; its header is job_document.h",
    "graph_document_print": "the other document; its header is job_document.h",
    "time_print": "the times of the documents; its header is job_document.h",
}

# Globals that no other file of the product calls, each with the reason.
CALLED_BY_TESTS = {
    "pairs_next": "the unit test and the fuzz target look at the names of each pair",
    "upload_feed": "the unit test feeds a body in every split",
    "cpu_kernel_usable": "tests run each kernel that this processor can run",
    "auth_find_key": "the unit test looks keys up",
    "gpu_set_tuning": "tests/solver/test_gpu_variants.c forces each way of solving",
}

# Subjects of folders whose names differ from them.
SUBJECTS = {"server/scheduler/": "scheduler"}

# A tree with this file is a checkout, not a case.
WHOLE = "meson.build"
MIRRORED = ("proto/", "server/")
NAMED_ENDINGS = house.C_ENDINGS + (".py", ".sh")


def stem_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def twin_findings(tree):
    """Reports translation units with the same stem in one folder, such as a.c and a.cu."""
    seen = {}
    for path in tree:
        if not path.endswith((".c", ".cu")):
            continue
        twin = seen.setdefault(os.path.splitext(path)[0], path)
        if twin != path:
            yield f"{path}: has the base name of {twin}"


def globals_of(tree):
    """Yields (path, line, name) of every global function of the product except main."""
    for path, text in tree.items():
        if path.startswith(house.PRODUCT) and path.endswith((".c", ".cu")):
            for name, line, _, is_static in house.functions_of(text):
                if not is_static and name != "main":
                    yield path, line, name


def words_of(path):
    """Returns the words of a file's name, of its folders, and of their subjects."""
    words = re.split(r"[/_]", os.path.splitext(path)[0])
    return words + [subject for folder, subject in SUBJECTS.items() if path.startswith(folder)]


def prefix_findings(tree):
    for path, line, name in globals_of(tree):
        first = name.split("_")[0]
        if name not in NAMED_OTHERWISE and not any(
            word.startswith(first) for word in words_of(path)
        ):
            yield f"{path}:{line}: {name} does not begin with a word of its file's or folder's name"


def lonely_findings(tree):
    """A global function that no other file of the product calls must be static or deleted. A
    macro in its own header, next to the prototype, counts as a use."""
    product = {p: house.code_of(t) for p, t in tree.items() if p.startswith(house.PRODUCT)}
    words = {path: set(re.findall(r"\w+", text)) for path, text in product.items()}
    for path, line, name in globals_of(tree):
        users = [p for p in words if p.endswith((".c", ".cu", ".cuh")) and name in words[p]]
        header = os.path.splitext(path)[0]
        users += [
            p
            for p in words
            if p.endswith(".h") and name in words[p] and os.path.splitext(p)[0] != header
        ]
        own_header = product.get(f"{header}.h", "")
        in_macro = len(re.findall(rf"\b{name}\b", own_header)) > 1
        if set(users) <= {path} and not in_macro and name not in CALLED_BY_TESTS:
            yield f"{path}:{line}: only this file uses {name}: static, or unused"


def mirror_of(path):
    """tests/unit has the folders of the product; those of server/ are at its top level."""
    folder, name = os.path.split(path)
    if folder != "server":
        folder = folder.removeprefix("server/")
    return f"tests/unit/{folder}/test_{name}"


def mirror_findings(tree):
    sources = [path for path in tree if path.startswith(MIRRORED) and path.endswith(".c")]
    for path in sources:
        listed = any(fnmatch.fnmatch(path, pattern) for pattern in WITHOUT_UNIT_TEST)
        if not listed and mirror_of(path) not in tree:
            yield f"{path}: {mirror_of(path)} is missing"
    for pattern in WITHOUT_UNIT_TEST:
        if WHOLE in tree and not fnmatch.filter(sources, pattern):
            yield f"{pattern}: is listed as without a unit test and does not exist"


def build_findings(tree):
    folders = {os.path.dirname(p) for p in tree if p.endswith(house.C_ENDINGS) and "/" in p}
    for folder in sorted(folders):
        above = folder
        while above and f"{above}/meson.build" not in tree:
            above = os.path.dirname(above)
        if not above:
            yield f"{folder}: neither it nor a folder above has a meson.build"


def check(tree):
    findings = []
    for part in (twin_findings, prefix_findings, lonely_findings, mirror_findings, build_findings):
        findings += part(tree)
    return findings


def product(path, text="", *more):
    """Returns a tree with one source, its unit test and its meson.build, and the given files."""
    files = {path: text, f"{os.path.dirname(path)}/meson.build": "", "tests/unit/meson.build": ""}
    files[mirror_of(path)] = ""
    files.update(more)
    return files


GPU = (("gpu/b.cu", "a_f();\n"), ("gpu/meson.build", ""))
F = "void a_f(void)\n{\n}\n"
LISTED = {WHOLE: ""}
for listed_pattern in WITHOUT_UNIT_TEST:
    LISTED[listed_pattern.replace("*", "x")] = ""
    LISTED[f"{os.path.dirname(listed_pattern)}/meson.build"] = ""
CASES = (
    ("in order", product("proto/a.c", F, ("proto/a.h", "void a_f(void);\n"), *GPU), []),
    ("same name elsewhere", product("proto/a.c", "", ("gpu/a.c", ""), *GPU[1:]), []),
    ("same stem", product("proto/a.c", "", ("proto/a.cu", "")), ["proto/a.cu"]),
    ("named by folder", product("proto/a.c", F.replace("a_f", "proto_f"), ("gpu/b.cu", "proto_f();"), *GPU[1:]), []),
    ("no prefix", product("proto/a.c", F.replace("a_f", "b_f"), ("gpu/b.cu", "b_f();"), *GPU[1:]),
     ["b_f does not begin"]),
    ("lonely", product("proto/a.c", F + "static void g(void)\n{\n    a_f();\n}\n",
                       ("proto/a.h", "void a_f(void);\n")), ["a.c:1: only this file uses a_f"]),
    ("in a macro", product("proto/a.c", F, ("proto/a.h", "void a_f(void);\n#define A a_f()")), []),
    ("only tested", product("proto/a.c", F, ("tests/unit/test_b.c", "a_f();")), ["uses a_f"]),
    ("static", product("proto/a.c", "static " + F), []),
    ("no test", {"proto/a.c": "", "proto/meson.build": ""}, ["test_a.c is missing"]),
    ("no build", {"gpu/a.cu": ""}, ["gpu: neither"]),
    ("listed", LISTED, []),
    ("gone", {p: t for p, t in LISTED.items() if p != "server/main.c"}, ["main.c: is listed"]),
)

if __name__ == "__main__":
    house.main(check, CASES)
