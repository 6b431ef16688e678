#include "server/solver/certificate.h"

#include "proto/read/graph_builder.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* More than one batch, and the last one not full. */
#define VERTICES 21
#define NONE UNREACHABLE_I4

/* Edges v -> v+1 and v -> v+3 with a step back now and then; vertex VERTICES-1 reaches nothing. */
static struct graph *build(bool directed, int64_t lightest)
{
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    assert_int_equal(vertex_names_create_range(VERTICES, 1, &names), STATUS_OK);
    for (uint32_t v = 0; v + 1 < VERTICES; ++v) {
        const uint32_t jump = v % 5 == 4 ? v / 2 : (v + 3) % VERTICES;
        assert_int_equal(graph_builder_add_integer(builder, v, v + 1, lightest + v % 4), STATUS_OK);
        assert_int_equal(graph_builder_add_integer(builder, v, jump, 5 + v % 3), STATUS_OK);
    }
    assert_int_equal(graph_builder_finish(builder, &names, NULL, directed, &graph, NULL),
                     STATUS_OK);
    graph_builder_destroy(builder);
    return graph;
}

static void keep_minimum(int32_t *entry, int32_t value)
{
    *entry = value < *entry ? value : *entry;
}

/* The textbook's triple loop. */
static void solve(const struct graph *graph, int32_t d[VERTICES][VERTICES])
{
    for (uint32_t i = 0; i < VERTICES; ++i) {
        for (uint32_t j = 0; j < VERTICES; ++j) {
            d[i][j] = i == j ? 0 : NONE;
        }
    }
    for (uint32_t i = 0; i < VERTICES; ++i) {
        for (uint64_t edge = graph->row_offset[i]; edge < graph->row_offset[i + 1]; ++edge) {
            const uint32_t j = graph->target[edge];
            keep_minimum(&d[i][j], graph->weight_i4[edge]);
            keep_minimum(&d[j][i], graph->directed ? NONE : graph->weight_i4[edge]);
        }
    }
    for (uint32_t k = 0; k < VERTICES; ++k) {
        for (uint32_t i = 0; i < VERTICES; ++i) {
            for (uint32_t j = 0; j < VERTICES; ++j) {
                keep_minimum(&d[i][j], d[i][k] + d[k][j]);
            }
        }
    }
}

static bool check_all(const struct graph *graph, int32_t d[VERTICES][VERTICES])
{
    const struct matrix matrix = {VERTICES, KIND_I4, d};
    struct certificate_batch *batch = NULL;
    bool right = true;
    assert_int_equal(certificate_batch_create(graph, &matrix, &batch), STATUS_OK);
    for (uint32_t first = 0; first < VERTICES; first += CERTIFICATE_BATCH_ROWS) {
        uint32_t sources[CERTIFICATE_BATCH_ROWS];
        uint32_t count = 0;
        while (count < CERTIFICATE_BATCH_ROWS && first + count < VERTICES) {
            sources[count] = first + count;
            ++count;
        }
        right = certificate_batch_check(batch, sources, count) && right;
    }
    certificate_batch_destroy(batch);
    return right;
}

static void try_every_wrong_entry(bool directed)
{
    static const int32_t wrong[] = {-1, 0, 1, 6, 100, NONE - 1, NONE, NONE + 1, INT32_MAX};
    struct graph *graph = build(directed, 1);
    int32_t d[VERTICES][VERTICES];
    solve(graph, d);
    assert_true(check_all(graph, d));
    for (size_t place = 0; place < VERTICES * VERTICES; ++place) {
        int32_t *entry = &d[place / VERTICES][place % VERTICES];
        const int32_t right = *entry;
        for (size_t choice = 0; choice < sizeof(wrong) / sizeof(wrong[0]); ++choice) {
            *entry = wrong[choice];
            assert_int_equal(check_all(graph, d), wrong[choice] == right);
        }
        *entry = right;
    }
    graph_destroy(graph);
}

static void every_wrong_entry_of_a_directed_graph_is_found(void **state)
{
    (void)state;
    try_every_wrong_entry(true);
}

static void every_wrong_entry_of_an_undirected_graph_is_found(void **state)
{
    (void)state;
    try_every_wrong_entry(false);
}

/* Zero weights can vouch for each other in a circle, floats are not exact: the search decides. */
static void weights_that_the_equation_cannot_judge_are_left_alone(void **state)
{
    (void)state;
    struct graph *positive = build(true, 1);
    struct graph *zero = build(true, 0);
    const struct matrix integers = {VERTICES, KIND_I4, NULL};
    const struct matrix floats = {VERTICES, KIND_F4, NULL};
    assert_true(certificate_batch_applies(positive, &integers));
    assert_false(certificate_batch_applies(positive, &floats));
    assert_false(certificate_batch_applies(zero, &integers));
    graph_destroy(zero);
    graph_destroy(positive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_entry_of_a_directed_graph_is_found),
        cmocka_unit_test(every_wrong_entry_of_an_undirected_graph_is_found),
        cmocka_unit_test(weights_that_the_equation_cannot_judge_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
