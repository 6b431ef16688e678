#!/usr/bin/env python3
"""Executes a Containerfile in folders with chroot, without a container engine: each FROM is a copy
of a Debian 12 tree, in which each COPY and RUN is executed. The program of ENTRYPOINT and
CMD is started as USER and queried; it must stop within the ten seconds that container engines
allow.

    try_container.py CONTAINERFILE ROOT [--put HOST_FOLDER=FOLDER]

ROOT is a tree made by `debootstrap --variant=minbase bookworm ROOT`. --put copies a folder, such as
/usr/local/cuda, into the first stage before the build. The script needs root, and network access
for apt-get."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Stage:
    def __init__(self, base):
        self.root = tempfile.mkdtemp(prefix="apspd-stage-")
        subprocess.run(["cp", "-a", f"{base}/.", self.root], check=True)
        os.makedirs(f"{self.root}/proc", exist_ok=True)
        subprocess.run(["mount", "-t", "proc", "proc", f"{self.root}/proc"], check=True)
        shutil.copy("/etc/resolv.conf", f"{self.root}/etc/resolv.conf")
        self.folder, self.user, self.variables = "/", None, {"PATH": os.defpath + ":/usr/sbin:/sbin"}

    def command(self, *words):
        user = [f"--userspec={self.user}"] if self.user else []
        change = f"cd {shlex.quote(self.folder)} && exec \"$@\""
        return ["chroot", *user, self.root, "/bin/sh", "-c", change, "sh", *words]

    def run(self, text):
        subprocess.run(self.command("/bin/sh", "-c", text), check=True, env=self.variables)

    def close(self):
        subprocess.run(["umount", f"{self.root}/proc"], check=False)
        shutil.rmtree(self.root)


def instructions(path):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if not line.startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).split("\n"):
        if line.strip():
            yield line.split(None, 1)


def copy(stage, words, stages):
    source, target = [word for word in words if not word.startswith("--")]
    origin = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
    target = stage.root + target
    os.makedirs(target, exist_ok=True)
    if origin:
        subprocess.run(["cp", "-a", f"{stages[origin[0]].root}{source}/.", target], check=True)
    else:
        archive = subprocess.run(["git", "-C", SOURCE, "archive", "HEAD"], stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", target], input=archive.stdout, check=True)


def build(path, root, put):
    stages, stage, started = {}, None, {}
    for word, rest in instructions(path):
        print("==", word, rest[:100], flush=True)
        if word == "FROM":
            stage = Stage(root)
            name = re.search(r" AS (\w+)$", rest)
            stages[name[1] if name else "last"] = stage
            for pair in put if len(stages) == 1 else ():
                host, inside = pair.split("=")
                shutil.copytree(host, stage.root + inside, symlinks=True)
        elif word == "ARG" and stage:
            key, value = rest.split("=", 1)
            stage.variables[key] = value
        elif word == "ENV":
            stage.variables.update(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "WORKDIR":
            stage.folder = rest
        elif word == "USER":
            stage.user = rest
        elif word == "COPY":
            copy(stage, rest.split(), stages)
        elif word == "RUN":
            stage.run(rest)
        elif word in ("ENTRYPOINT", "CMD"):
            started[word] = json.loads(rest)
        elif word not in ("ARG", "VOLUME", "EXPOSE", "STOPSIGNAL"):
            sys.exit(f"container: {word} is not known here")
    return stages, stage, started


def try_it(stage, started):
    # Replaces the address by the loopback and a free port, because there is no separate network.
    words = started["ENTRYPOINT"] + started["CMD"] + ["--listen", "127.0.0.1:0"]
    process = subprocess.Popen(stage.command(*words), stdout=subprocess.PIPE, text=True, env=stage.variables)
    url = process.stdout.readline().split("listening on ")[1].strip()
    graph = b"p sp 3 2\na 1 2 5\na 2 3 7\n"
    request = urllib.request.Request(f"{url}/v1/jobs?name=g", graph, {"Prefer": "wait=30"})
    job = json.load(urllib.request.urlopen(request))
    answer = urllib.request.urlopen(f"{url}/v1/graphs/g/distance?source=1&target=3")
    distance = json.load(answer)["distance"]
    assert job["state"] == "done" and distance == 12, (job, distance)
    process.terminate()
    assert process.wait(10) == 0
    print(f"solved on {job['device']}; stopped with 0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("containerfile")
    parser.add_argument("root")
    parser.add_argument("--put", action="append", default=[])
    arguments = parser.parse_args()
    stages, last, started = build(arguments.containerfile, arguments.root, arguments.put)
    try_it(last, started)
    for stage in stages.values():
        stage.close()


main()
