"""One graph on several GPUs of this host: strong and weak scaling, beside a model of more of them.

    bench_scaling.py measure APSP [--devices 1,2,4,8] [--sizes 16384,32768,65536] [--weak 32768] > scaling.json
    bench_scaling.py model scaling.json [--link 397e9] [--network 50e9] [--latency 10e-6] [--out scaling.svg]

measure: `apsp bench` with the first GPUs alone visible (CUDA_VISIBLE_DEVICES), all solving together
(solver.group = all); i4, directed. Strong: the same sizes on more devices. Weak: n grows by the root of
the devices, so that each holds as many bytes.

model: a round of 256 pivots takes what a device computes of it at the rate that one device has been
measured at, or, where that is longer, the chain of its panels and copies, since these are one round ahead.
Up to 8 devices, of one host, hold rows, and the owner sends its panel to each of the others in turn; more
are a grid, whose panels are shorter by its edge. Prints a table and, with --out, draws a chart
(matplotlib), up to 1,024 devices and n = 2,000,000: each mark says whether it was measured or comes from
the model."""

import argparse
import json
import math
import os
import subprocess
import sys

PIVOTS = 256
PER_HOST = 8
ELEMENT_BYTES = 4
# The diagonal tiles and panels of a round, one after the other, on an H200.
CHAIN_S = 0.25e-3
MODEL_DEVICES = (1, 2, 4, 8, 16, 64, 256, 1024)
MODEL_SIZES = (32768, 65536, 131072, 500000, 2000000)


def run_bench(apsp, devices, sizes):
    visible = ",".join(str(device) for device in range(devices))
    done = subprocess.run(
        [apsp, "bench", "--solver", "gpu", "--solver.group", "all", "--kinds", "i4", "--directed", "--runs",
         "3", "--json", "--sizes", ",".join(map(str, sizes))],
        check=True, stdout=subprocess.PIPE, env={**os.environ, "CUDA_VISIBLE_DEVICES": visible})
    document = json.loads(done.stdout.splitlines()[-1])
    return [{"devices": devices, "n": row["n"], "compute_s": row["compute_s"], "d2h_s": row["d2h_s"]}
            for row in document["rows"]], document["device"]["name"]


def measure(asked):
    counts = [int(count) for count in asked.devices.split(",")]
    sizes = [int(size) for size in asked.sizes.split(",")]
    strong, weak, name = [], [], ""
    for count in counts:
        rows, name = run_bench(asked.apsp, count, sizes)
        strong += rows
        weak += run_bench(asked.apsp, count, [round(asked.weak * math.sqrt(count) / 128) * 128])[0]
    json.dump({"device": name, "strong": strong, "weak": weak}, sys.stdout)
    print()


def model_seconds(n, devices, rate, asked):
    """Of all rounds. Beyond one host the slowest hop counts."""
    bandwidth = asked.link if devices <= PER_HOST else asked.network
    panel_bytes = PIVOTS * n * ELEMENT_BYTES
    if devices <= PER_HOST:
        copies_s = (devices - 1) * (asked.latency + panel_bytes / bandwidth)
    else:
        # Row and column panels, each along an edge of the grid as a tree.
        edge = math.sqrt(devices)
        copies_s = 2 * math.log2(edge) * (asked.latency + panel_bytes / edge / bandwidth)
    compute_s = n * n * PIVOTS / (devices * rate)
    return n / PIVOTS * max(compute_s, CHAIN_S + copies_s)


def model(asked):
    with open(asked.scaling, encoding="utf-8") as file:
        measured = json.loads(file.read().splitlines()[-1])
    alone = {row["n"]: row["compute_s"] for row in measured["strong"] if row["devices"] == 1}
    largest = max(alone)
    rate = largest**3 / alone[largest]
    rows = [("measured", kind, row["n"], row["devices"], row["compute_s"])
            for kind in ("strong", "weak") for row in measured[kind]]
    rows += [("modelled", "strong", n, devices, model_seconds(n, devices, rate, asked))
             for n in sorted({*alone, *MODEL_SIZES}) for devices in MODEL_DEVICES]
    print("| | scaling | n | devices | s | efficiency |\n|---|---|---:|---:|---:|---:|")
    points = []
    for source, kind, n, devices, seconds in rows:
        base = alone.get(n, n**3 / rate)
        points.append((source, kind, n, devices, seconds, base / devices / seconds))
        print(f"| {source} | {kind} | {n} | {devices} | {seconds:.4f} | {100 * points[-1][-1]:.1f} % |")
    if asked.out:
        draw(points, asked.out)


def draw(points, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (times, efficiencies) = plt.subplots(1, 2, figsize=(12, 5))
    for index, (kind, n) in enumerate(sorted({(point[1], point[2]) for point in points})):
        for source, style in (("measured", "o-"), ("modelled", "x--")):
            found = sorted(point[3:] for point in points if point[:3] == (source, kind, n))
            if found:
                devices, seconds, shares = zip(*found)
                label = f"n = {n:,}, {kind}, {source}"
                times.plot(devices, seconds, style, color=f"C{index % 10}", label=label)
                efficiencies.plot(devices, [100 * share for share in shares], style, color=f"C{index % 10}")
    for axes, label in ((times, "seconds of computing"), (efficiencies, "efficiency, %")):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("devices")
        axes.set_ylabel(label)
    times.set_yscale("log")
    efficiencies.set_ylim(0, 110)
    times.legend(fontsize="x-small")
    figure.tight_layout()
    figure.savefig(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("apsp")
    measuring.add_argument("--devices", default="1,2")
    measuring.add_argument("--sizes", default="8192,16384,25000,32768,65536")
    measuring.add_argument("--weak", type=int, default=32768)
    measuring.set_defaults(run=measure)
    modelling = commands.add_parser("model")
    modelling.add_argument("scaling")
    modelling.add_argument("--link", type=float, default=397e9)
    modelling.add_argument("--network", type=float, default=50e9)
    modelling.add_argument("--latency", type=float, default=10e-6)
    modelling.add_argument("--out")
    modelling.set_defaults(run=model)
    asked = parser.parse_args()
    asked.run(asked)


main()
