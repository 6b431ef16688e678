/* What the reader tests share: a small random generator, and the property that any split of the
 * bytes gives the same graph. */
#pragma once

#include "proto/text.h"
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define FIXTURE_ROUNDS 200

static inline uint64_t fixture_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Every input of the generator gives the same graph whole, byte by byte and at other splits. */
static inline void check_any_split(enum format format,
                                   void (*generate)(uint64_t seed, struct text *text))
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
        graph_destroy(whole);
        text_finish(&text);
    }
}
