#include "proto/read/reader.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static enum format sniffed(const char *text)
{
    return reader_sniff(text, strlen(text));
}

static void metis_is_told_from_edge_buffers(void **state)
{
    char ring[8192] = "2000 2000 1\n";
    char list[8192] = "1 2\n\n";
    size_t size = strlen(ring);

    (void)state;
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
    while (size < READER_SNIFF_SIZE) {
        size += (size_t)snprintf(ring + size, sizeof ring - size, "17 1 19 1\n");
    }
    assert_int_equal(sniffed(ring), FORMAT_METIS);
    for (size = strlen(list); size < READER_SNIFF_SIZE;) {
        size += (size_t)snprintf(list + size, sizeof list - size, "17 1\n");
    }
    assert_int_equal(sniffed(list), FORMAT_EDGES);
}

static void graphs_within_a_document_are_json_graph(void **state)
{
    (void)state;
    assert_int_equal(sniffed("{\"graph\": {\"nodes\": {}}}"), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graph\":{\"label\":\"\\\"}\",\"x\":[{}],\"edges\":["), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graphs\" : ["), FORMAT_JGF);
    assert_int_equal(sniffed("{\"graph\": {}, \"nodes\": [], \"edges\": []}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\": \"nodes\", \"x\": {\"edges\": []}}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\": {\"a\": {\"nodes\": 1}}, \"links\": []}"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph"), FORMAT_JSON);
    assert_int_equal(sniffed("{\"graph\\"), FORMAT_JSON);
}

static void first_bytes_tell(void **state)
{
    (void)state;
    assert_int_equal(sniffed("c hello\np sp 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("p edge 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c d 4\nd e 5\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("\xEF\xBB\xBF {\"n\":1}"), FORMAT_JSON);
    assert_int_equal(sniffed("%%matrixmarket matrix"), FORMAT_MTX);
    assert_int_equal(sniffed("% sym\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("\n<?xml version"), FORMAT_GRAPHML);
    assert_int_equal(sniffed("# x\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(reader_sniff("\x93NUMPY\1\0", 8), FORMAT_NPY);
    assert_int_equal(reader_sniff("\x03\0\0\0", 4), FORMAT_NONE);
    assert_int_equal(sniffed(""), FORMAT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metis_is_told_from_edge_buffers),
        cmocka_unit_test(graphs_within_a_document_are_json_graph),
        cmocka_unit_test(first_bytes_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
