#include "server/http/request/upload.h"

#include "proto/graph.h"
#include "proto/npy_header.h"
#include "tests/lib/test.h"

#include <jansson.h>
#include <zstd.h>

static const struct upload_rules rules = {
    .body_limit_bytes = 1 << 20,
    .document_limit_bytes = 4096,
};

/* Passes a body to an upload in pieces of `piece` bytes, ends it, and returns the final status. */
static enum status end_of(const struct upload_rules *its_rules, const char *body, size_t size,
                          size_t piece, struct reader **ret_reader, json_t **ret_document,
                          struct problem *reterr)
{
    struct upload upload;

    upload = (struct upload){.rules = *its_rules, .format = its_rules->format};
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

TEST(the_format_is_detected_however_the_body_is_split)
{
    static const char *const bodies[] = {"p sp 3 2\na 1 2 5\na 2 3 5\n", "1 2 5\n2 3 5\n",
                                         "{\"n\":3,\"edges\":[[0,1,5],[1,2,5]]}"};

    for (size_t i = 0; i < 3; i++) {
        for (size_t piece = 1; piece < 60; piece += 7) {
            assert_int_equal(edges_of(&rules, bodies[i], strlen(bodies[i]), piece), 2);
        }
    }
}

TEST(a_long_body_is_read_while_it_arrives)
{
    size_t size = 0;
    char *body = malloc(200000);

    assert_non_null(body);
    for (int i = 0; i < 10000; i++) {
        size += (size_t)snprintf(body + size, 200000 - size, "%d %d 1\n", i, i + 1);
    }
    assert_int_equal(edges_of(&rules, body, size, 1000), 10000);
    free(body);
}

TEST(the_format_is_not_detected_if_it_is_given)
{
    static const int32_t body[] = {2, 1, 0, 1, 5};
    struct upload_rules nthu = rules;

    nthu.format = FORMAT_NTHU;
    assert_int_equal(edges_of(&nthu, (const char *)body, sizeof body, 3), 1);
}

TEST(a_document_that_names_a_stored_graph_is_returned)
{
    static const char body[] = "{\"graph\":\"rome\",\"priority\":3}";
    struct reader *reader = NULL;
    json_t *document = NULL;
    struct problem problem;

    assert_int_equal(end_of(&rules, body, sizeof body - 1, 5, &reader, &document, &problem),
                     STATUS_OK);
    assert_null(reader);
    assert_string_equal(json_string_value(json_object_get(document, "graph")), "rome");
    json_decref(document);
}

/* If each byte caused a search of the whole body, the thread would be busy for minutes. */
TEST(a_document_may_arrive_byte_by_byte)
{
    const size_t size = 1 << 20;
    struct upload_rules large = rules;
    struct reader *reader = NULL;
    json_t *document = NULL;
    struct problem problem;
    char *body = malloc(size);

    assert_non_null(body);
    memset(body, ' ', size);
    memcpy(body, "{\"graph\":\"rome\"", 15);
    body[size - 1] = '}';
    large.document_limit_bytes = size;
    assert_int_equal(end_of(&large, body, size, 1, &reader, &document, &problem), STATUS_OK);
    assert_null(reader);
    assert_string_equal(json_string_value(json_object_get(document, "graph")), "rome");
    json_decref(document);
    free(body);
}

TEST(a_json_graph_may_have_a_member_named_graph)
{
    static const char body[] = "{\"graph\":{},\"nodes\":[{\"id\":1},{\"id\":2}],"
                               "\"edges\":[{\"source\":1,\"target\":2}]}";

    assert_int_equal(edges_of(&rules, body, sizeof body - 1, 9), 1);
}

TEST(a_body_is_decoded_while_it_arrives)
{
    /* The text "1 2 5\n2 3 5\n", compressed with gzip. */
    static const unsigned char packed[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x54, 0x30, 0x52, 0x30,
        0xe5, 0x32, 0x52, 0x30, 0x06, 0x92, 0x00, 0x87, 0x52, 0x2b, 0xe5, 0x0c, 0x00, 0x00, 0x00};
    struct upload_rules gzip = rules;

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

TEST(bodies_without_a_graph_are_refused)
{
    char *long_body = malloc((1 << 20) + 1);

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

TEST(a_header_with_more_vertices_than_the_limit_is_refused)
{
    struct upload_rules small = rules;
    struct upload upload;

    small.options.vertex_limit = 100;
    small.format = FORMAT_DIMACS;
    upload = (struct upload){.rules = small, .format = small.format};
    upload_feed(&upload, "p sp 101 1\n", 11);
    assert_int_equal(upload.problem.status, STATUS_TOO_LARGE);
    assert_true(upload.problem.has_limit);
    assert_null(upload.reader);
    upload_finish(&upload);
}

/* Each element of this matrix has two bytes in the body, but becomes an edge of twenty bytes. */
TEST(an_upload_is_charged_for_the_memory_of_its_edges)
{
    static struct upload_memory memory;
    const uint32_t side = 500;
    const size_t size = NPY_HEADER_SIZE + (size_t)side * side * sizeof(uint16_t);
    unsigned char *body = calloc(1, size);
    struct upload upload;

    assert_non_null(body);
    npy_header_write(KIND_U2, side, side, body);
    memory = (struct upload_memory){.limit_bytes = UINT64_C(64) << 20};
    upload = (struct upload){.rules = rules, .format = rules.format};
    upload_memory_init_share(&upload.share, &memory, NULL, 0);
    for (size_t at = 0; at < size; at += 1000) {
        upload_feed(&upload, (const char *)body + at, size - at < 1000 ? size - at : 1000);
    }
    assert_int_equal(upload.problem.status, STATUS_OK);
    assert_in_range(memory.taken_bytes, (uint64_t)side * side * 20, (uint64_t)side * side * 25);
    upload_finish(&upload);
    assert_int_equal(memory.taken_bytes, 0);
    free(body);
}

/* The body consists of empty lines, which zstd compresses to a few bytes. The window of the decoder
 * is as large as the decompressed body. */
TEST(an_upload_is_charged_for_the_window_of_its_decoder)
{
    static struct upload_memory memory;
    const size_t size = 4 << 20;
    char *body = malloc(size);
    const size_t room = ZSTD_compressBound(size);
    char *packed = malloc(room);
    struct upload_rules zstd = rules;
    struct upload upload;

    assert_non_null(body);
    assert_non_null(packed);
    memset(body, '\n', size);
    memcpy(body, "1 2 3\n", 6);
    const size_t packed_size = ZSTD_compress(packed, room, body, size, 1);
    assert_false(ZSTD_isError(packed_size));
    zstd.coding = CODING_ZSTD;
    zstd.format = FORMAT_EDGES;
    memory = (struct upload_memory){.limit_bytes = UINT64_C(64) << 20};
    upload = (struct upload){.rules = zstd, .format = zstd.format};
    upload_memory_init_share(&upload.share, &memory, NULL, 0);
    upload_feed(&upload, packed, packed_size);
    assert_int_equal(upload.problem.status, STATUS_OK);
    assert_int_equal(memory.taken_bytes, size + UPLOAD_MEMORY_STEP_BYTES);
    upload_finish(&upload);
    free(packed);
    free(body);
}
