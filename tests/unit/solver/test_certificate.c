#include "server/solver/certificate.h"
#include "tests/lib/range_fixture.h"

#include <math.h>

#define VERTICES 6
#define EDGES 7
#define NONE UNREACHABLE_I4

/* The graph has two components: a cycle 0 -> 1 -> 2 -> 0 with a detour through 3, and 4 <-> 5 with
 * edges of length 0. */
static const struct range_edge edges[EDGES] = {
    {0, 1, 2}, {1, 2, 3}, {0, 3, 1}, {3, 2, 9}, {2, 0, 4}, {4, 5, 0}, {5, 4, 0},
};
static const int32_t right_i4[VERTICES * VERTICES] = {
    0,    2,    5,    1,    NONE, NONE, /**/
    7,    0,    3,    8,    NONE, NONE, /**/
    4,    6,    0,    5,    NONE, NONE, /**/
    13,   15,   9,    0,    NONE, NONE, /**/
    NONE, NONE, NONE, NONE, 0,    0,    /**/
    NONE, NONE, NONE, NONE, 0,    0,
};

static int create_graph(void **state)
{
    *state = range_build(VERTICES, edges, EDGES, true);
    return 0;
}

static int destroy_graph(void **state)
{
    graph_destroy(*state);
    return 0;
}

static enum status check_spread(const struct graph *graph, const struct matrix *matrix,
                                uint32_t row_count, const struct observer *observer,
                                struct verification *ret_verification, struct problem *reterr)
{
    const struct certificate_request request = {
        .graph = graph, .matrix = matrix, .row_count = row_count, .observer = observer};
    return certificate_check(&request, ret_verification, reterr);
}

static enum status check_listed(const struct graph *graph, const struct matrix *matrix,
                                const uint32_t *rows, uint32_t row_count, bool packed,
                                struct cpu_pool *pool, struct verification *ret_verification)
{
    const struct certificate_request request = {.graph = graph,
                                                .matrix = matrix,
                                                .rows = rows,
                                                .row_count = row_count,
                                                .packed = packed,
                                                .pool = pool};
    return certificate_check(&request, ret_verification, NULL);
}

static enum status check_i4(const struct graph *graph, const int32_t *entries, uint32_t rows,
                            struct problem *reterr)
{
    int32_t copy[VERTICES * VERTICES];
    memcpy(copy, entries, sizeof(copy));
    const struct matrix matrix = {VERTICES, KIND_I4, copy};
    struct verification verification;
    const enum status status = check_spread(graph, &matrix, rows, NULL, &verification, reterr);
    if (status == STATUS_OK) {
        assert_true(verification.done);
        assert_int_equal(verification.rows, rows < VERTICES ? rows : VERTICES);
        assert_int_equal(verification.of, VERTICES);
        assert_int_equal(verification.edges, graph->edge_count);
    }
    return status;
}

TEST(a_cycle_of_length_zero_does_not_prove_its_own_distances)
{
    int32_t entries[VERTICES * VERTICES];
    memcpy(entries, right_i4, sizeof(entries));
    entries[0 * VERTICES + 4] = 17;
    entries[0 * VERTICES + 5] = 17;
    struct problem problem;
    assert_int_equal(check_i4(*state, entries, VERTICES, &problem), STATUS_NOT_VERIFIED);
    assert_string_equal(problem.detail, "The matrix has the distance 17 from 1 to 5, but no path "
                                        "has this length.");
}

TEST(rows_outside_the_sample_are_not_checked)
{
    int32_t entries[VERTICES * VERTICES];
    memcpy(entries, right_i4, sizeof(entries));
    entries[1 * VERTICES + 2] = 4;
    assert_int_equal(check_i4(*state, entries, 3, NULL), STATUS_OK);
    assert_int_equal(check_i4(*state, entries, VERTICES, NULL), STATUS_NOT_VERIFIED);
    assert_int_equal(check_i4(*state, entries, UINT32_MAX, NULL), STATUS_NOT_VERIFIED);
}

TEST(only_listed_rows_are_checked)
{
    static const uint32_t rows[] = {1, 3, 5};
    int32_t entries[VERTICES * VERTICES];
    for (uint32_t wrong = 0; wrong < VERTICES; wrong++) {
        memcpy(entries, right_i4, sizeof(entries));
        entries[wrong * VERTICES + wrong] = 1;
        const struct matrix matrix = {VERTICES, KIND_I4, entries};
        struct verification verification = {0};
        const enum status status =
            check_listed(*state, &matrix, rows, 3, false, NULL, &verification);
        assert_int_equal(status, wrong % 2 == 0 ? STATUS_OK : STATUS_NOT_VERIFIED);
        assert_int_equal(verification.rows, wrong % 2 == 0 ? 3 : 0);
    }
}

TEST(undirected_edges_are_checked_in_both_directions)
{
    static const struct range_edge chain[] = {
        {0, 1, 1}, {2, 1, 1}, {2, 3, 1}, {5, 3, 1}, {4, 5, 1}};
    static const int32_t place[VERTICES] = {0, 1, 2, 3, 5, 4};
    struct graph *graph = range_build(VERTICES, chain, 5, false);
    int32_t entries[VERTICES * VERTICES];
    for (int32_t i = 0; i < VERTICES; ++i) {
        for (int32_t j = 0; j < VERTICES; ++j) {
            const int32_t gap = place[i] - place[j];
            entries[i * VERTICES + j] = gap < 0 ? -gap : gap;
        }
    }
    assert_int_equal(check_i4(graph, entries, VERTICES, NULL), STATUS_OK);
    entries[5 * VERTICES + 0] = NONE;
    assert_int_equal(check_i4(graph, entries, VERTICES, NULL), STATUS_NOT_VERIFIED);
    graph_destroy(graph);
}

/* Divides all weights and distances by 10, multiplies the distances by `factor`, and checks the
 * resulting matrix. */
static enum status check_tenths(enum kind kind, double factor)
{
    struct range_edge tenths[EDGES];
    for (size_t i = 0; i < EDGES; ++i) {
        tenths[i] = (struct range_edge){edges[i].source, edges[i].target, 0.1 * edges[i].weight};
    }
    struct graph *graph = range_build(VERTICES, tenths, EDGES, true);
    float narrow[VERTICES * VERTICES];
    double wide[VERTICES * VERTICES];
    for (size_t index = 0; index < VERTICES * VERTICES; ++index) {
        wide[index] = right_i4[index] == NONE ? INFINITY : right_i4[index] * 0.1;
        if (index == 3 * VERTICES + 1) {
            wide[index] *= factor;
        }
        narrow[index] = (float)wide[index];
    }
    const struct matrix matrix = {VERTICES, kind, kind == KIND_F4 ? (void *)narrow : wide};
    struct verification verification;
    const enum status status = check_spread(graph, &matrix, VERTICES, NULL, &verification, NULL);
    graph_destroy(graph);
    return status;
}

TEST(float_distances_may_differ_only_by_rounding)
{
    assert_int_equal(check_tenths(KIND_F4, 1 + 1e-7), STATUS_OK);
    assert_int_equal(check_tenths(KIND_F4, 1 + 1e-4), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F4, 1 - 1e-4), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F8, 1 + 1e-15), STATUS_OK);
    assert_int_equal(check_tenths(KIND_F8, 1 + 1e-10), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F8, 1 - 1e-10), STATUS_NOT_VERIFIED);
}

/* Checks row 0 of a path with weights of 0.1. The row's last entry is multiplied by `factor`. */
static enum status check_path(uint32_t hops, double factor)
{
    const uint32_t n = hops + 1;
    struct range_edge *path = calloc(hops, sizeof(*path));
    float *entries = calloc((size_t)n * n, sizeof(*entries));
    assert_true(path != NULL && entries != NULL);
    for (uint32_t hop = 0; hop < hops; ++hop) {
        path[hop] = (struct range_edge){hop, hop + 1, 0.1};
        entries[hop + 1] = (float)(0.1 * (hop + 1));
    }
    entries[hops] = (float)(0.1 * hops * factor);
    struct graph *graph = range_build(n, path, hops, true);
    const struct matrix matrix = {n, KIND_F4, entries};
    struct verification verification;
    const enum status status = check_spread(graph, &matrix, 1, NULL, &verification, NULL);
    graph_destroy(graph);
    free(entries);
    free(path);
    return status;
}

TEST(the_rounding_tolerance_grows_with_the_number_of_additions)
{
    assert_int_equal(check_path(1000, 1 + 5e-5), STATUS_OK);
    assert_int_equal(check_path(1000, 1 + 5e-4), STATUS_NOT_VERIFIED);
    assert_int_equal(check_path(10, 1 + 5e-5), STATUS_NOT_VERIFIED);
}

/* Weights below the smallest float become 0 as floats, and slightly larger weights lose most of
 * their digits. */
TEST(weights_below_the_float_range_may_become_zero)
{
    static const struct range_edge tiny[] = {
        {0, 1, 1e-60}, {1, 2, -3e-50}, {0, 3, 2e-45}, {2, 3, 5e-45}};
    float entries[4 * 4];
    const struct matrix matrix = {4, KIND_F4, entries};
    struct verification verification;
    struct problem problem;
    struct graph *graph = range_build(4, tiny, 4, true);

    for (int i = 0; i < 16; ++i) {
        entries[i] = i % 5 == 0 ? 0 : INFINITY;
    }
    entries[1] = entries[2] = entries[6] = 0;
    entries[3] = (float)2e-45;
    entries[7] = entries[11] = (float)5e-45;
    assert_int_equal(check_spread(graph, &matrix, 4, NULL, &verification, &problem), STATUS_OK);
    entries[3] = 1e-40F;
    assert_int_equal(check_spread(graph, &matrix, 4, NULL, &verification, &problem),
                     STATUS_NOT_VERIFIED);
    graph_destroy(graph);
}

TEST(nan_and_infinity_are_rejected)
{
    assert_int_equal(check_tenths(KIND_F8, (double)NAN), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F4, (double)NAN), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F8, (double)INFINITY), STATUS_NOT_VERIFIED);
    assert_int_equal(check_tenths(KIND_F8, -(double)INFINITY), STATUS_NOT_VERIFIED);
}

static bool say_cancelled(void *context)
{
    return *(bool *)context;
}

TEST(a_cancellation_ends_the_check)
{
    bool cancelled = true;
    const struct observer observer = {.context = &cancelled, .cancelled = say_cancelled};
    int32_t entries[VERTICES * VERTICES];
    memcpy(entries, right_i4, sizeof(entries));
    const struct matrix matrix = {VERTICES, KIND_I4, entries};
    struct verification verification;
    assert_int_equal(check_spread(*state, &matrix, VERTICES, &observer, &verification, NULL),
                     STATUS_CANCELLED);
    cancelled = false;
    assert_int_equal(check_spread(*state, &matrix, VERTICES, &observer, &verification, NULL),
                     STATUS_OK);
}

#define MANY 21

/* Makes edges v -> v+1, v -> v+3 and a few backward edges. The last vertex reaches no other. */
static struct graph *build_many(bool directed, int32_t lightest)
{
    struct range_edge list[2 * (MANY - 1)];
    size_t count = 0;
    for (uint32_t v = 0; v + 1 < MANY; v++) {
        const uint32_t jump = v % 5 == 4 ? v / 2 : (v + 3) % MANY;
        list[count++] = (struct range_edge){v, v + 1, lightest + (int32_t)(v % 4)};
        list[count++] = (struct range_edge){v, jump, 5 + v % 3};
    }
    return range_build(MANY, list, count, directed);
}

static void keep_minimum(int32_t *entry, int32_t value)
{
    *entry = value < *entry ? value : *entry;
}

static void solve(const struct graph *graph, int32_t d[MANY][MANY])
{
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint32_t j = 0; j < MANY; j++) {
            d[i][j] = i == j ? 0 : NONE;
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint64_t edge = graph->row_offset[i]; edge < graph->row_offset[i + 1]; edge++) {
            const uint32_t j = graph->target[edge];
            keep_minimum(&d[i][j], graph->weight_i4[edge]);
            keep_minimum(&d[j][i], graph->directed ? NONE : graph->weight_i4[edge]);
        }
    }
    for (uint32_t k = 0; k < MANY; k++) {
        for (uint32_t i = 0; i < MANY; i++) {
            for (uint32_t j = 0; j < MANY; j++) {
                keep_minimum(&d[i][j], d[i][k] + d[k][j]);
            }
        }
    }
}

static void try_every_wrong_entry(bool directed, int32_t lightest)
{
    static const int32_t wrong[] = {-1, 0, 1, 6, 100, NONE - 1, NONE, NONE + 1, INT32_MAX};
    struct graph *graph = build_many(directed, lightest);
    int32_t d[MANY][MANY];
    const struct matrix matrix = {MANY, KIND_I4, d};
    struct verification verification;
    assert_int_equal(graph->weight_type, WEIGHT_INTEGER);
    solve(graph, d);
    for (size_t place = 0; place < MANY * MANY; place++) {
        int32_t *entry = &d[place / MANY][place % MANY];
        const int32_t right = *entry;
        for (size_t choice = 0; choice < sizeof(wrong) / sizeof(wrong[0]); choice++) {
            *entry = wrong[choice];
            const uint32_t row = (uint32_t)(place / MANY);
            const enum status expected = wrong[choice] == right ? STATUS_OK : STATUS_NOT_VERIFIED;
            assert_int_equal(check_spread(graph, &matrix, MANY, NULL, &verification, NULL),
                             expected);
            assert_int_equal(check_listed(graph, &matrix, &row, 1, false, NULL, &verification),
                             expected);
        }
        *entry = right;
        assert_int_equal(check_spread(graph, &matrix, MANY, NULL, &verification, NULL), STATUS_OK);
    }
    graph_destroy(graph);
}

/* In this path every third edge has weight 0. Some of these edges cross a boundary between the
 * parts of the row that two threads check. */
TEST(threads_that_share_a_row_find_every_wrong_entry)
{
    enum { LONG = 200000 };
    static const uint32_t places[] = {1, 2, 3, 65535, 65536, 65537, 131072, LONG - 2, LONG - 1};
    struct range_edge *path = calloc(LONG, sizeof(*path));
    int32_t *row = calloc(LONG, sizeof(*row));
    struct cpu_pool *pool = NULL;
    assert_true(path != NULL && row != NULL);
    for (uint32_t v = 0; v + 1 < LONG; v++) {
        path[v] = (struct range_edge){v, v + 1, v % 3 == 1 ? 0 : 5};
        row[v + 1] = row[v] + (v % 3 == 1 ? 0 : 5);
    }
    assert_int_equal(cpu_pool_create(3, &pool), STATUS_OK);
    for (int directed = 0; directed < 2; directed++) {
        struct graph *graph = range_build(LONG, path, LONG - 1, directed == 1);
        const struct matrix matrix = {LONG, KIND_I4, row};
        struct verification verification;
        const uint32_t source = 0;
        for (size_t i = 0; i < 4 * sizeof(places) / sizeof(places[0]); i++) {
            static const int32_t errors[] = {0, 1, -1, 5};
            int32_t *entry = &row[places[i / 4]];
            *entry += errors[i % 4];
            assert_int_equal(check_listed(graph, &matrix, &source, 1, true, pool, &verification),
                             i % 4 == 0 ? STATUS_OK : STATUS_NOT_VERIFIED);
            *entry -= errors[i % 4];
        }
        graph_destroy(graph);
    }
    cpu_pool_destroy(pool);
    free(path);
    free(row);
}

TEST(threads_that_share_each_of_many_rows_find_every_wrong_row)
{
    struct graph *graph = build_many(true, 0);
    int32_t d[MANY][MANY];
    uint32_t rows[MANY];
    const struct matrix matrix = {MANY, KIND_I4, d};
    struct cpu_pool *pool = NULL;
    struct verification verification;
    solve(graph, d);
    assert_int_equal(cpu_pool_create(4, &pool), STATUS_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        rows[i] = i;
    }
    for (uint32_t wrong = 0; wrong <= MANY; wrong++) {
        int32_t *entry = &d[wrong % MANY][(wrong + 1) % MANY];
        *entry += wrong < MANY;
        assert_int_equal(check_listed(graph, &matrix, rows, MANY, false, pool, &verification),
                         wrong < MANY ? STATUS_NOT_VERIFIED : STATUS_OK);
        *entry -= wrong < MANY;
    }
    cpu_pool_destroy(pool);
    graph_destroy(graph);
}

/* The certificate checks integers in a pass over all edges, and floats by a search. */
TEST(threads_with_separate_rows_find_every_wrong_row)
{
    enum { LONG = 100 };
    static const enum kind kinds[] = {KIND_I4, KIND_F8};
    static int32_t integers[LONG][LONG];
    static double reals[LONG][LONG];
    struct range_edge path[LONG];
    struct cpu_pool *pool = NULL;
    struct verification verification;
    for (uint32_t i = 0; i < LONG; i++) {
        path[i] = (struct range_edge){i, i + 1, 5};
        for (uint32_t j = 0; j < LONG; j++) {
            integers[i][j] = j < i ? NONE : 5 * (int32_t)(j - i);
            reals[i][j] = j < i ? INFINITY : 5 * (double)(j - i);
        }
    }
    struct graph *graph = range_build(LONG, path, LONG - 1, true);
    assert_int_equal(cpu_pool_create(4, &pool), STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        void *const elements = kinds[i] == KIND_I4 ? (void *)integers : (void *)reals;
        const struct matrix matrix = {LONG, kinds[i], elements};
        const struct certificate_request request = {
            .graph = graph, .matrix = &matrix, .row_count = UINT32_MAX, .pool = pool};
        for (uint32_t wrong = 0; wrong < LONG; wrong++) {
            struct problem problem = {0};
            char words[64];
            integers[wrong][wrong] = 1;
            reals[wrong][wrong] = 1;
            assert_int_equal(certificate_check(&request, &verification, &problem),
                             STATUS_NOT_VERIFIED);
            snprintf(words, sizeof(words), "the distance 1 from %u to %u,", wrong + 1, wrong + 1);
            assert_non_null(strstr(problem.detail, words));
            integers[wrong][wrong] = 0;
            reals[wrong][wrong] = 0;
        }
        assert_int_equal(certificate_check(&request, &verification, NULL), STATUS_OK);
        assert_int_equal(verification.rows, LONG);
    }
    cpu_pool_destroy(pool);
    graph_destroy(graph);
}

TEST(every_wrong_entry_of_a_directed_graph_is_found)
{
    try_every_wrong_entry(true, 1);
}

TEST(every_wrong_entry_of_an_undirected_graph_is_found)
{
    try_every_wrong_entry(false, 1);
}

/* If an edge of weight 0 connects two wrong entries, each could seem to confirm the other. */
TEST(wrong_entries_at_zero_weight_edges_are_detected)
{
    try_every_wrong_entry(true, 0);
    try_every_wrong_entry(false, 0);
}

/* Checks row 0, whose entries are 0, 5, 5, ...: the edge 0 -> 1 has weight 5, and each other vertex
 * has an edge of weight 0 from vertex 1 or of weight 5 from vertex 0. All edges are tight. */
static void try_zeros(uint32_t n, uint32_t zeros, bool directed)
{
    struct range_edge list[MANY] = {{0, 1, 5}};
    int32_t row[MANY] = {0, 5};
    for (uint32_t v = 2; v < n; v++) {
        list[v - 1] = v - 2 < zeros ? (struct range_edge){1, v, 0} : (struct range_edge){0, v, 5};
        row[v] = 5;
    }
    struct graph *graph = range_build(n, list, n - 1, directed);
    const struct matrix matrix = {n, KIND_I4, row};
    const uint32_t source = 0;
    struct verification verification;
    assert_int_equal(check_listed(graph, &matrix, &source, 1, true, NULL, &verification),
                     STATUS_OK);
    for (int32_t error = -1; error <= 1; error += 2) {
        /* In each turn but the last, one entry is wrong. In the last turn, all entries that could
         * confirm each other are wrong. */
        for (uint32_t v = 0; v <= n; v++) {
            const uint32_t begin = v < n ? v : 1;
            const uint32_t end = v < n ? v + 1 : zeros + 2;
            for (uint32_t wrong = begin; wrong < end; wrong++) {
                row[wrong] += error;
            }
            assert_int_equal(check_listed(graph, &matrix, &source, 1, true, NULL, &verification),
                             STATUS_NOT_VERIFIED);
            for (uint32_t wrong = begin; wrong < end; wrong++) {
                row[wrong] -= error;
            }
        }
    }
    graph_destroy(graph);
}

/* The certificate stores at most one endpoint of a tight zero edge per vertex. If a row has more
 * such endpoints, the certificate searches the row. An undirected edge counts in both
 * directions. */
TEST(rows_with_many_tight_zero_weight_edges_are_proven_correct)
{
    for (uint32_t n = MANY - 3; n <= MANY; n++) {
        for (uint32_t zeros = n / 4 - 1; zeros <= n / 2 + 1; zeros++) {
            try_zeros(n, zeros, true);
            try_zeros(n, zeros, false);
        }
    }
}

TEST_GROUP(create_graph, destroy_graph)
