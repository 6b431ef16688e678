#include "tests/lib/reader_fixture.h"

uint64_t fixture_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void check_every_cut(enum format format, const struct text *text, const struct graph *whole)
{
    struct graph_options options = {0};

    for (size_t cut = 0; text->size <= FIXTURE_CUT_LIMIT && cut <= text->size; cut++) {
        struct graph *graph = NULL;

        assert_int_equal(
            read_graph_cut(format, &options, text->bytes, text->size, cut, &graph, NULL),
            STATUS_OK);
        assert_true(same_graph(whole, graph));
        graph_destroy(graph);
    }
}

void check_any_split(enum format format, void (*generate)(uint64_t seed, struct text *text))
{
    static const size_t pieces[] = {1, 0, 3};

    for (uint64_t round = 1; round <= FIXTURE_ROUNDS; round++) {
        struct graph_options options = {0};
        struct text text = {0};
        struct graph *whole = NULL;

        generate(round, &text);
        assert_int_equal(text_status(&text), STATUS_OK);
        assert_int_equal(
            read_graph(format, &options, text.bytes, text.size, text.size, &whole, NULL),
            STATUS_OK);
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
            struct graph *cut = NULL;

            assert_int_equal(
                read_graph(format, &options, text.bytes, text.size, pieces[i], &cut, NULL),
                STATUS_OK);
            assert_true(same_graph(whole, cut));
            graph_destroy(cut);
        }
        check_every_cut(format, &text, whole);
        graph_destroy(whole);
        text_finish(&text);
    }
}
