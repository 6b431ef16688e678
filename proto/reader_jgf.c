/* JSON Graph Format (jsongraphformat.info), read token by token: {"graph": {"directed", "nodes",
 * "edges": [{"source", "target", "directed", "metadata": {"weight"}}]}}. In version 1 the nodes are
 * an array of objects with an id, in version 2 an object by id. "graphs" is a list; one graph is
 * read. Members come in any order, so what needs all of them is judged at the end. */
#include "proto/json_nodes.h"
#include "proto/json_scanner.h"
#include "proto/reader_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LIMIT 512

enum top { TOP_OTHER, TOP_GRAPH, TOP_GRAPHS };

enum member { /* of the graph */
              MEMBER_OTHER,
              MEMBER_DIRECTED,
              MEMBER_NODES,
              MEMBER_EDGES,
              MEMBER_HYPEREDGES,
              MEMBER_COUNT
};

enum part { PART_OTHER, PART_ID, PART_SOURCE, PART_TARGET, PART_DIRECTED, PART_METADATA };

struct jgf {
    struct reader reader;
    struct graph_options options;
    struct json_scanner scanner;
    struct graph_builder *builder;
    struct json_nodes nodes;
    enum top top;
    bool has_top;
    bool has_graph;
    unsigned base; /* depth of the graph's members; 0 outside of it */
    bool seen[MEMBER_COUNT];
    enum member member;
    bool directed;
    bool by_key;               /* the nodes are an object */
    struct json_place element; /* where the node or edge at hand begins */
    enum part part;            /* of it */
    bool has_id;
    bool has_end[2];
    uint32_t ends[2];
    bool has_direction;
    bool leads_one_way;
    bool is_weight; /* the member of the metadata at hand */
    bool has_weight;
    bool any_weight;
    char weight[NUMBER_LIMIT];
    size_t weight_size;
    struct json_place weight_place;
    uint64_t *both_ways; /* edges that say so themselves, by index in the builder */
    size_t both_count;
    size_t both_capacity;
    struct json_place one_way; /* the first edge that says so; line 0 = none */
};

static enum status refuse(const struct json_token *token, const char *detail,
                          struct problem *reterr)
{
    return json_scanner_refuse(token->place, reterr, detail);
}

/* A key may hold a NUL of its own. */
static bool key_is(const struct json_token *key, const char *name)
{
    return strlen(name) == key->size && memcmp(name, key->text, key->size) == 0;
}

static bool is_object(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_OBJECT_BEGIN || token->kind == JSON_TOKEN_OBJECT_END;
}

static bool is_array(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_ARRAY_BEGIN || token->kind == JSON_TOKEN_ARRAY_END;
}

static enum status take_top_name(struct jgf *jgf, const struct json_token *token,
                                 struct problem *reterr)
{
    jgf->top = key_is(token, "graph")    ? TOP_GRAPH
               : key_is(token, "graphs") ? TOP_GRAPHS
                                         : TOP_OTHER;
    if (jgf->top == TOP_OTHER) {
        return STATUS_OK;
    }
    if (jgf->has_top) {
        return refuse(token, "There is a second \"graph\" or \"graphs\".", reterr);
    }
    jgf->has_top = true;
    return STATUS_OK;
}

static enum status take_graph(struct jgf *jgf, const struct json_token *token,
                              struct problem *reterr)
{
    if (!is_object(token)) {
        return refuse(token, "A graph is an object.", reterr);
    }
    if (token->kind == JSON_TOKEN_OBJECT_END) {
        jgf->base = 0;
        return STATUS_OK;
    }
    if (jgf->has_graph) {
        (void)refuse(token, "There are several graphs.", reterr);
        problem_hint(reterr, "Upload one graph at a time.");
        return STATUS_BAD_GRAPH;
    }
    jgf->has_graph = true;
    jgf->base = token->depth + 1;
    return STATUS_OK;
}

static enum status take_top_value(struct jgf *jgf, const struct json_token *token,
                                  struct problem *reterr)
{
    if (jgf->top == TOP_GRAPH) {
        return take_graph(jgf, token, reterr);
    }
    if (jgf->top == TOP_GRAPHS && !is_array(token)) {
        return refuse(token, "\"graphs\" is an array.", reterr);
    }
    return STATUS_OK;
}

static enum status take_member_name(struct jgf *jgf, const struct json_token *token,
                                    struct problem *reterr)
{
    static const char *const names[MEMBER_COUNT] = {
        [MEMBER_OTHER] = "",      [MEMBER_DIRECTED] = "directed",     [MEMBER_NODES] = "nodes",
        [MEMBER_EDGES] = "edges", [MEMBER_HYPEREDGES] = "hyperedges",
    };
    int member = MEMBER_COUNT - 1;

    while (member > MEMBER_OTHER && !key_is(token, names[member])) {
        member--;
    }
    jgf->member = (enum member)member;
    if (member == MEMBER_OTHER) {
        return STATUS_OK;
    }
    if (member == MEMBER_HYPEREDGES) {
        return refuse(token, "There are hyperedges, and no distance is defined along them.",
                      reterr);
    }
    if (jgf->seen[member]) {
        return refuse(token, "The member occurs twice.", reterr);
    }
    jgf->seen[member] = true;
    return STATUS_OK;
}

static enum status take_member_value(struct jgf *jgf, const struct json_token *token,
                                     struct problem *reterr)
{
    switch (jgf->member) {
    case MEMBER_DIRECTED:
        jgf->directed = token->kind == JSON_TOKEN_TRUE;
        if (token->kind != JSON_TOKEN_TRUE && token->kind != JSON_TOKEN_FALSE) {
            return refuse(token, "\"directed\" is neither true nor false.", reterr);
        }
        return STATUS_OK;
    case MEMBER_NODES:
        jgf->by_key = is_object(token);
        if (!is_object(token) && !is_array(token)) {
            return refuse(token, "\"nodes\" is neither an array nor an object.", reterr);
        }
        return STATUS_OK;
    case MEMBER_EDGES:
        return is_array(token) ? STATUS_OK : refuse(token, "\"edges\" is not an array.", reterr);
    case MEMBER_OTHER:
    case MEMBER_HYPEREDGES:
    case MEMBER_COUNT:
        break;
    }
    return STATUS_OK;
}

static void begin_element(struct jgf *jgf, const struct json_token *token)
{
    jgf->element = token->place;
    jgf->part = PART_OTHER;
    jgf->has_id = false;
    jgf->has_end[0] = false;
    jgf->has_end[1] = false;
    jgf->has_direction = false;
    jgf->has_weight = false;
}

/* In version 2 the name of a node is the key of its object. */
static enum status take_keyed_node(struct jgf *jgf, const struct json_token *token,
                                   struct problem *reterr)
{
    struct json_token name = *token;

    if (token->kind == JSON_TOKEN_KEY) {
        name.kind = JSON_TOKEN_STRING;
        return json_nodes_list(&jgf->nodes, &name, reterr);
    }
    return is_object(token) ? STATUS_OK : refuse(token, "A node is an object.", reterr);
}

static enum status note_both_ways(struct jgf *jgf, struct problem *reterr)
{
    if (jgf->both_count == jgf->both_capacity) {
        size_t capacity = jgf->both_capacity == 0 ? 256 : jgf->both_capacity * 2;
        uint64_t *moved = reallocarray(jgf->both_ways, capacity, sizeof *moved);

        if (moved == NULL) {
            return problem_set(reterr, STATUS_NO_MEMORY,
                               "There is not enough memory for the graph.");
        }
        jgf->both_ways = moved;
        jgf->both_capacity = capacity;
    }
    jgf->both_ways[jgf->both_count++] = graph_builder_edge_count(jgf->builder);
    return STATUS_OK;
}

/* What an edge says of its own direction is judged once that of the graph is known. */
static enum status note_direction(struct jgf *jgf, struct problem *reterr)
{
    if (!jgf->has_direction) {
        return STATUS_OK;
    }
    if (!jgf->leads_one_way) {
        return note_both_ways(jgf, reterr);
    }
    if (jgf->one_way.line == 0) {
        jgf->one_way = jgf->element;
    }
    return STATUS_OK;
}

static enum status end_edge(struct jgf *jgf, struct problem *reterr)
{
    enum status status;

    if (!jgf->has_end[0] || !jgf->has_end[1]) {
        return json_scanner_refuse(jgf->element, reterr, "The edge has no source or no target.");
    }
    status = note_direction(jgf, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (!jgf->has_weight) {
        memcpy(jgf->weight, "1", 1);
        jgf->weight_size = 1;
        jgf->weight_place = jgf->element;
    }
    status = reader_add_edge(jgf->builder, &jgf->options, jgf->ends, jgf->weight, jgf->weight_size,
                             jgf->weight_place.column, reterr);
    if (status != STATUS_OK) {
        problem_at(reterr, jgf->weight_place.line, jgf->weight_place.column);
    }
    return status;
}

static enum status end_element(struct jgf *jgf, struct problem *reterr)
{
    if (jgf->member == MEMBER_EDGES) {
        return end_edge(jgf, reterr);
    }
    return jgf->has_id ? STATUS_OK
                       : json_scanner_refuse(jgf->element, reterr, "The node has no \"id\".");
}

static enum status take_element(struct jgf *jgf, const struct json_token *token,
                                struct problem *reterr)
{
    if (jgf->member == MEMBER_NODES && jgf->by_key) {
        return take_keyed_node(jgf, token, reterr);
    }
    if (!is_object(token)) {
        return refuse(
            token, jgf->member == MEMBER_EDGES ? "An edge is an object." : "A node is an object.",
            reterr);
    }
    if (token->kind == JSON_TOKEN_OBJECT_END) {
        return end_element(jgf, reterr);
    }
    begin_element(jgf, token);
    return STATUS_OK;
}

static void take_part_name(struct jgf *jgf, const struct json_token *token)
{
    jgf->part = PART_OTHER;
    if (jgf->member == MEMBER_NODES) {
        jgf->part = key_is(token, "id") ? PART_ID : PART_OTHER;
    } else if (key_is(token, "source")) {
        jgf->part = PART_SOURCE;
    } else if (key_is(token, "target")) {
        jgf->part = PART_TARGET;
    } else if (key_is(token, "directed")) {
        jgf->part = PART_DIRECTED;
    } else if (key_is(token, "metadata")) {
        jgf->part = PART_METADATA;
    }
}

static enum status refuse_twice(const struct json_token *token, struct problem *reterr)
{
    return refuse(token, "The member occurs twice.", reterr);
}

static enum status take_id(struct jgf *jgf, const struct json_token *token, struct problem *reterr)
{
    if (jgf->has_id) {
        return refuse_twice(token, reterr);
    }
    jgf->has_id = true;
    return json_nodes_list(&jgf->nodes, token, reterr);
}

static enum status take_end(struct jgf *jgf, const struct json_token *token, unsigned end,
                            struct problem *reterr)
{
    if (jgf->has_end[end]) {
        return refuse_twice(token, reterr);
    }
    jgf->has_end[end] = true;
    return json_nodes_name(&jgf->nodes, token, &jgf->ends[end], reterr);
}

static enum status take_direction(struct jgf *jgf, const struct json_token *token,
                                  struct problem *reterr)
{
    if (token->kind != JSON_TOKEN_TRUE && token->kind != JSON_TOKEN_FALSE) {
        return refuse(token, "\"directed\" is neither true nor false.", reterr);
    }
    if (jgf->has_direction) {
        return refuse_twice(token, reterr);
    }
    jgf->has_direction = true;
    jgf->leads_one_way = token->kind == JSON_TOKEN_TRUE;
    return STATUS_OK;
}

static enum status take_part(struct jgf *jgf, const struct json_token *token,
                             struct problem *reterr)
{
    switch (jgf->part) {
    case PART_ID:
        return take_id(jgf, token, reterr);
    case PART_SOURCE:
        return take_end(jgf, token, 0, reterr);
    case PART_TARGET:
        return take_end(jgf, token, 1, reterr);
    case PART_DIRECTED:
        return take_direction(jgf, token, reterr);
    case PART_METADATA:
        jgf->is_weight = false;
        if (!is_object(token) && token->kind != JSON_TOKEN_NULL) {
            return refuse(token, "\"metadata\" is not an object.", reterr);
        }
        return STATUS_OK;
    case PART_OTHER:
        break;
    }
    return STATUS_OK;
}

static enum status take_metadata(struct jgf *jgf, const struct json_token *token,
                                 struct problem *reterr)
{
    const char *weight = jgf->options.weight[0] != '\0' ? jgf->options.weight : "weight";

    if (token->kind == JSON_TOKEN_KEY) {
        jgf->is_weight = key_is(token, weight);
        return STATUS_OK;
    }
    if (!jgf->is_weight) {
        return STATUS_OK;
    }
    if (token->kind != JSON_TOKEN_NUMBER || token->size >= NUMBER_LIMIT) {
        return refuse(token, "The weight is not a number.", reterr);
    }
    if (jgf->has_weight) {
        return refuse_twice(token, reterr);
    }
    memcpy(jgf->weight, token->text, token->size);
    jgf->weight_size = token->size;
    jgf->weight_place = token->place;
    jgf->has_weight = true;
    jgf->any_weight = true;
    return STATUS_OK;
}

/* A token within the lists of the graph: depth 1 is an element, 2 a part of it. */
static enum status take_inner(struct jgf *jgf, const struct json_token *token, unsigned depth,
                              struct problem *reterr)
{
    bool keyed = jgf->member == MEMBER_NODES && jgf->by_key;

    if (depth == 1) {
        return take_element(jgf, token, reterr);
    }
    if (keyed || depth > 3) {
        return STATUS_OK;
    }
    if (depth == 3) {
        return jgf->member == MEMBER_EDGES && jgf->part == PART_METADATA
                   ? take_metadata(jgf, token, reterr)
                   : STATUS_OK;
    }
    if (token->kind == JSON_TOKEN_KEY) {
        take_part_name(jgf, token);
        return STATUS_OK;
    }
    return take_part(jgf, token, reterr);
}

static enum status take_token(void *context, const struct json_token *token, struct problem *reterr)
{
    struct jgf *jgf = context;
    bool is_list = jgf->member == MEMBER_NODES || jgf->member == MEMBER_EDGES;

    if (token->depth == 0) {
        return is_object(token) ? STATUS_OK
                                : refuse(token, "The document is not an object.", reterr);
    }
    if (token->depth == 1) {
        return token->kind == JSON_TOKEN_KEY ? take_top_name(jgf, token, reterr)
                                             : take_top_value(jgf, token, reterr);
    }
    if (token->depth == 2 && jgf->top == TOP_GRAPHS) {
        return take_graph(jgf, token, reterr);
    }
    if (jgf->base == 0 || token->depth < jgf->base) {
        return STATUS_OK;
    }
    if (token->depth > jgf->base) {
        return is_list ? take_inner(jgf, token, token->depth - jgf->base, reterr) : STATUS_OK;
    }
    return token->kind == JSON_TOKEN_KEY ? take_member_name(jgf, token, reterr)
                                         : take_member_value(jgf, token, reterr);
}

/* In a directed graph an edge that leads both ways is two. */
static enum status add_ways_back(struct jgf *jgf, struct problem *reterr)
{
    for (size_t i = 0; i < jgf->both_count; i++) {
        uint32_t ends[2];
        double weight = graph_builder_edge(jgf->builder, jgf->both_ways[i], ends);
        enum status status = graph_builder_add_real(jgf->builder, ends[1], ends[0], weight);

        if (reader_add_failed(status, &jgf->options, reterr)) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status settle_directions(struct jgf *jgf, struct problem *reterr)
{
    const struct graph_options *options = &jgf->options;
    bool directed = options->has_directed ? options->directed : jgf->directed;

    if (directed) {
        return add_ways_back(jgf, reterr);
    }
    if (options->has_directed || jgf->one_way.line == 0) {
        return STATUS_OK;
    }
    (void)json_scanner_refuse(jgf->one_way, reterr,
                              "The edge is directed, and the graph says that it is not.");
    problem_hint(reterr, "Say \"directed\": true of the graph and false of the edges that lead "
                         "both ways, or give directed=.");
    return STATUS_BAD_GRAPH;
}

static enum status check_complete(const struct jgf *jgf, struct problem *reterr)
{
    const char *weight = jgf->options.weight;

    if (!jgf->has_graph) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is no \"graph\" in the document.");
    }
    if (!jgf->seen[MEMBER_NODES]) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "The graph has no \"nodes\".");
    }
    if (weight[0] != '\0' && !jgf->any_weight && graph_builder_edge_count(jgf->builder) > 0) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "weight=%s names an attribute that is in no edge's metadata.", weight);
    }
    return reader_admit_count(&jgf->options, jgf->nodes.listed, reterr);
}

static void note(struct jgf *jgf)
{
    const char *weight = jgf->options.weight[0] != '\0' ? jgf->options.weight : "weight";
    struct reader_notes *notes = &jgf->reader.notes;

    snprintf(notes->variant, sizeof notes->variant, "version %d", jgf->by_key ? 2 : 1);
    snprintf(notes->weight, sizeof notes->weight, "%s", jgf->any_weight ? weight : "");
    notes->says_direction = jgf->seen[MEMBER_DIRECTED];
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct jgf *jgf = (struct jgf *)reader;
    enum status status = json_scanner_end(&jgf->scanner, reterr);
    struct vertex_names *names;
    uint32_t *row_of;

    if (status == STATUS_OK) {
        status = check_complete(jgf, reterr);
    }
    if (status == STATUS_OK) {
        status = settle_directions(jgf, reterr);
    }
    if (status == STATUS_OK) {
        status = json_nodes_order(&jgf->nodes, &names, &row_of, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    note(jgf);
    status = graph_builder_finish(jgf->builder, &names, row_of, jgf->directed, ret_graph, reterr);
    vertex_names_destroy(names);
    free(row_of);
    return status;
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    return json_scanner_feed(&((struct jgf *)reader)->scanner, bytes, size, reterr);
}

static void destroy(struct reader *reader)
{
    struct jgf *jgf = (struct jgf *)reader;

    json_scanner_finish(&jgf->scanner);
    graph_builder_destroy(jgf->builder);
    json_nodes_finish(&jgf->nodes);
    free(jgf->both_ways);
    free(jgf);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct jgf *jgf = calloc(1, sizeof *jgf);

    if (jgf == NULL) {
        return STATUS_NO_MEMORY;
    }
    jgf->reader.class_ = &reader_jgf_class;
    jgf->options = *options;
    jgf->directed = true;
    json_scanner_init(&jgf->scanner);
    jgf->scanner.take = take_token;
    jgf->scanner.context = jgf;
    if (graph_builder_create(options, &jgf->builder) != STATUS_OK ||
        json_nodes_init(&jgf->nodes, jgf->builder) != STATUS_OK) {
        destroy(&jgf->reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = &jgf->reader;
    return STATUS_OK;
}

const struct reader_class reader_jgf_class = {
    .format = FORMAT_JGF,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
