#include "server/http/upload.h"

#include "proto/graph.h"
#include "tests/unit/store_fixture.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct upload_rules rules = {
    .body_limit_bytes = 1 << 20,
    .document_limit_bytes = 4096,
};

/* Feeds a body in pieces of this size and ends it. */
static enum status end_of(const struct upload_rules *its_rules, const char *body, size_t size,
                          size_t piece, struct reader **ret_reader, json_t **ret_document,
                          struct problem *reterr)
{
    struct upload upload;

    upload_init(&upload, its_rules);
    for (size_t at = 0; at < size; at += piece) {
        upload_feed(&upload, body + at, size - at < piece ? size - at : piece);
    }
    enum status status = upload_end(&upload, ret_reader, ret_document, reterr);
    upload_finish(&upload);
    return status;
}

static uint64_t edges_of(const struct upload_rules *its_rules, const char *body, size_t size,
                         size_t piece)
{
    struct problem problem = {0};
    struct reader *reader = NULL;
    json_t *document = NULL;
    struct graph *graph;
    uint64_t count;

    assert_int_equal(end_of(its_rules, body, size, piece, &reader, &document, &problem), STATUS_OK);
    assert_null(document);
    assert_non_null(reader);
    assert_int_equal(reader_finish(reader, &graph, &problem), STATUS_OK);
    count = graph->edge_count;
    graph_destroy(graph);
    reader_destroy(reader);
    return count;
}

static void the_format_is_found_out_in_any_split(void **state)
{
    static const char *const bodies[] = {"p sp 3 2\na 1 2 5\na 2 3 5\n", "1 2 5\n2 3 5\n",
                                         "{\"n\":3,\"edges\":[[0,1,5],[1,2,5]]}"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t piece = 1; piece < 60; piece += 7) {
            assert_int_equal(edges_of(&rules, bodies[i], strlen(bodies[i]), piece), 2);
        }
    }
}

#define LISTED 400000

static uint64_t room_bytes = (uint64_t)8 * LISTED;

/* An edge from each vertex to the next one, in the layout of nthu: freed by the caller. */
static char *list_edges(size_t *ret_size)
{
    const size_t size = 8 + (size_t)12 * LISTED;
    int32_t *words = malloc(size);

    assert_non_null(words);
    words[0] = LISTED + 1;
    words[1] = LISTED;
    for (int32_t i = 0; i < LISTED; i++) {
        words[2 + 3 * i] = i;
        words[3 + 3 * i] = i + 1;
        words[4 + 3 * i] = 7;
    }
    *ret_size = size;
    return (char *)words;
}

static uint64_t its_room(void *context)
{
    const uint64_t *bytes = context;

    return *bytes;
}

static void start_large(struct upload *upload, int folder, size_t size)
{
    struct upload_rules large = rules;

    large.format = FORMAT_NTHU;
    large.body_limit_bytes = size;
    large.graph_folder = folder;
    large.announced_bytes = size;
    large.graph_room = its_room;
    large.graph_room_context = &room_bytes;
    upload_init(upload, &large);
}

/* The stream before ends on threads of its own. */
static void feed_until_it_streams(struct upload *upload, int folder, const char *body, size_t size)
{
    for (int i = 0; i < 1000; i++) {
        start_large(upload, folder, size);
        upload_feed(upload, body, 8 + 12 * 1000);
        assert_null(upload->stream);
        for (size_t at = 8 + 12 * 1000; at < size; at += 12 * 1000) {
            upload_feed(upload, body + at, 12 * 1000);
        }
        if (upload->stream != NULL) {
            return;
        }
        upload_finish(upload);
    }
    fail();
}

static void large_graphs_go_to_a_stream_while_they_come(void **state)
{
    const struct fixture *fixture = *state;
    struct upload upload;
    struct problem problem;
    struct reader *reader;
    json_t *document;
    struct graph *graph;
    size_t size;
    char *body = list_edges(&size);

    feed_until_it_streams(&upload, fixture->folder, body, size);
    assert_int_equal(upload_end(&upload, &reader, &document, &problem), STATUS_OK);
    struct graph_stream *stream = upload_take_stream(&upload);
    assert_null(upload.stream);
    upload_finish(&upload);
    assert_int_equal(reader_finish(reader, &graph, &problem), STATUS_OK);
    assert_true(reader_was_streamed(reader));
    assert_int_equal(graph->edge_count, LISTED);
    reader_destroy(reader);
    graph_destroy(graph);
    graph_stream_drop(stream);

    /* What was begun ends with its upload, and the next one may have it. */
    feed_until_it_streams(&upload, fixture->folder, body, size);
    upload_finish(&upload);
    feed_until_it_streams(&upload, fixture->folder, body, size);
    upload_finish(&upload);

    /* The last edges are not the last. */
    memcpy(body + size - (size_t)12 * 5000, body + 8, (size_t)12 * 5000);
    feed_until_it_streams(&upload, fixture->folder, body, size);
    assert_int_equal(upload_end(&upload, &reader, &document, &problem), STATUS_OK);
    assert_int_equal(reader_finish(reader, &graph, &problem), STATUS_OK);
    assert_false(reader_was_streamed(reader));
    assert_int_equal(graph->edge_count, LISTED - 5000);
    reader_destroy(reader);
    graph_destroy(graph);
    upload_finish(&upload);
    free(body);
}

static void no_graph_is_streamed_to_a_disk_without_room(void **state)
{
    const struct fixture *fixture = *state;
    struct upload upload;
    size_t size;
    char *body = list_edges(&size);

    room_bytes--;
    start_large(&upload, fixture->folder, size);
    for (size_t at = 0; at < size; at += 12 * 1000) {
        upload_feed(&upload, body + at, size - at < 12 * 1000 ? size - at : 12 * 1000);
    }
    assert_int_equal(upload.problem.status, STATUS_OK);
    assert_null(upload.stream);
    upload_finish(&upload);
    room_bytes++;
    free(body);
}

static void a_long_body_goes_to_the_reader_on_its_way(void **state)
{
    size_t size = 0;
    char *body = malloc(200000);

    (void)state;
    assert_non_null(body);
    for (int i = 0; i < 10000; i++) {
        size += (size_t)snprintf(body + size, 200000 - size, "%d %d 1\n", i, i + 1);
    }
    assert_int_equal(edges_of(&rules, body, size, 1000), 10000);
    free(body);
}

static void a_format_that_is_said_is_not_guessed(void **state)
{
    static const int32_t body[] = {2, 1, 0, 1, 5};
    struct upload_rules nthu = rules;

    (void)state;
    nthu.format = FORMAT_NTHU;
    assert_int_equal(edges_of(&nthu, (const char *)body, sizeof body, 3), 1);
}

static void a_document_about_a_stored_graph_is_handed_out(void **state)
{
    static const char body[] = "{\"graph\":\"rome\",\"priority\":3}";
    struct reader *reader = NULL;
    json_t *document = NULL;
    struct problem problem;

    (void)state;
    assert_int_equal(end_of(&rules, body, sizeof body - 1, 5, &reader, &document, &problem),
                     STATUS_OK);
    assert_null(reader);
    assert_string_equal(json_string_value(json_object_get(document, "graph")), "rome");
    json_decref(document);
}

static void a_graph_with_a_member_graph_is_a_graph(void **state)
{
    static const char body[] = "{\"graph\":{},\"nodes\":[{\"id\":1},{\"id\":2}],"
                               "\"edges\":[{\"source\":1,\"target\":2}]}";

    (void)state;
    assert_int_equal(edges_of(&rules, body, sizeof body - 1, 9), 1);
}

static void a_body_is_decoded_on_its_way(void **state)
{
    /* gzip of "1 2 5\n2 3 5\n". */
    static const unsigned char packed[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x54, 0x30, 0x52, 0x30,
        0xe5, 0x32, 0x52, 0x30, 0x06, 0x92, 0x00, 0x87, 0x52, 0x2b, 0xe5, 0x0c, 0x00, 0x00, 0x00};
    struct upload_rules gzip = rules;

    (void)state;
    gzip.coding = CODING_GZIP;
    for (size_t piece = 1; piece < 40; piece += 6) {
        assert_int_equal(edges_of(&gzip, (const char *)packed, sizeof packed, piece), 2);
    }
}

static void refused(const char *body, size_t size, enum status expected)
{
    struct reader *reader = NULL;
    json_t *document = NULL;
    struct problem problem = {0};

    assert_int_equal(end_of(&rules, body, size, 1000, &reader, &document, &problem), expected);
    assert_int_equal(problem.status, expected);
    assert_null(reader);
}

static void what_is_no_graph_is_refused(void **state)
{
    char *long_body = malloc((1 << 20) + 1);

    (void)state;
    assert_non_null(long_body);
    refused("", 0, STATUS_EMPTY_BODY);
    refused("\0\0\0\0", 4, STATUS_UNSUPPORTED_MEDIA_TYPE);
    refused("p sp x\n", 7, STATUS_BAD_GRAPH);
    memset(long_body, '\n', (1 << 20) + 1);
    refused(long_body, (1 << 20) + 1, STATUS_BODY_TOO_LARGE);
    memset(long_body, 0, 1 << 20);
    refused(long_body, 1 << 20, STATUS_UNSUPPORTED_MEDIA_TYPE);
    free(long_body);
}

static void the_vertex_limit_holds_from_the_header_line(void **state)
{
    struct upload_rules small = rules;
    struct upload upload;

    (void)state;
    small.options.vertex_limit = 100;
    small.format = FORMAT_DIMACS;
    upload_init(&upload, &small);
    upload_feed(&upload, "p sp 101 1\n", 11);
    assert_int_equal(upload.problem.status, STATUS_TOO_LARGE);
    assert_true(upload.problem.has_limit);
    assert_null(upload.reader);
    upload_finish(&upload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_format_is_found_out_in_any_split),
        cmocka_unit_test(a_long_body_goes_to_the_reader_on_its_way),
        FIXTURE_TEST(large_graphs_go_to_a_stream_while_they_come),
        FIXTURE_TEST(no_graph_is_streamed_to_a_disk_without_room),
        cmocka_unit_test(a_format_that_is_said_is_not_guessed),
        cmocka_unit_test(a_document_about_a_stored_graph_is_handed_out),
        cmocka_unit_test(a_graph_with_a_member_graph_is_a_graph),
        cmocka_unit_test(a_body_is_decoded_on_its_way),
        cmocka_unit_test(what_is_no_graph_is_refused),
        cmocka_unit_test(the_vertex_limit_holds_from_the_header_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
