/* What a hierarchy of a graph takes, beside the plainest form of the same work in this program: one
 * thread, arcs in lists, an elimination by triangles, a climb and a sweep.
 *
 *   bench_hierarchy GRAPH [THREADS]       default 2
 *
 * Prints a row a figure: nanoseconds for each unit, of both, and the plain time as a multiple of
 * the other. Every distance of the rows that are timed is compared. */
#include "proto/hierarchy_search.h"
#include "server/solver/hierarchy/customize.h"
#include "server/solver/hierarchy/shape.h"
#include "server/solver/order/order.h"
#include "server/solver/stopwatch.h"
#include "tests/solver/graph_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The best of so many, by turns: other programs use the machine too. */
#define REPEATS 7
#define ROWS 16
#define PAIRS 2000

static const struct hierarchy_limits no_limits = {.entries = UINT64_MAX, .steps = 1e300};

/* ---- The plain one: for each position its arcs to later ones, ascending, and the way back ---- */

struct plain {
    uint32_t vertex_count;
    const uint32_t *position_of; /* borrowed */
    uint64_t *begin;             /* vertex_count + 1 */
    uint32_t *target;
    uint32_t *parent;
    int32_t *up;
    int32_t *down;
    uint64_t triangles;
};

static void *take(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    CHECK(memory != NULL);
    return memory;
}

/* The arcs of a supernode's columns, padding included. */
static struct plain make_plain(const struct hierarchy_shape *shape)
{
    const uint32_t n = shape->vertex_count;
    struct plain plain = {.vertex_count = n, .position_of = shape->position_of};
    plain.begin = take((n + (size_t)1) * sizeof(*plain.begin));
    plain.parent = take(n * sizeof(*plain.parent));
    for (int pass = 0; pass < 2; pass++) {
        uint64_t count = 0;
        for (uint32_t s = 0; s < shape->supernode_count; s++) {
            for (uint32_t v = shape->first[s]; v < shape->first[s + 1]; v++) {
                plain.begin[v] = count;
                for (uint32_t to = v + 1; to < shape->first[s + 1]; to++, count++) {
                    if (pass > 0) {
                        plain.target[count] = to;
                    }
                }
                for (uint64_t i = shape->row_begin[s]; i < shape->row_begin[s + 1]; i++, count++) {
                    if (pass > 0) {
                        plain.target[count] = shape->row[i];
                    }
                }
                const uint64_t degree = count - plain.begin[v];
                plain.triangles += pass > 0 ? degree * (degree - (degree > 0)) / 2 : 0;
                plain.parent[v] = pass > 0 && degree > 0 ? plain.target[plain.begin[v]] : n;
            }
        }
        plain.begin[n] = count;
        if (pass == 0) {
            plain.target = take(count * sizeof(*plain.target));
            plain.up = take(count * sizeof(*plain.up));
            plain.down = take(count * sizeof(*plain.down));
        }
    }
    return plain;
}

static void finish_plain(struct plain *plain)
{
    free(plain->begin);
    free(plain->target);
    free(plain->parent);
    free(plain->up);
    free(plain->down);
}

static uint64_t find_arc(const struct plain *plain, uint32_t low, uint32_t high)
{
    uint64_t at = plain->begin[low];
    while (plain->target[at] != high) {
        at++;
    }
    return at;
}

static void shorten(int32_t *weight, int32_t other)
{
    *weight = other < *weight ? other : *weight;
}

/* From the lowest position on: the later neighbours of one become arcs between each other. */
static void customize_plain(struct plain *plain, const struct graph *graph)
{
    const uint64_t arcs = plain->begin[plain->vertex_count];
    for (uint64_t i = 0; i < arcs; i++) {
        plain->up[i] = plain->down[i] = UNREACHABLE_I4;
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->row_offset[v]; e < graph->row_offset[v + 1]; e++) {
            const uint32_t a = plain->position_of[v];
            const uint32_t b = plain->position_of[graph->target[e]];
            const uint64_t arc = a < b ? find_arc(plain, a, b) : find_arc(plain, b, a);
            const int32_t weight = (int32_t)graph_weight(graph, e);
            shorten(a < b || !graph->directed ? &plain->up[arc] : &plain->down[arc], weight);
            shorten(a > b || !graph->directed ? &plain->down[arc] : &plain->up[arc], weight);
        }
    }
    for (uint32_t v = 0; v < plain->vertex_count; v++) {
        const uint64_t end = plain->begin[v + 1];
        for (uint64_t i = plain->begin[v]; i < end; i++) {
            uint64_t arc = plain->begin[plain->target[i]];
            for (uint64_t j = i + 1; j < end; j++, arc++) {
                while (plain->target[arc] != plain->target[j]) {
                    arc++;
                }
                shorten(&plain->up[arc], plain->down[i] + plain->up[j]);
                shorten(&plain->down[arc], plain->down[j] + plain->up[i]);
            }
        }
    }
}

/* distance: by position, unreachable but on the way up; returns the arcs that were climbed. */
static uint64_t climb_plain(const struct plain *plain, const int32_t *weight, uint32_t from,
                            int32_t *distance)
{
    uint64_t arcs = 0;
    for (uint32_t v = from; v < plain->vertex_count; v = plain->parent[v]) {
        distance[v] = UNREACHABLE_I4;
    }
    distance[from] = 0;
    for (uint32_t v = from; v < plain->vertex_count; v = plain->parent[v]) {
        for (uint64_t i = plain->begin[v]; i < plain->begin[v + 1]; i++, arcs++) {
            shorten(&distance[plain->target[i]], distance[v] + weight[i]);
        }
    }
    return arcs;
}

static void sweep_plain(const struct plain *plain, int32_t *distance)
{
    for (uint32_t v = plain->vertex_count; v-- > 0;) {
        for (uint64_t i = plain->begin[v]; i < plain->begin[v + 1]; i++) {
            shorten(&distance[v], distance[plain->target[i]] + plain->down[i]);
        }
    }
}

/* ---- Figures ---- */

static void print_row(const char *what, const char *unit, double own_ns, double plain_ns)
{
    printf("| %s | %s | %.2f | %.2f | %.2f |\n", what, unit, own_ns, plain_ns, plain_ns / own_ns);
}

static double best_of(double best_s, double seconds)
{
    return best_s == 0 || seconds < best_s ? seconds : best_s;
}

static double time_customization(const struct graph *graph, const struct hierarchy_shape *shape,
                                 uint32_t threads, void *bytes)
{
    const struct hierarchy_options options = {.kind = KIND_I4};
    struct cpu_pool *pool = NULL;
    double best_s = 0;
    CHECK(cpu_pool_create(threads, &pool) == STATUS_OK);
    for (int i = 0; i < REPEATS; i++) {
        const double begin_s = stopwatch_now_s();
        CHECK(hierarchy_customize(shape, graph, pool, &options, bytes) == STATUS_OK);
        best_s = best_of(best_s, stopwatch_now_s() - begin_s);
    }
    cpu_pool_destroy(pool);
    return best_s;
}

static void compute_rows(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                         void *rows)
{
    hierarchy_rows_begin(search, sources, count, rows);
    while (!hierarchy_rows_step(search)) {
    }
}

/* Rows alone and beside each other; false when one of them is not the plain one. */
static bool compare_rows(struct hierarchy_search *search, const struct plain *plain, double arcs)
{
    const uint32_t n = plain->vertex_count;
    int32_t *distance = take((size_t)n * sizeof(*distance));
    int32_t *rows = take((size_t)n * ROWS * sizeof(*rows));
    uint32_t sources[ROWS];
    bool same = true;
    for (uint32_t i = 0; i < ROWS; i++) {
        sources[i] = (uint32_t)((uint64_t)i * n / ROWS);
    }
    double together_s = 0;
    double plain_s = 0;
    double alone_s = 0;
    for (uint32_t i = 0; i < REPEATS * ROWS; i++) {
        const uint32_t source = sources[i % ROWS];
        double begin_s = stopwatch_now_s();
        if (i % ROWS == 0) {
            compute_rows(search, sources, ROWS, rows);
            together_s = best_of(together_s, (stopwatch_now_s() - begin_s) / ROWS);
            begin_s = stopwatch_now_s();
        }
        for (uint32_t v = 0; v < n; v++) {
            distance[v] = UNREACHABLE_I4;
        }
        climb_plain(plain, plain->up, plain->position_of[source], distance);
        sweep_plain(plain, distance);
        plain_s = best_of(plain_s, stopwatch_now_s() - begin_s);
        int32_t *row = rows + (size_t)(i % ROWS) * n;
        for (uint32_t v = 0; v < n; v++) {
            same &= row[v] == distance[plain->position_of[v]];
        }
        begin_s = stopwatch_now_s();
        compute_rows(search, &source, 1, row);
        alone_s = best_of(alone_s, stopwatch_now_s() - begin_s);
        for (uint32_t v = 0; v < n; v++) {
            same &= row[v] == distance[plain->position_of[v]];
        }
    }
    print_row("a row", "arc", alone_s * 1e9 / arcs, plain_s * 1e9 / arcs);
    print_row("one row of 16", "arc", together_s * 1e9 / arcs, plain_s * 1e9 / arcs);
    free(distance);
    free(rows);
    return same;
}

/* ---- Rows on all threads ---- */

#define BATCHES_PER_THREAD 20

struct sweeps {
    const struct hierarchy *hierarchy;
    struct hierarchy_search **search; /* of each thread */
    int32_t **rows;
};

static void sweep_batch(void *context, uint32_t thread, uint64_t task)
{
    const struct sweeps *sweeps = context;
    const uint64_t n = sweeps->hierarchy->shape.vertex_count;
    uint32_t sources[ROWS];
    for (uint64_t i = 0; i < ROWS; i++) {
        sources[i] = (uint32_t)((task * ROWS + i) * 7919 % n);
    }
    compute_rows(sweeps->search[thread], sources, ROWS, sweeps->rows[thread]);
}

/* How many a second, each written to memory. */
static double rate_rows(const struct hierarchy *hierarchy, uint32_t threads)
{
    struct cpu_pool *pool = NULL;
    struct sweeps sweeps = {hierarchy, take(threads * sizeof(*sweeps.search)),
                            take(threads * sizeof(*sweeps.rows))};
    const uint64_t batches = (uint64_t)threads * BATCHES_PER_THREAD;
    double best_s = 0;
    CHECK(cpu_pool_create(threads, &pool) == STATUS_OK);
    for (uint32_t i = 0; i < threads; i++) {
        CHECK(hierarchy_search_create(hierarchy, false, &sweeps.search[i]) == STATUS_OK);
        sweeps.rows[i] = take((size_t)hierarchy->shape.vertex_count * ROWS * sizeof(int32_t));
    }
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double begin_s = stopwatch_now_s();
        cpu_pool_run(pool, batches, sweep_batch, &sweeps);
        best_s = best_of(best_s, stopwatch_now_s() - begin_s);
    }
    for (uint32_t i = 0; i < threads; i++) {
        hierarchy_search_destroy(sweeps.search[i]);
        free(sweeps.rows[i]);
    }
    free(sweeps.search);
    free(sweeps.rows);
    cpu_pool_destroy(pool);
    return (double)batches * ROWS / best_s;
}

/* ---- Pairs ---- */

/* Returns the arcs that were climbed. */
static double ask_plain(const struct plain *plain, int32_t *forward, int32_t *backward,
                        int32_t *ret_found)
{
    const uint32_t n = plain->vertex_count;
    double arcs = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
        const uint32_t from = plain->position_of[i * 7919 % n];
        const uint32_t to = plain->position_of[i * 104729 % n];
        int32_t best = UNREACHABLE_I4;
        arcs += (double)climb_plain(plain, plain->up, from, forward);
        arcs += (double)climb_plain(plain, plain->down, to, backward);
        uint32_t a = from;
        uint32_t b = to;
        while (a != b && a < n && b < n) {
            a = a < b ? plain->parent[a] : a;
            b = b < a && a < n ? plain->parent[b] : b;
        }
        for (uint32_t v = a == b ? a : n; v < n; v = plain->parent[v]) {
            shorten(&best, forward[v] + backward[v]);
        }
        ret_found[i] = best;
    }
    return arcs;
}

/* With both labels made for each pair. */
static bool compare_pairs(const struct hierarchy *hierarchy, struct hierarchy_search *search,
                          const struct plain *plain)
{
    const uint32_t n = plain->vertex_count;
    int32_t *forward = take((size_t)n * sizeof(*forward));
    int32_t *backward = take((size_t)n * sizeof(*backward));
    int32_t *found = take(PAIRS * sizeof(*found));
    int32_t *wanted = take(PAIRS * sizeof(*wanted));
    double arcs = 0;
    double own_s = 0;
    double plain_s = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin_s = stopwatch_now_s();
        for (uint64_t i = 0; i < PAIRS; i++) {
            const uint32_t from = (uint32_t)(i * 7919 % n);
            const uint32_t to = (uint32_t)(i * 104729 % n);
            hierarchy_make_label(search, from, false, forward);
            hierarchy_make_label(search, to, true, backward);
            hierarchy_pair(hierarchy, from, to, forward, backward, &found[i]);
        }
        own_s = best_of(own_s, stopwatch_now_s() - begin_s);
        begin_s = stopwatch_now_s();
        arcs = ask_plain(plain, forward, backward, wanted);
        plain_s = best_of(plain_s, stopwatch_now_s() - begin_s);
    }
    const bool same = memcmp(found, wanted, PAIRS * sizeof(*found)) == 0;
    print_row("a pair", "arc climbed", own_s * 1e9 / arcs, plain_s * 1e9 / arcs);
    free(forward);
    free(backward);
    free(found);
    free(wanted);
    return same;
}

int main(int count, char **words)
{
    struct graph *given = count > 1 ? graph_source_open(words[1]) : NULL;
    const uint32_t threads = count > 2 ? (uint32_t)strtoul(words[2], NULL, 10) : 2;
    struct graph *folded = NULL;
    if (given == NULL || threads == 0 || given->vertex_count == 0 ||
        graph_fold(given, &folded) != STATUS_OK) {
        fprintf(stderr, "bench_hierarchy GRAPH [THREADS]\n");
        return 1;
    }
    const struct graph *graph = folded != NULL ? folded : given;
    const uint32_t n = graph->vertex_count;
    struct hierarchy_shape *shape = NULL;
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *search = NULL;
    const struct order_options options = {.threads = threads};
    struct order *order = NULL;
    const double begin_s = stopwatch_now_s();
    enum status status = order_make(graph, &options, &order);
    const double ordered_s = stopwatch_now_s() - begin_s;
    if (status == STATUS_OK) {
        status = hierarchy_make_shape(graph, order->vertex_at, &no_limits, &shape);
    }
    if (status != STATUS_OK) {
        return 1;
    }
    const uint64_t size = hierarchy_bytes(shape, KIND_I4, graph->directed);
    void *bytes = aligned_alloc(HIERARCHY_ALIGNMENT, size);
    struct plain plain = make_plain(shape);
    const double arcs = (double)shape->arc_count;
    if (bytes == NULL) {
        return 1;
    }
    printf("%u vertices, %.0f arcs, %.3g triangles, %.3g MB, %u threads, ordered in %.3f s\n\n", n,
           arcs, (double)plain.triangles, (double)size * 1e-6, threads, ordered_s);
    printf("| what | unit | ns | plain ns | plain / own |\n|---|---|---:|---:|---:|\n");
    const double own_s = time_customization(graph, shape, threads, bytes);
    double plain_s = 0;
    for (int i = 0; i < REPEATS; i++) {
        const double plain_begin_s = stopwatch_now_s();
        customize_plain(&plain, graph);
        plain_s = best_of(plain_s, stopwatch_now_s() - plain_begin_s);
    }
    print_row("weights", "triangle", own_s * 1e9 / (double)plain.triangles,
              plain_s * 1e9 / (double)plain.triangles);
    if (hierarchy_open(bytes, size, &hierarchy) != STATUS_OK ||
        hierarchy_search_create(hierarchy, false, &search) != STATUS_OK) {
        return 1;
    }
    const bool same = compare_pairs(hierarchy, search, &plain) & compare_rows(search, &plain, arcs);
    printf("\n%.0f rows a second, %u threads, 16 side by side\n", rate_rows(hierarchy, threads),
           threads);
    printf("%s\n", same ? "every distance is the same" : "some distances DIFFER");
    hierarchy_search_destroy(search);
    hierarchy_close(hierarchy);
    hierarchy_destroy_shape(shape);
    finish_plain(&plain);
    graph_destroy_copy(folded);
    graph_destroy(given);
    order_destroy(order);
    free(bytes);
    return same ? 0 : 1;
}
