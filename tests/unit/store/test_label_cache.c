#include "server/store/label_cache.h"
#include "tests/lib/hierarchy_fixture.h"

#include <pthread.h>

#define AMPLE (UINT64_C(1) << 30)

struct subject {
    struct graph *graph;
    void *bytes;
    struct hierarchy *hierarchy;
    struct label_table *labels;
    uint32_t *pairs; /* all pairs of vertices */
    size_t count;
    unsigned char *wanted; /* expected distances, from labels computed for each pair */
};

static struct subject make_subject(struct graph *graph, enum kind kind)
{
    struct subject subject = {.graph = graph};
    const uint32_t n = graph->vertex_count;
    uint64_t size;
    subject.bytes = make_bytes(graph, kind, 1, &size);
    assert_int_equal(hierarchy_open(subject.bytes, size, &subject.hierarchy), STATUS_OK);
    subject.count = (size_t)n * n;
    subject.pairs = calloc(subject.count + 1, 2 * sizeof(*subject.pairs));
    subject.wanted = calloc(subject.count + 1, sizeof(double));
    assert_non_null(subject.pairs);
    assert_non_null(subject.wanted);
    for (size_t i = 0; i < subject.count; ++i) {
        subject.pairs[2 * i] = (uint32_t)(i * 7 % n);
        subject.pairs[2 * i + 1] = (uint32_t)(i / n);
        compute_pair(subject.hierarchy, subject.pairs[2 * i], subject.pairs[2 * i + 1],
                     subject.wanted + i * kind_size(kind));
    }
    return subject;
}

static void finish_subject(struct subject *subject)
{
    label_cache_drop(&subject->labels);
    hierarchy_close(subject->hierarchy);
    free(subject->bytes);
    free(subject->pairs);
    free(subject->wanted);
    graph_destroy(subject->graph);
}

static void ask_all(struct subject *subject)
{
    const size_t size = kind_size(subject->hierarchy->summary.kind);
    unsigned char *elements = calloc(subject->count + 1, sizeof(double));
    assert_non_null(elements);
    for (size_t done = 0, count; done < subject->count; done += count) {
        assert_int_equal(label_cache_pairs(&subject->labels, subject->hierarchy,
                                           subject->pairs + 2 * done, subject->count - done,
                                           elements + done * size, &count),
                         STATUS_OK);
        assert_in_range(count, 1, subject->count - done);
    }
    assert_memory_equal(elements, subject->wanted, subject->count * size);
    free(elements);
}

/* The distances must be equal bit for bit if the budget holds all labels, some labels or none. */
TEST(distances_are_the_same_with_every_budget)
{
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    static const uint64_t budgets[] = {AMPLE, 1, 20000, 90000, 200000, AMPLE};
    for (uint64_t seed = 0; seed < 40; ++seed) {
        struct graph *graph = seed < 6 ? make_grid(seed % 2 == 0) : range_random(seed);
        struct subject subject = make_subject(graph, kinds[seed / 2 % 3]);
        for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); ++i) {
            label_cache_drop(&subject.labels);
            assert_int_equal(label_cache_used(), 0);
            label_cache_set_budget(budgets[i]);
            ask_all(&subject);
            assert_true(label_cache_used() <= budgets[i]);
            assert_true(budgets[i] == 1 ? label_cache_used() == 0
                                        : label_cache_used() > graph->vertex_count);
        }
        finish_subject(&subject);
        assert_int_equal(label_cache_used(), 0);
    }
}

/* The distances must be correct even if one label exceeds the free part of the budget. */
TEST(the_least_recently_used_hierarchy_is_evicted_first)
{
    struct subject subjects[3];
    label_cache_set_budget(AMPLE);
    for (size_t i = 0; i < 3; ++i) {
        subjects[i] = make_subject(make_grid(i == 1), KIND_I4);
        ask_all(&subjects[i]);
    }
    const uint64_t used = label_cache_used();
    ask_all(&subjects[0]);
    assert_int_equal(label_cache_used(), used);
    label_cache_drop(&subjects[2].labels);
    label_cache_set_budget(label_cache_used());
    ask_all(&subjects[2]);
    assert_non_null(subjects[0].labels);
    assert_null(subjects[1].labels);
    assert_non_null(subjects[2].labels);
    for (size_t i = 0; i < 3; ++i) {
        finish_subject(&subjects[i]);
    }
    assert_int_equal(label_cache_used(), 0);
}

/* Labels answer the first 1 / 64 of all pairs. The last bit of floats depends on the order of the
 * additions, so floats have no rows. */
TEST(many_pairs_of_integers_are_read_from_rows)
{
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    for (size_t i = 0; i < 6; ++i) {
        struct subject subject = make_subject(make_grid(i % 2 == 0), kinds[i / 2]);
        const size_t all = subject.count;
        label_cache_set_budget(AMPLE);
        subject.count = all / 64;
        ask_all(&subject);
        const uint64_t used = label_cache_used();
        subject.count = all;
        ask_all(&subject);
        ask_all(&subject);
        const bool has_rows = label_cache_used() - used >= all * sizeof(int32_t);
        assert_true(used < all * sizeof(int32_t));
        assert_int_equal(has_rows, kinds[i / 2] == KIND_I4);
        finish_subject(&subject);
    }
}

TEST(rows_of_hierarchies_of_any_size_are_compared_with_the_budget)
{
    label_cache_set_budget(AMPLE);
    assert_true(label_cache_keeps_rows(0, KIND_I4));
    assert_true(label_cache_keeps_rows(11585, KIND_I4));
    assert_false(label_cache_keeps_rows(11586, KIND_I4));
    assert_false(label_cache_keeps_rows(UINT32_C(1) << 31, KIND_I4)); /* 2^64 bytes */
}

TEST(rows_evict_the_least_recently_used_hierarchy)
{
    struct subject subjects[2];
    for (size_t i = 0; i < 2; ++i) {
        subjects[i] = make_subject(make_grid(i == 1), KIND_I4);
    }
    const uint64_t row_bytes = subjects[1].count * sizeof(int32_t);
    label_cache_set_budget(2 * row_bytes);
    ask_all(&subjects[0]);
    ask_all(&subjects[0]);
    assert_true(label_cache_used() > row_bytes);
    ask_all(&subjects[1]);
    ask_all(&subjects[1]);
    assert_null(subjects[0].labels);
    assert_true(label_cache_used() > row_bytes);
    finish_subject(&subjects[0]);
    finish_subject(&subjects[1]);
}

/* The second hierarchy must not evict itself for ever because the first is used between its calls.
 */
TEST(rows_evict_a_hierarchy_that_is_used_in_turn)
{
    struct subject subjects[2];
    int32_t elements[64];
    bool is_evicted = false;
    for (size_t i = 0; i < 2; ++i) {
        subjects[i] = make_subject(make_grid(i == 1), KIND_I4);
    }
    label_cache_set_budget(2 * subjects[1].count * sizeof(int32_t));
    for (size_t turn = 0; turn < 2 * subjects[1].count / 64 && !is_evicted; ++turn) {
        struct subject *subject = &subjects[turn % 2];
        size_t count;
        assert_int_equal(label_cache_pairs(&subject->labels, subject->hierarchy, subject->pairs, 64,
                                           elements, &count),
                         STATUS_OK);
        is_evicted = turn % 2 == 1 && subjects[0].labels == NULL;
    }
    assert_true(is_evicted);
    finish_subject(&subjects[0]);
    finish_subject(&subjects[1]);
}

/* One call computes a limited number of labels for any number of pairs, so that other requests can
 * run between calls. */
TEST(one_call_computes_only_some_of_a_long_list_of_pairs)
{
    struct subject subject = make_subject(make_grid(true), KIND_I4);
    int32_t *elements = calloc(subject.count, sizeof(*elements));
    size_t count;
    assert_non_null(elements);
    label_cache_set_budget(1);
    assert_int_equal(label_cache_pairs(&subject.labels, subject.hierarchy, subject.pairs,
                                       subject.count, elements, &count),
                     STATUS_OK);
    assert_in_range(count, 100, subject.count - 1);
    free(elements);
    finish_subject(&subject);
}

static void *ask_often(void *context)
{
    for (int round = 0; round < 5; ++round) {
        ask_all(context);
    }
    return NULL;
}

static void ask_in_threads(uint64_t budget)
{
    enum { THREADS = 4 };
    struct subject subjects[2] = {make_subject(make_grid(true), KIND_I4),
                                  make_subject(make_grid(false), KIND_F8)};
    pthread_t threads[2 * THREADS];
    label_cache_set_budget(budget);
    for (size_t i = 0; i < 2 * THREADS; ++i) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &subjects[i % 2]), 0);
    }
    for (size_t i = 0; i < 2 * THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    assert_true(label_cache_used() <= budget);
    finish_subject(&subjects[0]);
    finish_subject(&subjects[1]);
    assert_int_equal(label_cache_used(), 0);
}

/* The first budget has room for some of the labels, so tables are evicted while threads use them.
 * The second has room for the rows, which threads compute together. */
TEST(threads_share_labels_and_rows)
{
    ask_in_threads(100000);
    ask_in_threads(AMPLE);
}
