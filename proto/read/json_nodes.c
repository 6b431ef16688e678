#include "proto/read/json_nodes.h"

#include "proto/number.h"

#include <stdlib.h>

enum status json_nodes_init(struct json_nodes *nodes, struct reader *reader)
{
    *nodes = (struct json_nodes){.reader = reader};
    return name_table_create(&nodes->names);
}

void json_nodes_finish(struct json_nodes *nodes)
{
    name_table_destroy(nodes->names);
    free(nodes->vertices);
    *nodes = (struct json_nodes){0};
}

uint64_t json_nodes_memory(const struct json_nodes *nodes)
{
    return (uint64_t)nodes->capacity * sizeof(*nodes->vertices) + name_table_memory(nodes->names);
}

static enum status add_vertex(struct json_nodes *nodes, const struct json_token *token,
                              uint32_t row, struct problem *reterr)
{
    if (row >= nodes->capacity) {
        const uint32_t capacity = nodes->capacity == 0 ? 256 : nodes->capacity * 2;

        STATUS_TRY(edge_array_resize(&nodes->vertices, capacity, sizeof(*nodes->vertices)));
        nodes->capacity = capacity;
    }
    nodes->vertices[row] = (struct json_vertex){
        .first = token->place,
        .position = NO_VERTEX,
        .is_string = token->kind == JSON_TOKEN_STRING,
    };
    nodes->has_string |= nodes->vertices[row].is_string;
    return graph_builder_admit(&nodes->reader->builder, (uint64_t)row + 1, reterr);
}

enum status json_nodes_name(struct json_nodes *nodes, const struct json_token *token,
                            uint32_t *ret_row, struct problem *reterr)
{
    const uint32_t count = name_table_count(nodes->names);
    int64_t number;

    if (token->kind == JSON_TOKEN_NUMBER
            ? !number_is_canonical_integer(token->text, token->size, &number)
            : token->kind != JSON_TOKEN_STRING) {
        return json_token_refuse(token, "The name of a vertex is neither an integer nor a string.",
                                 NULL, reterr);
    }
    if (token->size > VERTEX_NAME_LIMIT) {
        return json_token_refuse(token, "The name of the vertex is longer than 1024 bytes.", NULL,
                                 reterr);
    }
    STATUS_TRY(name_table_intern(nodes->names, token->text, token->size, ret_row));
    if (*ret_row == count) {
        return add_vertex(nodes, token, *ret_row, reterr);
    }
    if (nodes->vertices[*ret_row].is_string != (token->kind == JSON_TOKEN_STRING)) {
        return json_token_refuse(token, "The same name occurs as a string and as a number.", NULL,
                                 reterr);
    }
    return STATUS_OK;
}

enum status json_nodes_list(struct json_nodes *nodes, const struct json_token *token,
                            struct problem *reterr)
{
    uint32_t row;
    STATUS_TRY(json_nodes_name(nodes, token, &row, reterr));
    if (nodes->vertices[row].position != NO_VERTEX) {
        return json_token_refuse(token, "Two nodes have this id.", NULL, reterr);
    }
    nodes->vertices[row].position = nodes->listed++;
    return STATUS_OK;
}

static enum status refuse_unlisted(const struct json_nodes *nodes, uint32_t row,
                                   struct problem *reterr)
{
    const struct json_place *place = &nodes->vertices[row].first;
    size_t size;
    const char *name = name_table_get(nodes->names, row, &size);

    return problem_bad_graph(reterr, place->line, place->column,
                             "Vertex '%.*s' is not in the list of nodes.",
                             size > 40 ? 40 : (int)size, name);
}

enum status json_nodes_build(struct json_nodes *nodes, bool directed, struct graph **ret_graph,
                             struct problem *reterr)
{
    const uint32_t count = name_table_count(nodes->names);
    uint32_t *row_of = calloc((size_t)count + 1, sizeof(*row_of));
    enum status status = row_of != NULL ? STATUS_OK : STATUS_NO_MEMORY;

    for (uint32_t row = 0; row < count && status == STATUS_OK; row++) {
        row_of[row] = nodes->vertices[row].position;
        status = row_of[row] == NO_VERTEX ? refuse_unlisted(nodes, row, reterr) : STATUS_OK;
    }
    STATUS_THEN(status, reader_finish_names(nodes->reader, &nodes->names, row_of,
                                            !nodes->has_string, directed, ret_graph, reterr));
    free(row_of);
    return status;
}
