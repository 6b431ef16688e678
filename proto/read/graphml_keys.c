#include "proto/read/graphml_keys.h"

#include "proto/read/edge_columns.h"

#include <string.h>

/* Names of attributes together: all are looked through at each attribute of an edge. */
#define KEYS_SIZE 8192

enum status graphml_keys_add(struct graphml_keys *keys, const char *id, const char *name,
                             const char *wanted, bool *ret_is_better, struct problem *reterr)
{
    const size_t size = strlen(name) + 1;
    const size_t rank = edge_columns_rank((struct field){name, size - 1, 0}, wanted);

    if (keys->list.size > KEYS_SIZE) {
        problem_bad_graph(reterr, 0, 0, "The attributes of edges are too many.");
        problem_hint(reterr, "Write out the one that is the weight, and no others.");
        return STATUS_BAD_GRAPH;
    }
    text_append(&keys->list, id, strlen(id) + 1);
    text_append(&keys->list, name, size);
    if (text_status(&keys->list) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    *ret_is_better = rank < keys->rank && size <= sizeof(keys->weight);
    if (*ret_is_better) {
        keys->rank = rank;
        memcpy(keys->weight, name, size);
    }
    return STATUS_OK;
}

const char *graphml_keys_find(const struct graphml_keys *keys, const char *id)
{
    const char *end = keys->list.bytes + keys->list.size;
    const char *name;

    for (const char *at = keys->list.bytes; at < end; at = name + strlen(name) + 1) {
        name = at + strlen(at) + 1;
        if (strcmp(at, id) == 0) {
            return name;
        }
    }
    return NULL;
}

void graphml_keys_hint(const struct graphml_keys *keys, struct problem *reterr)
{
    const char *end = keys->list.bytes + keys->list.size;
    struct text names = {0};

    for (const char *at = keys->list.bytes; at < end; at += strlen(at) + 1) {
        at += strlen(at) + 1;
        text_printf(&names, "%s%s", names.size > 0 ? ", " : "", at);
    }
    problem_hint(
        reterr,
        names.size > 0 && text_status(&names) == STATUS_OK
            ? "weight= names one of the attributes that edges have: %s; weight=none counts "
              "each edge 1."
            : "No attribute of edges is declared: <key id=\"weight\" for=\"edge\" "
              "attr.name=\"weight\"/> with <data key=\"weight\">5</data> in the edge; weight=none "
              "counts each edge 1.",
        names.bytes);
    text_finish(&names);
}
