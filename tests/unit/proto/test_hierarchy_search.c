#include "proto/hierarchy_kernel.h"
#include "tests/lib/hierarchy_fixture.h"

static double number_at(enum kind kind, const void *elements, size_t index)
{
    return kind == KIND_I4   ? ((const int32_t *)elements)[index]
           : kind == KIND_F4 ? (double)((const float *)elements)[index]
                             : ((const double *)elements)[index];
}

static void expect(enum kind kind, const void *elements, size_t index, uint64_t distance)
{
    const double found = number_at(kind, elements, index);
    if (distance >= RANGE_FAR) {
        assert_true(kind == KIND_I4 ? found == UNREACHABLE_I4 : found > 1e30);
    } else {
        assert_true(found == (double)distance);
    }
}

static const struct hierarchy_operations *operations_of(enum isa isa, enum kind kind)
{
    return isa == ISA_PORTABLE ? &hierarchy_kernel_portable[kind]
           : isa == ISA_AVX2   ? &hierarchy_kernel_avx2[kind]
                               : &hierarchy_kernel_avx512[kind];
}

static void meet(const struct hierarchy *hierarchy, const struct hierarchy_operations *operations,
                 const uint32_t pair[2], const void *up, const void *down, void *ret_element)
{
    const uint32_t common = hierarchy_common(hierarchy, pair[0], pair[1]);
    operations->meet(up, down, common,
                     hierarchy->summary.negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1,
                     ret_element);
}

/* Computes the distances of all pairs from labels that are stored contiguously, and compares them
 * with the expected distances. */
static void check_labels(const struct hierarchy *hierarchy, enum isa isa, const uint64_t *distance)
{
    const uint32_t n = hierarchy->summary.vertex_count;
    const enum kind kind = hierarchy->summary.kind;
    const size_t size = kind_size(kind);
    const struct hierarchy_operations *operations = operations_of(isa, kind);
    const size_t room = (hierarchy->height + (size_t)1) * size;
    struct hierarchy_search *search = NULL;
    char *labels[2];
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    search->operations = operations;
    for (int is_down = 0; is_down < 2; ++is_down) {
        labels[is_down] = malloc(n * room + 1);
        assert_non_null(labels[is_down]);
        for (uint32_t v = 0; v < n; ++v) {
            hierarchy_make_label(search, v, is_down, labels[is_down] + v * room);
        }
    }
    for (uint32_t i = 0; i < n * n; ++i) {
        const uint32_t pair[] = {i / n, i % n};
        double element;
        double again;
        meet(hierarchy, operations, pair, labels[0] + pair[0] * room, labels[1] + pair[1] * room,
             &element);
        expect(kind, &element, 0, distance[i]);
        if (i % 17 == 0) {
            compute_pair(hierarchy, pair[0], pair[1], &again);
            assert_memory_equal(&element, &again, size);
        }
    }
    hierarchy_search_destroy(search);
    free(labels[0]);
    free(labels[1]);
}

/* The rows that a reader receives, by position and lane. */
struct received {
    enum kind kind;
    uint32_t count; /* number of positions received */
    double *distances;
};

static void receive(void *context, uint32_t first, uint32_t count, const void *distances)
{
    struct received *received = context;
    for (size_t i = 0; i < (size_t)count * HIERARCHY_LANES; ++i) {
        received->distances[(size_t)first * HIERARCHY_LANES + i] =
            kind_element(received->kind, distances, i);
    }
    received->count += count;
}

/* Computes rows for a reader, and compares them with the stored rows. */
static void check_reader(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                         const void *rows)
{
    const uint32_t n = search->hierarchy->summary.vertex_count;
    const enum kind kind = search->hierarchy->summary.kind;
    double *distances = calloc((size_t)n * HIERARCHY_LANES + 1, sizeof(*distances));
    struct received received = {kind, 0, distances};
    assert_non_null(distances);
    assert_true(hierarchy_lanes_begin(search, sources, count, receive, &received));
    while (!hierarchy_rows_step(search)) {
    }
    assert_int_equal(received.count, n);
    for (uint32_t position = 0; position < n; ++position) {
        const uint32_t vertex = search->hierarchy->shape.vertex_at[position];
        for (uint32_t lane = 0; lane < HIERARCHY_LANES; ++lane) {
            const double found = distances[(size_t)position * HIERARCHY_LANES + lane];
            assert_true(found == (lane < count ? kind_element(kind, rows, (size_t)lane * n + vertex)
                                               : (double)__builtin_inff()));
        }
    }
    free(distances);
}

/* Checks rows that are computed one at a time and together, in the graph and in the reversed graph,
 * and the distances of all pairs. */
static void check_searches(const struct graph *graph, enum kind kind, enum isa isa)
{
    const uint32_t n = graph->vertex_count;
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *searches[2] = {NULL, NULL};
    uint64_t size;
    void *bytes = make_bytes(graph, kind, 1, &size);
    uint64_t *distance = range_distances(graph);
    double *rows = calloc((size_t)n * HIERARCHY_LANES + 1, sizeof(*rows));
    assert_non_null(rows);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    for (int is_reversed = 0; is_reversed < 2; ++is_reversed) {
        assert_int_equal(hierarchy_search_create(hierarchy, is_reversed, &searches[is_reversed]),
                         STATUS_OK);
        searches[is_reversed]->operations = operations_of(isa, kind);
    }
    for (uint32_t first = 0; first < n; first += 3) {
        const uint32_t count = first % 2 == 0 ? 1 + first % 7 : HIERARCHY_LANES - first % 7;
        uint32_t sources[HIERARCHY_LANES];
        for (uint32_t i = 0; i < count; ++i) {
            sources[i] = (first * (1 + i) + i) % n;
        }
        for (int is_reversed = 0; is_reversed < 2; ++is_reversed) {
            compute_rows(searches[is_reversed], sources, count, rows);
            for (uint32_t i = 0; i < count; ++i) {
                for (uint32_t target = 0; target < n; ++target) {
                    const size_t from = is_reversed ? target : sources[i];
                    const size_t to = is_reversed ? sources[i] : target;
                    expect(kind, rows, (size_t)i * n + target, distance[from * n + to]);
                }
            }
            check_reader(searches[is_reversed], sources, count, rows);
        }
    }
    check_labels(hierarchy, isa, distance);
    hierarchy_search_destroy(searches[0]);
    hierarchy_search_destroy(searches[1]);
    hierarchy_close(hierarchy);
    free(rows);
    free(distance);
    free(bytes);
}

TEST(a_search_returns_the_exact_distances)
{
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    for (uint64_t seed = 0; seed < 300; ++seed) {
        struct graph *graph = range_random(seed);
        check_searches(graph, kinds[seed % 3], seed / 3 % (isa_best() + 1));
        graph_destroy(graph);
    }
    for (size_t i = 0; i < 6; ++i) {
        struct graph *grid = make_grid(i % 2 == 0);
        for (enum isa isa = ISA_PORTABLE; isa <= isa_best(); ++isa) {
            check_searches(grid, kinds[i / 2], isa);
        }
        graph_destroy(grid);
    }
}

/* The graph is a ring with chords; it has more vertices than the search buffers before it writes
 * distances to the rows. */
TEST(rows_computed_together_equal_rows_computed_alone)
{
    enum { VERTICES = 2 * HIERARCHY_BLOCK + 100 };
    struct range_edge *edges = calloc(VERTICES, 2 * sizeof(*edges));
    int32_t *rows = calloc(VERTICES, (HIERARCHY_LANES + 1) * sizeof(*rows));
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *search = NULL;
    uint32_t sources[HIERARCHY_LANES];
    uint64_t size;
    assert_non_null(edges);
    assert_non_null(rows);
    for (uint32_t v = 0; v < VERTICES; ++v) {
        const uint32_t chord = v % 97 == 0 ? (v + 3001) % VERTICES : (v + 2) % VERTICES;
        edges[2 * v] = (struct range_edge){v, (v + 1) % VERTICES, (int32_t)(1 + v * 7 % 10)};
        edges[2 * v + 1] = (struct range_edge){v, chord, (int32_t)(1 + v * 5 % 13)};
        sources[v % HIERARCHY_LANES] = v;
    }
    struct graph *graph = range_build(VERTICES, edges, 2 * (size_t)VERTICES, true);
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    compute_rows(search, sources, HIERARCHY_LANES, rows + VERTICES);
    for (uint32_t i = 0; i < HIERARCHY_LANES; ++i) {
        compute_rows(search, &sources[i], 1, rows);
        assert_memory_equal(rows, rows + (size_t)(i + 1) * VERTICES, VERTICES * sizeof(*rows));
    }
    check_reader(search, sources, HIERARCHY_LANES, rows + VERTICES);
    hierarchy_search_destroy(search);
    hierarchy_close(hierarchy);
    graph_destroy(graph);
    free(bytes);
    free(rows);
    free(edges);
}

/* One step visits at most a few thousand vertices of a graph of any size, so that other requests
 * can run between steps. */
TEST(computing_rows_takes_many_short_steps)
{
    enum { VERTICES = 300000 };
    struct range_edge *edges = calloc(VERTICES, sizeof(*edges));
    int32_t *rows = calloc(VERTICES, HIERARCHY_LANES * sizeof(*rows));
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *search = NULL;
    uint32_t sources[HIERARCHY_LANES];
    uint64_t size;
    assert_non_null(edges);
    assert_non_null(rows);
    for (uint32_t v = 0; v < VERTICES; ++v) {
        edges[v] = (struct range_edge){v, (v + 1) % VERTICES, 1};
        sources[v % HIERARCHY_LANES] = v;
    }
    struct graph *graph = range_build(VERTICES, edges, VERTICES, true);
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    assert_in_range(compute_rows(search, sources, 1, rows), 8, 40);
    assert_in_range(compute_rows(search, sources, HIERARCHY_LANES, rows), 40, 120);
    for (uint32_t v = 0; v < VERTICES; ++v) {
        assert_int_equal(rows[v], (v + VERTICES - sources[0]) % VERTICES);
    }
    hierarchy_search_destroy(search);
    hierarchy_close(hierarchy);
    graph_destroy(graph);
    free(bytes);
    free(rows);
    free(edges);
}

/* The sum of the unreachable value and a negative weight is below that value, but must not count as
 * a distance. */
TEST(negative_weights_do_not_make_unreachable_vertices_reachable)
{
    static const struct range_edge edges[] = {{0, 1, -5}, {1, 2, -5}, {3, 2, -7}, {4, 3, -9}};
    struct graph *graph = range_build(5, edges, 4, true);
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *search = NULL;
    uint64_t size;
    int32_t row[5];
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    const int32_t none = UNREACHABLE_I4;
    const int32_t wanted[5][5] = {{0, -5, -10, none, none},
                                  {none, 0, -5, none, none},
                                  {none, none, 0, none, none},
                                  {none, none, -7, 0, none},
                                  {none, none, -16, -9, 0}};
    for (uint32_t source = 0; source < 5; ++source) {
        compute_rows(search, &source, 1, row);
        assert_memory_equal(row, wanted[source], sizeof(row));
        for (uint32_t target = 0; target < 5; ++target) {
            compute_pair(hierarchy, source, target, &row[target]);
        }
        assert_memory_equal(row, wanted[source], sizeof(row));
    }
    hierarchy_search_destroy(search);
    hierarchy_close(hierarchy);
    free(bytes);
    graph_destroy(graph);
}
