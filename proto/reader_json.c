/* JSON graphs, read token by token without a tree. Compact: {"n":5,"edges":[[u,v,w],..]}, vertices
 * 0..n-1. Node-link (NetworkX): {"nodes":[{"id":..},..],"links"|"edges":[{"source":..,..},..]}.
 * Members come in any order, so what needs all of them is judged at the end. */
#include "proto/json_nodes.h"
#include "proto/json_scanner.h"
#include "proto/number.h"
#include "proto/reader_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LIMIT 512

enum member { /* of the document */
              MEMBER_OTHER,
              MEMBER_N,
              MEMBER_DIRECTED,
              MEMBER_NODES,
              MEMBER_EDGES,
              MEMBER_LINKS,
              MEMBER_COUNT
};

enum part { PART_OTHER, PART_ID, PART_SOURCE, PART_TARGET, PART_WEIGHT };

struct json {
    struct reader reader;
    struct graph_options options;
    struct json_scanner scanner;
    struct graph_builder *builder;
    bool seen[MEMBER_COUNT];
    enum member member;
    bool directed;
    int64_t vertex_count;      /* "n" */
    bool compact;              /* some edge was an array */
    bool linked;               /* some edge was an object */
    struct json_place element; /* where the edge or node at hand begins */
    enum part part;            /* of it */
    unsigned part_count;       /* of an array */
    bool has_id;
    bool has_end[2];
    uint32_t ends[2];
    bool has_weight;
    bool any_weight;
    char weight[NUMBER_LIMIT];
    size_t weight_size;
    struct json_place weight_place;
    uint32_t largest; /* vertex of a compact edge, and where it stood */
    struct json_place largest_place;
    struct json_nodes nodes; /* of a node-link document */
};

static bool is_begin(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_OBJECT_BEGIN || token->kind == JSON_TOKEN_ARRAY_BEGIN;
}

static bool is_end(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_OBJECT_END || token->kind == JSON_TOKEN_ARRAY_END;
}

/* A key may hold a NUL of its own. */
static bool key_is(const struct json_token *key, const char *name)
{
    return strlen(name) == key->size && memcmp(name, key->text, key->size) == 0;
}

static enum status take_member_name(struct json *json, const struct json_token *token,
                                    struct problem *reterr)
{
    static const char *const names[MEMBER_COUNT] = {
        [MEMBER_OTHER] = "",      [MEMBER_N] = "n",         [MEMBER_DIRECTED] = "directed",
        [MEMBER_NODES] = "nodes", [MEMBER_EDGES] = "edges", [MEMBER_LINKS] = "links",
    };
    int member = MEMBER_COUNT - 1;

    while (member > MEMBER_OTHER && !key_is(token, names[member])) {
        member--;
    }
    json->member = (enum member)member;
    if (member == MEMBER_OTHER) {
        return STATUS_OK;
    }
    if (json->seen[member]) {
        return json_scanner_refuse(token->place, reterr, "The member occurs twice.");
    }
    json->seen[member] = true;
    if (json->seen[MEMBER_EDGES] && json->seen[MEMBER_LINKS]) {
        return json_scanner_refuse(token->place, reterr, "There are both \"edges\" and \"links\".");
    }
    return STATUS_OK;
}

static enum status take_vertex_count(struct json *json, const struct json_token *token,
                                     struct problem *reterr)
{
    if (token->kind != JSON_TOKEN_NUMBER ||
        !number_parse_integer(token->text, token->size, &json->vertex_count) ||
        json->vertex_count < 0) {
        return json_scanner_refuse(token->place, reterr, "\"n\" is no count of vertices.");
    }
    return graph_builder_admit(json->builder, (uint64_t)json->vertex_count, reterr);
}

static enum status take_member_value(struct json *json, const struct json_token *token,
                                     struct problem *reterr)
{
    switch (json->member) {
    case MEMBER_N:
        return take_vertex_count(json, token, reterr);
    case MEMBER_DIRECTED:
        json->directed = token->kind == JSON_TOKEN_TRUE;
        if (token->kind != JSON_TOKEN_TRUE && token->kind != JSON_TOKEN_FALSE) {
            return json_scanner_refuse(token->place, reterr,
                                       "\"directed\" is neither true nor false.");
        }
        return STATUS_OK;
    case MEMBER_NODES:
    case MEMBER_EDGES:
    case MEMBER_LINKS:
        if (token->kind != JSON_TOKEN_ARRAY_BEGIN && token->kind != JSON_TOKEN_ARRAY_END) {
            return json_scanner_refuse(token->place, reterr, "An array should be here.");
        }
        return STATUS_OK;
    case MEMBER_OTHER:
    case MEMBER_COUNT:
        break;
    }
    return STATUS_OK;
}

static enum status take_id(struct json *json, const struct json_token *token,
                           struct problem *reterr)
{
    if (json->has_id) {
        return json_scanner_refuse(token->place, reterr, "The member occurs twice.");
    }
    json->has_id = true;
    return json_nodes_list(&json->nodes, token, reterr);
}

static enum status take_weight(struct json *json, const struct json_token *token,
                               struct problem *reterr)
{
    if (token->kind != JSON_TOKEN_NUMBER || token->size >= NUMBER_LIMIT) {
        return json_scanner_refuse(token->place, reterr, "The weight is not a number.");
    }
    if (json->has_weight) {
        return json_scanner_refuse(token->place, reterr, "The member occurs twice.");
    }
    memcpy(json->weight, token->text, token->size);
    json->weight_size = token->size;
    json->weight_place = token->place;
    json->has_weight = true;
    json->any_weight = true;
    return STATUS_OK;
}

/* A vertex of a compact edge; whether it is below n is known once n is. */
static enum status take_number_end(struct json *json, const struct json_token *token,
                                   struct problem *reterr)
{
    int64_t vertex;

    if (token->kind != JSON_TOKEN_NUMBER ||
        !number_is_canonical_integer(token->text, token->size, &vertex) || vertex < 0 ||
        vertex >= NO_VERTEX) {
        return json_scanner_refuse(token->place, reterr, "A vertex is an integer from 0 to n-1.");
    }
    json->ends[json->part_count] = (uint32_t)vertex;
    if (json->largest_place.line == 0 || vertex > json->largest) {
        json->largest = (uint32_t)vertex;
        json->largest_place = token->place;
    }
    return STATUS_OK;
}

static enum status take_array_part(struct json *json, const struct json_token *token,
                                   struct problem *reterr)
{
    enum status status;

    if (json->part_count < 2) {
        status = take_number_end(json, token, reterr);
    } else if (json->part_count == 2) {
        status = take_weight(json, token, reterr);
    } else {
        status = json_scanner_refuse(token->place, reterr, "An edge is [source, target, weight].");
    }
    json->part_count++;
    return status;
}

static void take_part_name(struct json *json, const struct json_token *token)
{
    const char *weight = json->options.weight[0] != '\0' ? json->options.weight : "weight";

    json->part = PART_OTHER;
    if (json->member == MEMBER_NODES) {
        if (key_is(token, "id")) {
            json->part = PART_ID;
        }
    } else if (key_is(token, "source")) {
        json->part = PART_SOURCE;
    } else if (key_is(token, "target")) {
        json->part = PART_TARGET;
    } else if (key_is(token, weight)) {
        json->part = PART_WEIGHT;
    }
}

static enum status take_end(struct json *json, const struct json_token *token, unsigned end,
                            struct problem *reterr)
{
    if (json->has_end[end]) {
        return json_scanner_refuse(token->place, reterr, "The member occurs twice.");
    }
    json->has_end[end] = true;
    return json_nodes_name(&json->nodes, token, &json->ends[end], reterr);
}

static enum status take_object_part(struct json *json, const struct json_token *token,
                                    struct problem *reterr)
{
    switch (json->part) {
    case PART_ID:
        return take_id(json, token, reterr);
    case PART_SOURCE:
        return take_end(json, token, 0, reterr);
    case PART_TARGET:
        return take_end(json, token, 1, reterr);
    case PART_WEIGHT:
        return take_weight(json, token, reterr);
    case PART_OTHER:
        break;
    }
    return STATUS_OK;
}

static enum status begin_element(struct json *json, const struct json_token *token,
                                 struct problem *reterr)
{
    bool array = token->kind == JSON_TOKEN_ARRAY_BEGIN;

    json->element = token->place;
    json->has_id = false;
    json->has_weight = false;
    json->has_end[0] = false;
    json->has_end[1] = false;
    json->part_count = 0;
    json->part = PART_OTHER;
    if (!is_begin(token) || (json->member == MEMBER_NODES && array)) {
        return json_scanner_refuse(json->element, reterr,
                                   json->member == MEMBER_NODES
                                       ? "A node is an object with an id."
                                       : "An edge is an array or an object.");
    }
    if (json->member == MEMBER_NODES) {
        return STATUS_OK;
    }
    if (array) {
        enum status status = reader_admit_weight_name(&json->options, reterr);

        if (status != STATUS_OK) {
            return status;
        }
    }
    json->compact |= array;
    json->linked |= !array;
    if (json->compact && json->linked) {
        return json_scanner_refuse(json->element, reterr,
                                   "Some edges are arrays and some are objects.");
    }
    return STATUS_OK;
}

static enum status end_element(struct json *json, struct problem *reterr)
{
    enum status status;

    if (json->member == MEMBER_NODES) {
        return json->has_id ? STATUS_OK
                            : json_scanner_refuse(json->element, reterr, "The node has no id.");
    }
    if (json->compact ? json->part_count < 2 : !json->has_end[0] || !json->has_end[1]) {
        return json_scanner_refuse(json->element, reterr, "The edge has no source or no target.");
    }
    if (!json->has_weight) {
        status = graph_builder_add_integer(json->builder, json->ends[0], json->ends[1], 1);
        if (reader_add_failed(status, &json->options, reterr)) {
            problem_at(reterr, json->element.line, json->element.column);
        }
        return status;
    }
    status = reader_add_edge(json->builder, &json->options, json->ends, json->weight,
                             json->weight_size, json->weight_place.column, reterr);
    if (status != STATUS_OK) {
        problem_at(reterr, json->weight_place.line, json->weight_place.column);
    }
    return status;
}

static bool is_list(enum member member)
{
    return member == MEMBER_NODES || member == MEMBER_EDGES || member == MEMBER_LINKS;
}

static enum status take_token(void *context, const struct json_token *token, struct problem *reterr)
{
    struct json *json = context;
    bool in_array = json->compact && json->member != MEMBER_NODES;

    if (token->depth == 0) {
        if (token->kind == JSON_TOKEN_OBJECT_BEGIN || token->kind == JSON_TOKEN_OBJECT_END) {
            return STATUS_OK;
        }
        return json_scanner_refuse(token->place, reterr, "The document is not an object.");
    }
    if (token->depth == 1 && token->kind == JSON_TOKEN_KEY) {
        return take_member_name(json, token, reterr);
    }
    if (token->depth == 1) {
        return take_member_value(json, token, reterr);
    }
    if (!is_list(json->member)) {
        return STATUS_OK;
    }
    if (token->depth == 2) {
        return is_end(token) ? end_element(json, reterr) : begin_element(json, token, reterr);
    }
    if (token->depth > 3 || is_end(token)) {
        return STATUS_OK;
    }
    if (in_array) {
        return take_array_part(json, token, reterr);
    }
    if (token->kind == JSON_TOKEN_KEY) {
        take_part_name(json, token);
        return STATUS_OK;
    }
    return take_object_part(json, token, reterr);
}

static enum status check_count(const struct json *json, uint64_t found, struct problem *reterr)
{
    if (!json->options.has_vertex_count || json->options.vertex_count == found) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_PARAMETER,
                       "The parameter n is %u, but the document has %llu vertices.",
                       json->options.vertex_count, (unsigned long long)found);
}

static enum status finish_compact(struct json *json, struct graph **ret_graph,
                                  struct problem *reterr)
{
    struct vertex_names *names = NULL;
    enum status status;

    if (!json->seen[MEMBER_N] && json->options.has_vertex_count) {
        json->vertex_count = json->options.vertex_count;
    } else if (!json->seen[MEMBER_N]) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "There is no \"n\" and there are no \"nodes\".");
    }
    status = check_count(json, (uint64_t)json->vertex_count, reterr);
    if (status == STATUS_OK) {
        status = graph_builder_admit(json->builder, (uint64_t)json->vertex_count, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (json->largest_place.line > 0 && json->largest >= json->vertex_count) {
        problem_set(reterr, STATUS_BAD_GRAPH, "Vertex %u is outside 0..n-1 with n=%lld.",
                    json->largest, (long long)json->vertex_count);
        problem_at(reterr, json->largest_place.line, json->largest_place.column);
        return STATUS_BAD_GRAPH;
    }
    if (vertex_names_create_range((uint32_t)json->vertex_count, 0, &names) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
    }
    status =
        graph_builder_finish(json->builder, &names, NULL,
                             !json->seen[MEMBER_DIRECTED] || json->directed, ret_graph, reterr);
    vertex_names_destroy(names);
    return status;
}

static enum status finish_linked(struct json *json, struct graph **ret_graph,
                                 struct problem *reterr)
{
    enum status status = check_count(json, json->nodes.listed, reterr);
    struct vertex_names *names;
    uint32_t *row_of;

    if (status != STATUS_OK) {
        return status;
    }
    if (json->options.weight[0] != '\0' && json->linked && !json->any_weight) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "weight=%s names an attribute that no edge has.", json->options.weight);
    }
    status = json_nodes_order(&json->nodes, &names, &row_of, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    status = graph_builder_finish(json->builder, &names, row_of, json->directed, ret_graph, reterr);
    vertex_names_destroy(names);
    free(row_of);
    return status;
}

static void note(struct json *json)
{
    const char *weight = json->options.weight[0] != '\0' ? json->options.weight : "weight";
    struct reader_notes *notes = &json->reader.notes;
    bool listed = json->seen[MEMBER_NODES];

    snprintf(notes->variant, sizeof notes->variant, listed ? "node-link" : "compact");
    snprintf(notes->weight, sizeof notes->weight, "%s",
             !json->any_weight ? ""
             : listed          ? weight
                               : READER_WEIGHT_VALUE);
    notes->says_direction = json->seen[MEMBER_DIRECTED];
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct json *json = (struct json *)reader;
    enum status status = json_scanner_end(&json->scanner, reterr);

    if (status != STATUS_OK) {
        return status;
    }
    if (!json->seen[MEMBER_EDGES] && !json->seen[MEMBER_LINKS]) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is neither \"edges\" nor \"links\".");
    }
    if (json->compact && json->seen[MEMBER_NODES]) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "There are \"nodes\", but the edges are arrays.");
    }
    if (json->linked && !json->seen[MEMBER_NODES]) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "The list of \"nodes\" is missing.");
    }
    note(json);
    if (json->seen[MEMBER_NODES]) {
        return finish_linked(json, ret_graph, reterr);
    }
    return finish_compact(json, ret_graph, reterr);
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    return json_scanner_feed(&((struct json *)reader)->scanner, bytes, size, reterr);
}

static void destroy(struct reader *reader)
{
    struct json *json = (struct json *)reader;

    json_scanner_finish(&json->scanner);
    graph_builder_destroy(json->builder);
    json_nodes_finish(&json->nodes);
    free(json);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct json *json = calloc(1, sizeof *json);

    if (json == NULL) {
        return STATUS_NO_MEMORY;
    }
    json->reader.class_ = &reader_json_class;
    json->options = *options;
    json_scanner_init(&json->scanner);
    json->scanner.take = take_token;
    json->scanner.context = json;
    if (graph_builder_create(options, &json->builder) != STATUS_OK ||
        json_nodes_init(&json->nodes, json->builder) != STATUS_OK) {
        destroy(&json->reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = &json->reader;
    return STATUS_OK;
}

const struct reader_class reader_json_class = {
    .format = FORMAT_JSON,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
