"""Pictures of benchmarks, matrices and plans, as SVG or PNG by the ending of --out.

    apsp bench --json > bench.json;    bench_charts.py speed bench.json [MORE.json ...] --out speed.svg
    bench_sweep 16384 > sweep.jsonl;   bench_charts.py products sweep.jsonl --out products.svg
    bench_sweep 16384 > sweep.jsonl;   bench_charts.py ways sweep.jsonl --out ways.svg
    apsp solve IN matrix.npy;          bench_charts.py matrix matrix.npy --out matrix.png
    apsp plan IN --json > plan.json;   bench_charts.py plan plan.json --out plan.png

speed: milliseconds over n, a line for each kind and direction of each file, so that builds,
instruction sets and devices lie over each other. products: the forms of the inner product, tile by depth. ways: the solves that the GPU's
tuning was forced to. matrix: the distances, the mean of blocks where it is large. plan: the tiles
that parts and the separators above them may fill, in the order of elimination."""

import argparse
import json
import os

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy

CELLS = 1024  # blocks along an edge of a matrix, at most
UNREACHABLE = {"int32": 2**30 - 1, "uint16": 65535}


def read_documents(paths):
    """The object in the last line of each file."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), json.loads(file.read().splitlines()[-1])


def read_lines(path, what):
    with open(path, encoding="utf-8") as file:
        found = [one for one in map(json.loads, file) if one["what"] == what]
    assert found, f"{path} has no {what}"
    return found


def series_of(name, document, several):
    """(label, style, rows) of each kind and direction, in the order of the document."""
    keys = dict.fromkeys((row["kind"], row["directed"]) for row in document["rows"])
    for kind, directed in keys:
        rows = [row for row in document["rows"] if (row["kind"], row["directed"]) == (kind, directed)]
        words = f"{kind}, {'directed' if directed else 'undirected'}"
        yield f"{name}: {words}" if several else words, "o-" if directed else "s--", rows


def finish_axes(axes):
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.set_xlabel("vertices")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def draw_series(options, value, ylabel, scale):
    figure, axes = plt.subplots(figsize=(9, 6))
    names = []
    for name, document in read_documents(options.files):
        names.append(document["device"]["name"])
        for label, style, rows in series_of(name, document, len(options.files) > 1):
            axes.plot([row["n"] for row in rows], [value(row) for row in rows], style, label=label)
    axes.set(yscale=scale, ylabel=ylabel, title=", ".join(dict.fromkeys(names)))
    finish_axes(axes)
    return figure


def draw_speed(options):
    return draw_series(options, lambda row: row["compute_s"] * 1e3, "milliseconds of the rounds", "log")


def draw_products(options):
    """Of each tile and depth the best over threads' elements and slabs."""
    best = {}
    for one in read_lines(options.files[0], "product"):
        place = f"{one['tile_rows']} x {one['tile_columns']}", one["depth"]
        best[place] = max(best.get(place, 0), one["relaxations_per_s"] * 1e-12)
    tiles = list(dict.fromkeys(tile for tile, _ in best))
    depths = sorted({depth for _, depth in best})
    cells = numpy.array([[best.get((tile, depth), numpy.nan) for depth in depths] for tile in tiles])
    figure, axes = plt.subplots(figsize=(8, 5))
    image = axes.imshow(cells, aspect="auto")
    for (row, column), cell in numpy.ndenumerate(cells):
        axes.text(column, row, f"{cell:.1f}", ha="center", va="center", color="white", fontsize=8)
    axes.set(xticks=range(len(depths)), xticklabels=depths, yticks=range(len(tiles)), yticklabels=tiles,
             xlabel="depth (pivots per product)", ylabel="tile of a block of threads",
             title="min-plus products of int32, T relaxations/s")
    figure.colorbar(image)
    return figure


def draw_ways(options):
    ways = {}
    for one in read_lines(options.files[0], "solve"):
        ways.setdefault(one["way"], []).append((one["n"], one["seconds"] * 1e3))
    figure, axes = plt.subplots(figsize=(8, 5))
    for way, points in ways.items():
        axes.plot(*zip(*points), "o-", label=way)
    axes.set(yscale="log", ylabel="milliseconds of the rounds")
    finish_axes(axes)
    return figure


def mean_blocks(matrix):
    """At most CELLS x CELLS means over the finite distances; nan where a block has none."""
    n = len(matrix)
    edges = numpy.linspace(0, n, min(n, CELLS) + 1).astype(int)
    cells = numpy.full((len(edges) - 1, len(edges) - 1), numpy.nan)
    for row in range(len(cells)):
        block = matrix[edges[row] : edges[row + 1]].astype(float)
        block[matrix[edges[row] : edges[row + 1]] == UNREACHABLE.get(matrix.dtype.name)] = numpy.inf
        finite = numpy.isfinite(block)
        sums = numpy.add.reduceat(numpy.where(finite, block, 0).sum(axis=0), edges[:-1])
        counts = numpy.add.reduceat(finite.sum(axis=0), edges[:-1])
        numpy.divide(sums, counts, out=cells[row], where=counts > 0)
    return cells


def draw_matrix(options):
    matrix = numpy.load(options.files[0], mmap_mode="r")
    assert matrix.ndim == 2 and len(matrix) == matrix.shape[1] > 0, matrix.shape
    figure, axes = plt.subplots(figsize=(8, 7))
    image = axes.imshow(mean_blocks(matrix), extent=(0, len(matrix), len(matrix), 0),
                        interpolation="nearest")
    axes.set(xlabel="target (row index)", ylabel="source (row index)",
             title=f"distances, {os.path.basename(options.files[0])}; blank: unreachable")
    figure.colorbar(image)
    return figure


def draw_plan(options):
    """A part meets itself and what is above it; a cell has the height of the lower of the two."""
    _, document = next(read_documents(options.files))
    parts, tiles = document["parts"], document["tiles"]
    cells = numpy.full((tiles, tiles), 0.0 if not parts else numpy.nan)
    for part in parts:
        own = slice(part["begin"], part["end"])
        over = part
        while over is not None:
            other = slice(over["begin"], over["end"])
            cells[own, other] = cells[other, own] = part["height"]
            over = parts[over["above"]] if over["above"] is not None else None
    figure, axes = plt.subplots(figsize=(8, 7))
    image = axes.imshow(cells, interpolation="nearest", extent=(0, tiles, tiles, 0))
    made = document["plan"]
    axes.set(xlabel="tile", ylabel="tile",
             title=f"{document['graph']['n']} vertices, {made['kind']}: {made['parts']} parts, "
                   f"{100 * made['work_fraction']:.3g} % of the work")
    figure.colorbar(image, label="height in the tree of separators")
    return figure


PICTURES = {"speed": draw_speed, "products": draw_products, "ways": draw_ways,
            "matrix": draw_matrix, "plan": draw_plan}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    figure = PICTURES[options.picture](options)
    figure.savefig(options.out, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
