/* A query under arbitrary bytes: what is understood is, written out again with every byte escaped,
 * understood the same. */
#include "proto/text.h"
#include "server/http/request/query.h"

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

static void call(const struct query *query)
{
    bool flag = false;
    int64_t integer = 7;
    double seconds = 7;

    for (size_t i = 0; i < query->count; i++) {
        const char *name = query->parameters[i].name;

        CHECK(query_value(query, name) == query->parameters[i].value);
        if (query_flag(query, name, &flag, NULL) != STATUS_OK)
            CHECK(!flag);
        if (query_integer(query, name, -5, 5, &integer, NULL) == STATUS_OK)
            CHECK(integer >= -5 && integer <= 5);
        if (query_seconds(query, name, 60, &seconds, NULL) == STATUS_OK)
            CHECK(seconds >= 0 && seconds <= 60);
        flag = false;
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
