/* Parses arbitrary bytes as a query. If the query is accepted, the same query with every byte
 * escaped must have the same meaning. */
#include "proto/text.h"
#include "server/http/request/query.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void escape(struct text *text, const char *word)
{
    for (; *word != '\0'; word++)
        text_printf(text, "%%%02X", (unsigned)(unsigned char)*word);
}

static char *write_again(const struct query *query)
{
    struct text text = {0};

    text_append_string(&text, "");
    for (size_t i = 0; i < query->count; i++) {
        text_append_string(&text, i > 0 ? "&" : "");
        escape(&text, query->parameters[i].name);
        text_append_char(&text, '=');
        escape(&text, query->parameters[i].value);
    }
    CHECK(text_status(&text) == STATUS_OK);
    char *copy = strndup(text.size > 0 ? text.bytes : "", text.size);
    CHECK(copy != NULL);
    text_finish(&text);
    return copy;
}

/* Checks that accepted values have the type of their parameter and are within its limits. */
static void call(const struct query *query)
{
    const char *known[QUERY_LIMIT + 1] = {NULL};

    for (size_t i = 0; i < query->count; i++) {
        known[i] = query->parameters[i].name;
        CHECK(query_value(query, known[i]) == query->parameters[i].value);
    }
    if (query_check(query, known, 60, NULL) == STATUS_OK) {
        const int64_t limit = query_integer(query, "limit", 7);
        const double wait_s = query_real(query, "wait", 7);

        CHECK(limit >= 1 && limit <= 1000);
        CHECK(wait_s >= 0 && wait_s <= 60);
        CHECK(!isnan(query_real(query, "lon", 7)));
        (void)query_flag(query, "directed", false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = calloc(size + 1, 1);
    struct query query;
    struct query again;

    CHECK(text != NULL);
    memcpy(text, bytes, size);
    if (query_parse(text, &query, NULL) == STATUS_OK) {
        CHECK(query.count <= QUERY_LIMIT);
        char *copy = write_again(&query);

        CHECK(query_parse(copy, &again, NULL) == STATUS_OK);
        CHECK(again.count == query.count);
        for (size_t i = 0; i < query.count; i++) {
            CHECK(strcmp(again.parameters[i].name, query.parameters[i].name) == 0);
            CHECK(strcmp(again.parameters[i].value, query.parameters[i].value) == 0);
        }
        call(&query);
        free(copy);
    }
    free(text);
    return 0;
}
