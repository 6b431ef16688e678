#include "proto/read/graphml_keys.h"

#include "proto/read/edge_columns.h"

#include <string.h>

enum status graphml_keys_add(struct graphml_keys *keys, const char *id, const char *name,
                             const char *wanted, bool *ret_is_better, struct problem *reterr)
{
    const size_t size = strlen(name) + 1;
    size_t rank = strcmp(name, wanted) == 0 ? 0 : NO_COLUMN;

    if (wanted[0] == '\0') {
        rank = edge_columns_rank((struct field){name, size - 1, 0});
    }
    text_append(&keys->list, id, strlen(id) + 1);
    text_append(&keys->list, name, size);
    if (text_status(&keys->list) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
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

enum status graphml_keys_check(const struct graphml_keys *keys, const char *wanted,
                               struct problem *reterr)
{
    const char *end = keys->list.bytes + keys->list.size;
    struct text names = {0};

    if (wanted[0] == '\0' || keys->rank == 0) {
        return STATUS_OK;
    }
    for (const char *at = keys->list.bytes; at < end; at += strlen(at) + 1) {
        at += strlen(at) + 1;
        text_printf(&names, "%s%s", names.size > 0 ? ", " : "", at);
    }
    problem_set(reterr, STATUS_BAD_PARAMETER, "weight=%s names no attribute that edges have.",
                wanted);
    if (names.size > 0 && text_status(&names) == STATUS_OK) {
        problem_hint(reterr, "Edges have: %s.", names.bytes);
    } else {
        problem_hint(reterr, "No <key> is for edges.");
    }
    text_finish(&names);
    return STATUS_BAD_PARAMETER;
}

enum status graphml_keys_refuse(const char *name, struct json_place place, struct problem *reterr)
{
    if (name != NULL) {
        problem_bad_graph(reterr, place.line, place.column,
                          "No attribute of the edges has a name known for weights, and there are "
                          "numbers in \"%s\".",
                          name);
        problem_hint(reterr, "weight=%s takes the weights from it.", name);
    } else {
        problem_bad_graph(reterr, place.line, place.column,
                          "The edge has a number in a label that yEd draws, or in data whose key "
                          "no <key> declares, and edges have no attribute for weights.");
        problem_hint(reterr, "Declare it: <key id=\"weight\" for=\"edge\" attr.name=\"weight\" "
                             "attr.type=\"double\"/>. In yEd, give the edges a property of their "
                             "own with the name weight.");
    }
    return STATUS_BAD_GRAPH;
}
