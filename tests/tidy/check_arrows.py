"""Includes between folders point down: the folders that each folder may include, and the
libraries that it may use."""

import re

import house

DAEMON = ("server/clock.h", "server/commit.h", "server/config.h", "server/config_option.h", "server/log.h", "server/metrics.h")

# The longest matching prefix decides. It lists the prefixes of files that a file may include; a
# prefix with an asterisk includes only the files directly in that folder.
INCLUDES = {
    "proto/": ("proto/",),
    "gpu/": ("gpu/", "proto/"),
    "server/solver/": ("proto/", "server/solver/"),
    "server/solver/solver_gpu.c": ("proto/", "server/solver/", "gpu/gpu.h"),
    "server/store/": ("proto/", "server/store/"),
    "server/worker/": ("proto/", "server/solver/", "server/store/", "server/worker/", "server/sandbox.h", *DAEMON),
    "server/scheduler/": ("proto/", "server/solver/", "server/store/", "server/worker/", "server/scheduler/", *DAEMON),
    "server/http/": ("proto/", "server/store/", "server/worker/mailbox.h", "server/scheduler/", "server/http/", *DAEMON),
    "server/command/": ("proto/", "server/solver/", "server/command/", *DAEMON),
    # Configuration, clock and log may include the solver, whose options they read; other folders
    # include them.
    "server/": ("proto/", "server/solver/", "server/*"),
    "server/service.c": ("proto/", "server/"),
    "server/main.c": ("server/*", "server/http/request/auth.h", "server/worker/child.h"),
    "server/main_mpi.c": ("server/command/apsp.h", "server/solver/ranks_mpi.h", "server/worker/child.h",
        "server/worker/launcher.h"),
    "tests/": ("proto/", "gpu/", "server/", "tests/"),
}

# Patterns of a library's names, and the folders that may use them.
LIBRARIES = (
    (r"\bMHD_\w+", ("server/http/",)),
    (r"\bjson_object_seed(?=\s*\()", ("server/service.c", "server/command/apsp.c")),  # called before any thread starts
    (r"\bjson_(?!scanner_|object_seed)\w+(?=\s*\()", ("proto/", "server/http/", "server/command/")),
    (r"\bZSTD_\w+|\bdeflate\w*(?=\s*\()", ("proto/read/decoder.c", "server/http/transport/coding.c")),
    (r"\binflate\w*(?=\s*\()", ("proto/read/decoder.c",)),
    (r"\bXML_[A-Z]\w+", ("proto/read/graphml.c",)),
    (r"\bsqlite3_\w+", ("server/store/catalogue",)),  # the .c file and its parts
    (r"\bcuda[A-Z]\w*|<<<", ("gpu/",)),
    (r"\buv_\w+", ("server/scheduler/", "server/worker/", "server/http/transport/endpoint.c", "server/service.c", "server/main.c")),
    (
        r"\bXXH\w+",
        ("server/store/", "proto/name_table.c", "server/http/request/headers.c", "server/scheduler/submit.c",
         "server/scheduler/change.c", "proto/edge_changes.c", "proto/read/metis.c",
         "server/http/transport/conn_limits.c"),
    ),
    (
        r"\bgnutls_\w+",
        (
            "server/store/identity",
            "server/http/transport/tls.",
            "server/http/transport/endpoint.c",
            "server/http/request/upload.c",
            "server/http/request/auth.c",
        ),
    ),
    (r"\bini_parse\w*", ("server/config.c",)),
    (r"\bseccomp_\w+(?=\s*\()|\bSCMP_\w+", ("server/sandbox.c",)),
    (r"\bMETIS_\w+", ("server/solver/order/separator_metis.c",)),
)


def allowed_includes(path):
    prefixes = [prefix for prefix in INCLUDES if path.startswith(prefix)]
    return INCLUDES[max(prefixes, key=len)] if prefixes else ()


def fits(included, pattern):
    if pattern.endswith("*"):
        return included.startswith(pattern[:-1]) and "/" not in included[len(pattern) - 1 :]
    return included.startswith(pattern)


def include_findings(path, text, sources):
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if not match:
            continue
        included = match.group(1)
        if included not in sources:
            yield f"{path}:{number}: {included} is not a path from the root"
        elif not any(fits(included, pattern) for pattern in allowed_includes(path)):
            yield f"{path}:{number}: may not include {included}"


def library_findings(path, text):
    for pattern, places in LIBRARIES:
        if path.startswith(places):
            continue
        for number, match in house.lines_matching(text, pattern):
            yield f"{path}:{number}: {match.group()} belongs in {', '.join(places)}"


def check(tree):
    sources = house.c_files(tree)
    findings = []
    for path, text in sources.items():
        findings += include_findings(path, text, sources)
        if not path.startswith("tests/"):
            findings += library_findings(path, text)
    return findings


GRAPH = {"proto/graph.h": "", "gpu/gpu.h": "", "server/store/store.h": "", "server/log.h": ""}
CASES = (
    ("down", {**GRAPH, "server/store/x.c": '#include "proto/graph.h"\n'}, []),
    ("up", {**GRAPH, "proto/x.c": '\n#include "server/log.h"\n'}, ["proto/x.c:2: may not include"]),
    ("aside", {**GRAPH, "server/store/x.c": '#include "server/log.h"\n'}, ["may not include"]),
    ("gpu seam", {**GRAPH, "server/solver/solver_gpu.c": '#include "gpu/gpu.h"\n'}, []),
    ("gpu else", {**GRAPH, "server/solver/x.c": '#include "gpu/gpu.h"\n'}, ["may not include gpu"]),
    ("not rooted", {**GRAPH, "proto/x.c": '#include "graph.h"\n'}, ["not a path from the root"]),
    ("beside", {"server/a.h": "", "server/b.c": '#include "server/a.h"\n'}, []),
    ("too high", {**GRAPH, "server/b.c": '#include "server/store/store.h"\n'}, ["b.c:1: may not"]),
    ("MHD at home", {"server/http/x.c": "MHD_stop_daemon(d);\n"}, []),
    ("MHD abroad", {"server/scheduler/x.c": "a;\nMHD_stop_daemon(d);\n"}, ["x.c:2: MHD_stop_daemon"]),
    ("only a comment", {"server/scheduler/x.c": "/* MHD_stop_daemon */\n"}, []),
    ("only a string", {"server/scheduler/x.c": 'print("uv_run() cudaMalloc");\n'}, []),
    ("json", {"server/store/x.c": "json_object();\n"}, ["json_object belongs"]),
    ("zstd", {"server/http/x.c": "ZSTD_isError(c);\n"}, ["ZSTD_isError belongs"]),
    ("zlib", {"server/http/x.c": "inflate(z, 0);\n"}, ["inflate belongs"]),
    ("expat", {"server/http/x.c": "XML_Parse(p);\n"}, ["XML_Parse belongs"]),
    ("sqlite", {"server/store/x.c": "sqlite3_step(s);\n"}, ["sqlite3_step belongs"]),
    ("cuda", {"server/solver/x.c": "cudaFree(p); f<<<1, 2>>>();\n"}, ["cudaFree", "<<<"]),
    ("loop", {"server/http/x.c": "uv_async_send(a);\n"}, ["uv_async_send belongs"]),
    ("METIS", {"server/solver/x.c": "METIS_NodeND();\n"}, ["METIS_NodeND belongs"]),
    ("seccomp", {"server/service.c": "seccomp_load(c);\n"}, ["seccomp_load belongs"]),
)

if __name__ == "__main__":
    house.main(check, CASES)
