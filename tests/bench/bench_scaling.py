"""Measures one graph on several GPUs of this host, strong and weak scaling; models larger systems.

    bench_scaling.py measure APSP [--devices 1,2,4,8] [--sizes 16384,32768,65536] [--weak 32768] > scaling.json
    bench_scaling.py model scaling.json [--link 397e9] [--network 50e9] [--latency 10e-6] [--out scaling.svg]

measure: runs `apsp bench` with only the first GPUs visible (CUDA_VISIBLE_DEVICES), all of which solve one graph
(solver.group = all); i4, directed. Strong scaling: the same sizes on more devices. Weak scaling: n grows with the cube
root of the number of devices, so that the work of each device stays the same. Efficiency is relative to the rate of one
device at the same size, or, if that size does not fit one device, at the largest size that does. The shares are parts
of the time of each device's rounds: making panels, copying panels to other devices, and waiting for other devices; all
of it overlaps the interior of the previous round.

model: a round of 256 pivots takes as long as a device needs for its part of the matrix at the rate measured for one
device, or as long as the chain of panels and copies for the next round, whichever is longer. Up to 8 devices of one
host hold rows, and the owner of a panel sends it to each of the others in turn; more devices form a grid, whose panels
are shorter by the length of its side. The waiting time is what the interior does not hide. Prints a table and, with
--out, draws a chart (matplotlib) up to 1,024 devices and n = 2,000,000, in which each mark says whether it was measured
or modelled."""

import argparse
import json
import math
import os
import subprocess
import sys

PIVOTS = 256
PER_HOST = 8
ELEMENT_BYTES = 4
# Seconds for the diagonal tiles and then the panels of a round, measured on an H200.
CHAIN_S = 0.25e-3
MODEL_DEVICES = (1, 2, 4, 8, 16, 64, 256, 1024)
MODEL_SIZES = (32768, 65536, 131072, 500000, 2000000)
TABLE_DEVICES = (2, 8, 64, 1024)
SHARES = ("panels", "copies", "waiting")


def weak_size(n, devices):
    return round(n * devices ** (1 / 3) / 128) * 128


def run_bench(apsp, devices, sizes):
    visible = ",".join(str(device) for device in range(devices))
    done = subprocess.run(
        [apsp, "bench", "--solver", "gpu", "--solver.group", "all", "--kinds", "i4", "--directed", "--runs",
         "3", "--json", "--sizes", ",".join(map(str, sizes))],
        check=True, stdout=subprocess.PIPE, env={**os.environ, "CUDA_VISIBLE_DEVICES": visible})
    document = json.loads(done.stdout.splitlines()[-1])
    return document["rows"], document["device"]["name"]


def measure(asked):
    sizes = sorted({int(size) for size in asked.sizes.split(",")})
    rows, rates, names = [], {}, []
    for count in sorted({1} | {int(count) for count in asked.devices.split(",")}):
        weak = weak_size(asked.weak, count)
        found, name = run_bench(asked.apsp, count, sorted({*sizes, weak}))
        names.append(name)
        if count == 1:
            rates = {row["n"]: row["n"]**3 / row["compute_s"] for row in found}
            assert asked.weak in rates, f"--weak {asked.weak} does not fit one device"
        for row in found:
            n, seconds = row["n"], row["compute_s"]
            shares = [{share: device[f"{share}_s"] / device["compute_s"] for share in SHARES}
                      for device in row.get("devices", [])]
            for scaling in ["strong"] * (n in sizes) + ["weak"] * (n == weak):
                rate = rates[asked.weak] if scaling == "weak" else rates.get(n, rates[max(rates)])
                rows.append({"scaling": scaling, "n": n, "devices": count, "compute_s": seconds,
                             "d2h_s": row["d2h_s"], "efficiency": n**3 / rate / count / seconds,
                             "shares": shares})
    json.dump({"device": names[-1], "weak": asked.weak, "rates": rates, "rows": rows}, sys.stdout)
    print()


def model_row(scaling, n, devices, rate, asked):
    """Returns the modelled row. If the devices are on several hosts, the network limits all copies."""
    bandwidth = asked.link if devices <= PER_HOST else asked.network
    panel_bytes = PIVOTS * n * ELEMENT_BYTES
    if devices <= PER_HOST:
        copies_s = (devices - 1) * (asked.latency + panel_bytes / bandwidth)
    else:
        # Row and column panels are broadcast along the rows and columns of the grid, in a tree.
        edge = math.sqrt(devices)
        copies_s = 2 * math.log2(edge) * (asked.latency + panel_bytes / edge / bandwidth)
    compute_s = n * n * PIVOTS / (devices * rate)
    round_s = max(compute_s, CHAIN_S + copies_s)
    shares = {"panels": CHAIN_S / round_s, "copies": copies_s / round_s, "waiting": 1 - compute_s / round_s}
    return {"source": "modelled", "scaling": scaling, "n": n, "devices": devices,
            "compute_s": n / PIVOTS * round_s, "efficiency": compute_s / round_s, "shares": [shares]}


def print_row(row):
    """Prints a row of the table; each share is a range from the minimum to the maximum of all devices."""
    cells = []
    for share in SHARES:
        found = [100 * device[share] for device in row["shares"]]
        ends = dict.fromkeys(f"{end:.1f}" for end in (min(found), max(found))) if found else {}
        cells.append(" to ".join(ends))
    seconds = row["compute_s"]
    print(f"| {row['source']} | {row['scaling']} | {row['n']:,} | {row['devices']:,} | "
          f"{seconds:{',.0f' if seconds >= 1000 else '.4g'}} | {100 * row['efficiency']:.1f} | {' | '.join(cells)} |")


def model(asked):
    with open(asked.scaling, encoding="utf-8") as file:
        measured = json.loads(file.read().splitlines()[-1])
    rates = {int(n): rate for n, rate in measured["rates"].items()}
    rate = rates[max(rates)]
    rows = [{"source": "measured", **row} for row in measured["rows"]]
    for n in sorted({*(row["n"] for row in rows if row["scaling"] == "strong"), *MODEL_SIZES}):
        rows += [model_row("strong", n, devices, rates.get(n, rate), asked) for devices in MODEL_DEVICES]
    weak = measured["weak"]
    rows += [model_row("weak", weak_size(weak, devices), devices, rates[weak], asked) for devices in MODEL_DEVICES]
    print("| | scaling | n | GPUs | s | efficiency, % | panels, % | copies, % | waiting, % |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        in_table = row["devices"] in TABLE_DEVICES and (row["scaling"] == "weak" or row["n"] in MODEL_SIZES)
        if row["source"] == "measured" or in_table:
            print_row(row)
    if asked.out:
        draw(rows, measured, asked.out)


def draw(rows, measured, out):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "scaling"})
    import matplotlib.pyplot as plt
    import matplotlib.ticker

    figure, (times, efficiencies, shares) = plt.subplots(1, 3, figsize=(16, 6))
    styles = {"measured": {"marker": "o", "linestyle": "-"},
              "modelled": {"marker": "x", "linestyle": "--", "linewidth": 0.8}}

    def plot(axes, found, value, **looks):
        found = sorted((row for row in found if row["shares"] or axes is not shares),
                       key=lambda row: row["devices"])
        if found:
            axes.plot([row["devices"] for row in found], [value(row) for row in found],
                      **{**styles[found[0]["source"]], **looks})

    sizes = sorted({row["n"] for row in rows if row["scaling"] == "strong"})
    lines = [("strong", n, f"C{index}", f"n = {n:,}") for index, n in enumerate(sizes)]
    lines.append(("weak", None, "darkslategray", f"weak: n = {measured['weak']:,} on one, equal work"))
    for source in styles:
        for scaling, n, color, label in lines:
            found = [row for row in rows if (row["source"], row["scaling"]) == (source, scaling)
                     and n in (None, row["n"])]
            plot(times, found, lambda row: row["compute_s"], color=color, label=f"{label}, {source}")
            plot(efficiencies, found, lambda row: 100 * row["efficiency"], color=color)
    largest = max(row["n"] for row in rows if (row["source"], row["scaling"]) == ("measured", "strong"))
    for index, share in enumerate(SHARES):
        for source, n, looks in (("measured", largest, {}), ("modelled", largest, {}),
                                 ("modelled", sizes[-1], {"marker": "+", "linestyle": ":"})):
            found = [row for row in rows if (row["source"], row["scaling"], row["n"]) == (source, "strong", n)]
            plot(shares, found, lambda row, share=share: 100 * max(one[share] for one in row["shares"]),
                 color=f"C{index}", label=f"{share}, n = {n:,}, {source}", **looks)
    for axes, label in ((times, "seconds of the rounds"), (efficiencies, "efficiency, %"),
                        (shares, "share of the rounds, %, of the device with the most")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(MODEL_DEVICES)
        axes.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
        axes.set(xlabel="GPUs", ylabel=label)
        axes.grid(alpha=0.3)
    times.set_yscale("log")
    efficiencies.set_ylim(0, 110)
    shares.set_ylim(0, 110)
    for axes in (times, shares):
        axes.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=2)
    figure.suptitle(f"Measured on {measured['device']}; modelled beyond")
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None} if out.endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("apsp")
    measuring.add_argument("--devices", default="1,2")
    measuring.add_argument("--sizes", default="8192,16384,25000,32768,65536")
    measuring.add_argument("--weak", type=int, default=32768, metavar="N", help="vertices on one device")
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
