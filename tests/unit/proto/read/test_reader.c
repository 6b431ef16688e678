#include "proto/npy_header.h"
#include "proto/read/reader.h"
#include "proto/read/sniff.h"
#include "proto/text.h"
#include "tests/lib/test.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

static enum format sniffed(const char *text)
{
    /* The copy has no NUL after the text, so that a sanitizer detects reads beyond it. */
    const size_t size = strlen(text);
    char *bytes = malloc(size > 0 ? size : 1);
    enum format format;

    assert_non_null(bytes);
    memcpy(bytes, text, size);
    format = sniff_format(bytes, size);
    free(bytes);
    return format;
}

TEST(metis_files_are_distinguished_from_edge_lists)
{
    char ring[8192] = "2000 2000 1\n";
    char list[8192] = "1 2\n\n";
    size_t size = strlen(ring);

    assert_int_equal(sniffed("% c\n3 2\n2\n1 3\n2\n"), FORMAT_METIS);
    assert_int_equal(sniffed("3 3\n2 3\n1 3\n1 2\n"), FORMAT_METIS);
    assert_int_equal(sniffed("3 1 11 2\n1 1 2 5\n1 1 1 5\n1 1\n"), FORMAT_METIS);
    assert_int_equal(sniffed("2 0\n\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("1 0"), FORMAT_EDGES);
    assert_int_equal(sniffed("1 0 5\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("2 1\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("2 1\n2\n1"), FORMAT_METIS);
    assert_int_equal(sniffed("3 2\n2\n1 3\n2\n\n"), FORMAT_METIS);
    assert_int_equal(sniffed("3 1\n2\n1\n\n \n\n"), FORMAT_METIS);
    assert_int_equal(sniffed("3 3\n2 3\n1 3\n1 2\n1 1\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("3 2\n2\n1 x\n2\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("1 2 3\n4 5\n"), FORMAT_EDGES);
    for (unsigned row = 1; size < READER_SNIFF_SIZE; row++) {
        size += (size_t)snprintf(ring + size, sizeof ring - size, "%u 1 %u 1\n",
                                 (row + 1998) % 2000 + 1, row + 1);
    }
    assert_int_equal(sniffed(ring), FORMAT_METIS);
    /* Without weights, every line has two columns, like an edge list that begins with counts. */
    size = (size_t)snprintf(ring, sizeof ring, "2000 2000\n");
    for (unsigned row = 1; size < READER_SNIFF_SIZE; row++) {
        size += (size_t)snprintf(ring + size, sizeof ring - size, "%u %u\n",
                                 (row + 1998) % 2000 + 1, row + 1);
    }
    assert_int_equal(sniffed(ring), FORMAT_METIS);
    size = (size_t)snprintf(ring, sizeof ring, "2000 2100\n");
    for (unsigned row = 1; size < READER_SNIFF_SIZE; row++) {
        size += (size_t)snprintf(ring + size, sizeof ring - size, "%u %u 999\n", row + 1000,
                                 row + 1100);
    }
    assert_int_equal(sniffed(ring), FORMAT_EDGES);
    for (size = strlen(list); size < READER_SNIFF_SIZE;) {
        size += (size_t)snprintf(list + size, sizeof list - size, "17 1\n");
    }
    assert_int_equal(sniffed(list), FORMAT_EDGES);
}

TEST(a_document_with_a_graph_member_is_read_as_json_graph_format)
{
    assert_int_equal(sniffed("{\"graph\": {\"nodes\": {}}}"), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graph\":{\"label\":\"\\\"}\",\"x\":[{}],\"edges\":["), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graphs\" : ["), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graph\": {}, \"nodes\": [], \"edges\": []}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\": \"nodes\", \"x\": {\"edges\": []}}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\": {\"a\": {\"nodes\": 1}}, \"links\": []}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\\"), FORMAT_JSON);
}

TEST(the_first_bytes_select_the_format)
{
    assert_int_equal(sniffed("c hello\np sp 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("p edge 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c d 4\nd e 5\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("\xEF\xBB\xBF {\"n\":1}"), FORMAT_JSON);
    assert_int_equal(sniffed("%%matrixmarket matrix"), FORMAT_MTX);
    assert_int_equal(sniffed("% sym\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("\n<?xml version"), FORMAT_GRAPHML);
    assert_int_equal(sniffed("# x\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(sniff_format("\x93NUMPY\1\0", 8), FORMAT_NPY);
    assert_int_equal(sniff_format("\x03\0\0\0", 4), FORMAT_NONE);
    assert_int_equal(sniffed(""), FORMAT_NONE);
}

/* Reading the test inputs below needs much memory in relation to their length. The inputs are
 * generated one edge at a time, so that only the reader uses memory. */

#define EDGES 250000u
#define BEGIN UINT32_MAX
#define END (UINT32_MAX - 1)
#define VERTICES 500u
#define PIECE_SIZE ((size_t)1 << 15)
#define KIB 1024
/* The reader charges memory in steps of this size, and the first step is free of charge. */
#define FREE_KIB 1024

/* Returns an endpoint of an edge. The endpoints are unordered, so the reader sorts the edges. */
static unsigned end_of(uint32_t index)
{
    return (unsigned)(index * UINT64_C(2654435761) >> 7) % VERTICES + 1;
}

static void write_dimacs(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "p sp %u %u\n", VERTICES, EDGES);
    } else if (index != END) {
        text_printf(text, "a %u %u 1\n", end_of(index), end_of(index + 1));
    }
}

static void write_vertices(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_append_string(text, "p sp 1000000 0\n");
    }
}

static void write_pair(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "%u %u\n", end_of(index), end_of(index + 1));
    }
}

static void write_decimal(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "%u %u .5\n", end_of(index), end_of(index + 1));
    }
}

static void write_numbers(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "%u %u\n", 14 * index, 14 * index + 7);
    }
}

static void write_large(struct text *text, uint32_t index)
{
    if (index < 9) {
        text_printf(text, "%u %u\n", 1000000 + index, 499999 + index);
    }
}

/* Writes a ring, which has as many vertices as edges. Its paths can be longer than i4 allows. */
static void write_ring(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "p sp %u %u\n", EDGES, EDGES);
    } else if (index != END) {
        text_printf(text, "a %u %u 500000000\n", index + 1, (index + 1) % EDGES + 1);
    }
}

static void write_far(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "p sp %u 2\n", EDGES);
    } else if (index < 2) {
        text_printf(text, "a %u %u 500000000\n", index + 1, 2 - index);
    }
}

static void write_words(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "a%x b%x\n", index, index);
    }
}

static void write_pattern(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "%%%%MatrixMarket matrix coordinate pattern general\n9 9 %u\n", EDGES);
    } else if (index != END) {
        text_printf(text, "%u %u\n", end_of(index) % 9 + 1, end_of(index + 1) % 9 + 1);
    }
}

static void write_triangle(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "%%%%MatrixMarket matrix coordinate pattern symmetric\n9 9 %u\n", EDGES);
    } else if (index != END) {
        text_printf(text, "9 %u\n", end_of(index) % 9 + 1);
    }
}

static void write_array(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_append_string(text, "%%MatrixMarket matrix array integer general\n500 500\n");
    } else if (index != END) {
        text_append_string(text, "1\n");
    }
}

/* Writes METIS neighbour lists of three vertices. The list of the first vertex names the other two
 * in turn, and their lists repeat the first vertex as often. */
static void write_lists(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        text_printf(text, "3 %u\n", EDGES / 2);
    } else if (index != END) {
        text_printf(text, "%u%s", index < EDGES / 2 ? 2 + index % 2 : 1,
                    (index + 1) % (EDGES / 4) == 0 && index + 1 >= EDGES / 2 ? "\n" : " ");
    }
}

static void write_npy(struct text *text, uint32_t index)
{
    if (index == BEGIN) {
        unsigned char header[NPY_HEADER_SIZE];

        npy_header_write(KIND_U2, VERTICES, VERTICES, header);
        text_append(text, header, sizeof header);
    } else if (index != END) {
        text_append(text, "\1\0", 2);
    }
}

static void write_zeros(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "%s%c", index == 1 ? "" : "0", (index + 1) % VERTICES == 0 ? '\n' : ',');
    }
}

static void write_nthu(struct text *text, uint32_t index)
{
    const uint32_t head[2] = {VERTICES + 1, EDGES};
    const uint32_t record[3] = {end_of(index), end_of(index + 1), 1};

    if (index == BEGIN) {
        text_append(text, head, sizeof head);
    } else if (index != END) {
        text_append(text, record, sizeof record);
    }
}

static void write_compact(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "[%u,%u],", end_of(index), end_of(index + 1));
    } else {
        text_append_string(text, index == BEGIN ? "{\"n\":1001,\"edges\":[" : "[1,2]]}");
    }
}

static void write_nodes(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_printf(text, "{\"id\":%u},", index * 3);
    } else {
        text_append_string(text, index == BEGIN ? "{\"links\":[],\"nodes\":[" : "{\"id\":1}]}");
    }
}

static void write_both_ways(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_append_string(text, "{\"source\":\"a\",\"target\":\"b\",\"directed\":false},");
    } else {
        text_append_string(text, index == BEGIN ? "{\"graph\":{\"nodes\":{\"a\":{},\"b\":{}},"
                                                  "\"edges\":["
                                                : "{\"source\":\"b\",\"target\":\"a\"}]}}");
    }
}

static void write_graphml(struct text *text, uint32_t index)
{
    if (index < EDGES) {
        text_append_string(text, "<edge source=\"a\" target=\"b\"/>");
    } else {
        text_append_string(text, index == BEGIN
                                     ? "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/>"
                                     : "<node id=\"b\"/></graph></graphml>");
    }
}

static const struct costly {
    const char *name;
    enum format format;
    bool says_directed; /* the request has directed=true */
    void (*write)(struct text *text, uint32_t index);
} costly[] = {
    {"dimacs", FORMAT_DIMACS, false, write_dimacs},
    {"dimacs, vertices alone", FORMAT_DIMACS, false, write_vertices},
    {"dimacs, long ring", FORMAT_DIMACS, true, write_ring},
    {"dimacs, long, vertices", FORMAT_DIMACS, true, write_far},
    {"edges", FORMAT_EDGES, false, write_pair},
    {"edges, decimals", FORMAT_EDGES, false, write_decimal},
    {"edges, numbers", FORMAT_EDGES, false, write_numbers},
    {"edges, few large numbers", FORMAT_EDGES, false, write_large},
    {"edges, words", FORMAT_EDGES, false, write_words},
    {"mtx, pattern", FORMAT_MTX, false, write_pattern},
    {"mtx, both triangles", FORMAT_MTX, true, write_triangle},
    {"mtx, array", FORMAT_MTX, false, write_array},
    {"metis", FORMAT_METIS, false, write_lists},
    {"npy", FORMAT_NPY, false, write_npy},
    {"matrix, zeros", FORMAT_MATRIX, false, write_zeros},
    {"nthu", FORMAT_NTHU, false, write_nthu},
    {"json, compact", FORMAT_JSON, false, write_compact},
    {"json, nodes", FORMAT_JSON, false, write_nodes},
    {"jgf, both ways", FORMAT_JGF, false, write_both_ways},
    {"graphml", FORMAT_GRAPHML, false, write_graphml},
};

/* Reads a value in KiB from /proc/self/status. */
static uint64_t status_kib(const char *name)
{
    FILE *stream = fopen("/proc/self/status", "re");
    char line[256];
    uint64_t kib = 0;

    CHECK(stream != NULL);
    while (fgets(line, sizeof line, stream) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtoull(line + strlen(name) + 1, NULL, 10);
        }
    }
    CHECK(fclose(stream) == 0);
    return kib;
}

static void feed_text(struct reader *reader, struct text *text, uint64_t *ret_bytes,
                      uint64_t *ret_memory)
{
    struct problem problem = {0};

    CHECK(text_status(text) == STATUS_OK);
    if (reader_feed(reader, text->bytes, text->size, &problem) != STATUS_OK) {
        fprintf(stderr, "line %llu: %s\n", (unsigned long long)problem.line, problem.detail);
        abort();
    }
    *ret_bytes += text->size;
    *ret_memory = reader_memory(reader) > *ret_memory ? reader_memory(reader) : *ret_memory;
    text_clear(text);
}

/* Returns whether the reader uses at most the memory that it charges, plus a small margin. Runs in
 * a child process, so that the measurement includes only the reader. */
static bool is_told(const struct costly *sample)
{
    const struct graph_options options = {.has_directed = sample->says_directed, .directed = true};
    struct problem problem = {0};
    struct reader *reader;
    struct text text = {0};
    struct graph *graph;
    uint64_t bytes = 0;
    uint64_t memory = 0;

    text_reserve(&text, 2 * PIECE_SIZE);
    memset(text.bytes, 0, 2 * PIECE_SIZE);
    FILE *stream = fopen("/proc/self/clear_refs", "we");
    CHECK(stream != NULL && fputs("5", stream) >= 0 && fclose(stream) == 0);
    const uint64_t before_kib = status_kib("VmRSS");
    CHECK(reader_create(sample->format, &options, &reader) == STATUS_OK);
    sample->write(&text, BEGIN);
    for (uint32_t i = 0; i < EDGES; i++) {
        sample->write(&text, i);
        if (text.size >= PIECE_SIZE) {
            feed_text(reader, &text, &bytes, &memory);
        }
    }
    sample->write(&text, END);
    feed_text(reader, &text, &bytes, &memory);
    if (reader_finish(reader, &graph, &problem) != STATUS_OK) {
        fprintf(stderr, "%s: %s\n", sample->name, problem.detail);
        return false;
    }
    const uint64_t peak_kib = status_kib("VmHWM") - before_kib;
    const uint64_t told_kib = memory / KIB + FREE_KIB;
    print_message("%-25s %6.2f MiB: peak %7.2f MiB, told %7.2f MiB, ratio %.2f\n", sample->name,
                  (double)bytes / KIB / KIB, (double)peak_kib / KIB, (double)told_kib / KIB,
                  (double)peak_kib / (double)told_kib);
    return peak_kib * 5 <= told_kib * 6;
}

TEST(reading_any_format_needs_at_most_the_charged_memory)
{
    bool all_told = true;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    for (size_t i = 0; i < sizeof costly / sizeof costly[0]; i++) {
        int code = 0;
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            /* Meson sets MALLOC_PERTURB_, which makes malloc fill its memory. Memory that is only
             * reserved would then count as used. */
            mallopt(M_PERTURB, 0);
            _exit(is_told(&costly[i]) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &code, 0), child);
        all_told = all_told && code == 0;
    }
    assert_true(all_told);
}
