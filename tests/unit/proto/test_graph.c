#include "proto/text.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

static enum status choose(const char *text, enum kind requested, enum kind *ret_kind)
{
    struct graph *graph = read_text(FORMAT_DIMACS, text);
    struct problem problem = {0};
    enum status status = graph_choose_kind(graph, requested, ret_kind, &problem);

    assert_int_equal(problem.status, status);
    graph_destroy(graph);
    return status;
}

static bool chooses(const char *text, enum kind requested, enum kind wanted)
{
    enum kind kind;

    return choose(text, requested, &kind) == STATUS_OK && kind == wanted;
}

static bool refuses(const char *text, enum kind requested)
{
    return choose(text, requested, &(enum kind){KIND_AUTO}) == STATUS_WEIGHT_RANGE;
}

TEST(the_kind_is_chosen_by_the_distance_bound)
{
    assert_true(chooses("p sp 2 1\na 1 2 536870911\n", KIND_AUTO, KIND_I4));
    assert_true(chooses("p sp 2 1\na 1 2 536870912\n", KIND_AUTO, KIND_F8));
    assert_true(chooses("p sp 2 1\na 1 2 0.5\n", KIND_AUTO, KIND_F8));
    assert_true(chooses("p sp 2 1\na 1 2 1.5e300\n", KIND_F8, KIND_F8));
    assert_true(refuses("p sp 2 1\na 1 2 536870912\n", KIND_I4));
    assert_true(refuses("p sp 2 1\na 1 2 9007199254740992\n", KIND_AUTO));
    assert_true(refuses("p sp 2 1\na 1 2 0.5\n", KIND_I4));
    assert_true(refuses("p sp 2 1\na 1 2 1e300\n", KIND_F4));
    assert_true(refuses("p sp 2 1\na 1 2 -1\n", KIND_U2));
    assert_true(chooses("p sp 2 1\na 1 2 1\n", KIND_U2, KIND_U2));
}

TEST(bounds_are_printed_in_their_shortest_form)
{
    static const struct {
        const char *text;
        enum kind kind;
        const char *detail;
    } cases[] = {
        {"p sp 2 1\na 1 2 1.7e308\n", KIND_F4,
         "A distance may reach 1.7e+308, but kind f4 holds values up to 3.4028234663852886e+38."},
        {"p sp 3 2\na 1 2 1.7e308\na 2 3 1.7e308\n", KIND_F8,
         "A distance may reach inf, but kind f8 holds values up to 1.7976931348623157e+308."},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct graph *graph = read_text(FORMAT_DIMACS, cases[i].text);
        struct problem problem = {0};
        enum kind kind;
        assert_int_equal(graph_choose_kind(graph, cases[i].kind, &kind, &problem),
                         STATUS_WEIGHT_RANGE);
        assert_string_equal(problem.detail, cases[i].detail);
        graph_destroy(graph);
    }
}

static uint32_t components_of(uint32_t vertex_count, const uint64_t *row_offset,
                              const uint32_t *targets)
{
    struct graph graph = {.vertex_count = vertex_count,
                          .edge_count = row_offset[vertex_count],
                          .row_offset = (uint64_t *)row_offset,
                          .target = (uint32_t *)targets};

    assert_int_equal(graph_count_components(&graph), STATUS_OK);
    return graph.summary.components;
}

TEST(components_are_counted_regardless_of_edge_direction)
{
    /* Edges 0-2, 2-4 and 5-4; vertices 1 and 3 are isolated; rows 1, 3 and 4 are empty. */
    assert_int_equal(components_of(6, (uint64_t[]){0, 1, 1, 2, 2, 2, 3}, (uint32_t[]){2, 4, 4}), 3);
    assert_int_equal(components_of(3, (uint64_t[]){0, 2, 3, 4}, (uint32_t[]){1, 2, 0, 0}), 1);
    assert_int_equal(components_of(0, (uint64_t[]){0}, NULL), 0);
}

static struct graph *read_as(enum format format, const char *text)
{
    struct graph_options options = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(format, &options, text, strlen(text), 5, &graph, NULL), STATUS_OK);
    return graph;
}

static bool has_reverse(const char *text)
{
    struct graph *graph = read_as(FORMAT_DIMACS, text);
    const bool found = graph_has_reverse(graph);

    graph_destroy(graph);
    return found;
}

TEST(a_reverse_edge_is_found_regardless_of_its_weight)
{
    assert_false(has_reverse("p sp 0 0\n"));
    assert_false(has_reverse("p sp 2 1\na 2 1 5\n"));
    assert_false(has_reverse("p sp 4 5\na 1 2 5\na 2 3 5\na 3 4 5\na 4 1 5\na 2 4 1\n"));
    assert_true(has_reverse("p sp 4 5\na 1 2 5\na 4 1 5\na 4 2 5\na 4 3 5\na 2 4 7\n"));
    assert_true(has_reverse("p sp 4 5\na 1 2 5\na 4 1 5\na 4 2 5\na 4 3 5\na 1 4 7\n"));
    assert_true(has_reverse("p sp 4 5\na 1 2 5\na 4 1 5\na 4 2 5\na 4 3 5\na 3 4 7\n"));
}

TEST(equal_edges_in_both_directions_become_one_undirected_edge)
{
    struct graph *graph =
        read_as(FORMAT_DIMACS, "p sp 4 8\na 1 2 5\na 2 1 5\na 1 4 7\na 4 1 7\na 2 4 0\na 4 2 0\n"
                               "a 3 4 9\na 4 3 9\n");
    static const uint64_t offsets[] = {0, 2, 3, 4, 4};
    static const uint32_t targets[] = {1, 3, 3, 3};
    static const int32_t weights[] = {5, 7, 0, 9};
    struct graph *folded = NULL;

    assert_int_equal(graph_fold(graph, &folded), STATUS_OK);
    assert_non_null(folded);
    assert_false(folded->directed);
    assert_int_equal(folded->vertex_count, 4);
    assert_int_equal(folded->edge_count, 4);
    assert_memory_equal(folded->row_offset, offsets, sizeof(offsets));
    assert_memory_equal(folded->target, targets, sizeof(targets));
    assert_memory_equal(folded->weight_i4, weights, sizeof(weights));
    assert_ptr_equal(folded->names, graph->names);
    graph_destroy_copy(folded);
    graph_destroy(graph);
}

TEST(merging_reverse_edges_preserves_decimals)
{
    struct graph *graph =
        read_as(FORMAT_EDGES, "0 1 0.25\n1 0 0.25\n1 2 1.5\n2 1 1.5\n2 0 0.125\n0 2 0.125\n");
    static const double weights[] = {0.25, 0.125, 1.5};
    struct graph *folded = NULL;

    assert_int_equal(graph_fold(graph, &folded), STATUS_OK);
    assert_non_null(folded);
    assert_null(folded->weight_i4);
    assert_memory_equal(folded->weight_f8, weights, sizeof(weights));
    graph_destroy_copy(folded);
    graph_destroy(graph);
}

TEST(graphs_with_asymmetric_edges_stay_directed)
{
    static const char *const texts[] = {
        "p sp 3 0\n",                                       /* no edges to merge */
        "p sp 3 3\na 1 2 5\na 2 1 5\na 1 3 5\n",            /* one edge has no reverse */
        "p sp 3 4\na 1 2 5\na 2 1 5\na 1 3 5\na 2 3 5\n",   /* vertex 3 has no outgoing edges */
        "p sp 3 4\na 1 2 5\na 2 1 5\na 3 1 5\na 3 2 5\n",   /* vertex 3 has no incoming edges */
        "p sp 3 4\na 1 2 5\na 2 3 5\na 3 1 5\na 1 3 5\n",   /* a cycle with one reverse edge */
        "p sp 2 2\na 1 2 5\na 2 1 6\n",                     /* the reverse has another weight */
        "p sp 4 4\na 1 2 5\na 2 1 5\na 3 1 -1\na 1 3 -1\n", /* negative weights */
        "p sp 2 3\na 1 2 5\na 2 1 5\na 1 1 -1\n",           /* a negative loop */
        "p sp 4 4\na 1 3 5\na 2 4 5\na 3 2 5\na 4 1 5\n",   /* no edge has a reverse edge */
    };

    for (size_t index = 0; index < sizeof(texts) / sizeof(texts[0]); ++index) {
        struct graph *graph = read_as(FORMAT_DIMACS, texts[index]);
        struct graph *folded = graph;
        assert_int_equal(graph_fold(graph, &folded), STATUS_OK);
        assert_null(folded);
        graph_destroy(graph);
    }
}

TEST(merging_reverse_edges_leaves_an_undirected_graph_unchanged)
{
    struct graph *graph = read_as(FORMAT_METIS, "3 2\n2\n1 3\n2\n");
    struct graph *folded = graph;

    assert_false(graph->directed);
    assert_int_equal(graph_fold(graph, &folded), STATUS_OK);
    assert_null(folded);
    graph_destroy_copy(NULL);
    graph_destroy(graph);
}
