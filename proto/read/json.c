/* JSON graphs in two dialects, read token by token without a tree. Formats:
 * json: node-link documents, {"nodes":[{"id":..},..],"links"|"edges":[{"source"|"from":..,
 *   "target"|"to":..,"weight":..},..]}, and {"n":5,"edges":[[u,v,w],..]}, vertices 0..n-1.
 * jgf: JSON Graph Format (jsongraphformat.info), {"graph":{"directed","nodes","edges":[{"source",
 *   "target","directed","metadata":{"weight"}}]}}; the nodes of version 1 are an array of objects
 *   with an id, those of version 2 an object by id. "graphs" is a list, of which one is read.
 * Members come in any order, so rules that need several of them are checked at the end. */
#include "proto/number.h"
#include "proto/read/edge_columns.h"
#include "proto/read/json_nodes.h"
#include "proto/read/json_scanner.h"
#include "proto/read/json_weight.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <string.h>

#define READ_HERE                                                                                  \
    "networkx.node_link_data writes what is read, and pandas.json_normalize makes a table for "    \
    "CSV."

enum dialect { DIALECT_JSON, DIALECT_JGF, DIALECT_COUNT };

enum place { NOWHERE, IN_DOCUMENT, IN_GRAPH, IN_NODE, IN_EDGE, IN_METADATA };

enum member {
    MEMBER_OTHER,
    MEMBER_GRAPH,
    MEMBER_GRAPHS,
    MEMBER_N,
    MEMBER_DIRECTED,
    MEMBER_NODES,
    MEMBER_EDGES,
    MEMBER_LINKS,
    MEMBER_HYPEREDGES,
    MEMBER_ID,
    MEMBER_SOURCE,
    MEMBER_TARGET,
    MEMBER_FROM,
    MEMBER_TO,
    MEMBER_ONE_WAY,
    MEMBER_METADATA,
    MEMBER_WEIGHT,
    MEMBER_COUNT
};

/* The object in which each dialect has the member; in the json dialect the document is the graph.
 * The name of the weight is that of struct json_weight. */
static const struct {
    const char *name;
    enum place place[DIALECT_COUNT];
} members[MEMBER_COUNT] = {
    [MEMBER_GRAPH] = {"graph", {NOWHERE, IN_DOCUMENT}},
    [MEMBER_GRAPHS] = {"graphs", {NOWHERE, IN_DOCUMENT}},
    [MEMBER_N] = {"n", {IN_GRAPH, NOWHERE}},
    [MEMBER_DIRECTED] = {"directed", {IN_GRAPH, IN_GRAPH}},
    [MEMBER_NODES] = {"nodes", {IN_GRAPH, IN_GRAPH}},
    [MEMBER_EDGES] = {"edges", {IN_GRAPH, IN_GRAPH}},
    [MEMBER_LINKS] = {"links", {IN_GRAPH, NOWHERE}},
    [MEMBER_HYPEREDGES] = {"hyperedges", {NOWHERE, IN_GRAPH}},
    [MEMBER_ID] = {"id", {IN_NODE, IN_NODE}},
    [MEMBER_SOURCE] = {"source", {IN_EDGE, IN_EDGE}},
    [MEMBER_TARGET] = {"target", {IN_EDGE, IN_EDGE}},
    [MEMBER_FROM] = {"from", {IN_EDGE, NOWHERE}},
    [MEMBER_TO] = {"to", {IN_EDGE, NOWHERE}},
    [MEMBER_ONE_WAY] = {"directed", {NOWHERE, IN_EDGE}},
    [MEMBER_METADATA] = {"metadata", {NOWHERE, IN_EDGE}},
    [MEMBER_WEIGHT] = {"", {IN_EDGE, IN_METADATA}},
};

struct json {
    struct reader reader;
    enum dialect dialect;
    struct json_scanner scanner;
    struct json_nodes nodes; /* of a node-link document */
    enum member top;         /* the member of the document, of the graph and of the element */
    enum member member;
    enum member part;
    enum member metadata; /* the member of an edge's metadata */
    uint32_t seen;        /* bit per member; those of an element since it began */
    bool has_graph;
    unsigned base; /* depth of the graph's members; 0 outside of it */
    bool directed;
    bool by_key;               /* the nodes are an object */
    int64_t vertex_count;      /* "n" */
    bool compact;              /* some edge was an array */
    bool linked;               /* some edge was an object */
    struct json_place element; /* where the edge or node at hand begins */
    unsigned part_count;       /* of an array */
    uint32_t ends[2];
    enum member source; /* the first of MEMBER_SOURCE and MEMBER_FROM that an edge had */
    bool one_way;       /* with MEMBER_ONE_WAY seen: what the edge says */
    struct json_weight weight;
    uint32_t largest; /* vertex of a compact edge, and where it stood */
    struct json_place largest_place;
    struct text both_ways; /* edges that say "directed": false: uint64_t, index in the builder */
    struct json_place first_one_way; /* the first edge that says "directed": true; line 0 = none */
};

static enum status refuse(const struct json_token *token, const char *detail,
                          struct problem *reterr)
{
    problem_bad_graph(reterr, token->place.line, token->place.column, "%s", detail);
    problem_hint(reterr, token->depth == 0 ? READ_HERE : "");
    return STATUS_BAD_GRAPH;
}

static bool is_object(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_OBJECT_BEGIN || token->kind == JSON_TOKEN_OBJECT_END;
}

static bool is_array(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_ARRAY_BEGIN || token->kind == JSON_TOKEN_ARRAY_END;
}

static bool is_end(const struct json_token *token)
{
    return token->kind == JSON_TOKEN_OBJECT_END || token->kind == JSON_TOKEN_ARRAY_END;
}

static bool has_seen(const struct json *json, enum member member)
{
    return (json->seen >> member & 1) != 0;
}

/* STATUS_BAD_GRAPH when the member occurs for the second time. */
static enum status see(struct json *json, enum member member, const struct json_token *token,
                       struct problem *reterr)
{
    if (has_seen(json, member)) {
        return refuse(token, "The member occurs twice.", reterr);
    }
    json->seen |= 1u << member;
    return STATUS_OK;
}

/* Sizes are compared too: a key may hold a NUL of its own. */
static enum member find_member(struct json *json, enum place place, const struct json_token *key)
{
    for (int i = MEMBER_OTHER + 1; i < MEMBER_WEIGHT; i++) {
        if (members[i].place[json->dialect] == place && strlen(members[i].name) == key->size &&
            memcmp(members[i].name, key->text, key->size) == 0) {
            return (enum member)i;
        }
    }
    return members[MEMBER_WEIGHT].place[json->dialect] == place &&
                   json_weight_find(&json->weight, key)
               ? MEMBER_WEIGHT
               : MEMBER_OTHER;
}

/* A token of a jgf document outside of its graph. */
static enum status parse_document(struct json *json, const struct json_token *token,
                                  struct problem *reterr)
{
    if (token->depth == 1 && token->kind == JSON_TOKEN_KEY) {
        json->top = find_member(json, IN_DOCUMENT, token);
        if (json->top != MEMBER_OTHER &&
            (json->seen & (1u << MEMBER_GRAPH | 1u << MEMBER_GRAPHS))) {
            return refuse(token, "There is a second \"graph\" or \"graphs\".", reterr);
        }
        json->seen |= 1u << json->top;
        return STATUS_OK;
    }
    if (token->depth == 1 && json->top == MEMBER_GRAPHS && !is_array(token)) {
        return refuse(token, "\"graphs\" is an array.", reterr);
    }
    if ((token->depth != 1 || json->top != MEMBER_GRAPH) &&
        (token->depth != 2 || json->top != MEMBER_GRAPHS)) {
        return STATUS_OK;
    }
    if (!is_object(token)) {
        return refuse(token, "A graph is an object.", reterr);
    }
    if (!is_end(token) && json->has_graph) {
        (void)refuse(token, "There are several graphs.", reterr);
        problem_hint(reterr, "Upload one graph at a time.");
        return STATUS_BAD_GRAPH;
    }
    json->has_graph = true;
    json->base = is_end(token) ? 0 : token->depth + 1;
    return STATUS_OK;
}

static enum status parse_member_name(struct json *json, const struct json_token *token,
                                     struct problem *reterr)
{
    json->member = find_member(json, IN_GRAPH, token);
    if (json->member == MEMBER_OTHER && json->dialect == DIALECT_JSON && token->size == 7 &&
        memcmp(token->text, "weights", 7) == 0) {
        (void)refuse(token, "The weights stand apart from the edges.", reterr);
        problem_hint(reterr, "An edge has its weight itself: [source, target, weight].");
        return STATUS_BAD_GRAPH;
    }
    if (json->member == MEMBER_OTHER) {
        return STATUS_OK;
    }
    if (json->member == MEMBER_HYPEREDGES) {
        return refuse(token, "There are hyperedges, and no distance is defined along them.",
                      reterr);
    }
    STATUS_TRY(see(json, json->member, token, reterr));
    if (has_seen(json, MEMBER_EDGES) && has_seen(json, MEMBER_LINKS)) {
        return refuse(token, "There are both \"edges\" and \"links\".", reterr);
    }
    return STATUS_OK;
}

static enum status parse_direction(const struct json_token *token, bool *ret_directed,
                                   struct problem *reterr)
{
    *ret_directed = token->kind == JSON_TOKEN_TRUE;
    if (token->kind != JSON_TOKEN_TRUE && token->kind != JSON_TOKEN_FALSE) {
        return refuse(token, "\"directed\" is neither true nor false.", reterr);
    }
    return STATUS_OK;
}

static enum status parse_member_value(struct json *json, const struct json_token *token,
                                      struct problem *reterr)
{
    switch ((int)json->member) {
    case MEMBER_N:
        if (token->kind != JSON_TOKEN_NUMBER ||
            !number_parse_integer(token->text, token->size, &json->vertex_count) ||
            json->vertex_count < 0) {
            return refuse(token, "\"n\" is not a count of vertices.", reterr);
        }
        return graph_builder_admit(json->reader.builder, (uint64_t)json->vertex_count, reterr);
    case MEMBER_DIRECTED:
        return parse_direction(token, &json->directed, reterr);
    case MEMBER_NODES:
        json->by_key = json->dialect == DIALECT_JGF && is_object(token);
        return json->by_key || is_array(token) ? STATUS_OK
                                               : refuse(token, "The nodes are not a list.", reterr);
    case MEMBER_EDGES:
    case MEMBER_LINKS:
        return is_array(token) ? STATUS_OK : refuse(token, "The edges are not a list.", reterr);
    default:
        return STATUS_OK;
    }
}

static enum status begin_element(struct json *json, const struct json_token *token,
                                 struct problem *reterr)
{
    const bool compact = json->dialect == DIALECT_JSON && is_array(token);

    json->element = token->place;
    json->seen &= (1u << MEMBER_ID) - 1;
    json->part = MEMBER_OTHER;
    json->part_count = 0;
    json_weight_begin(&json->weight);
    if (json->member == MEMBER_NODES) {
        return is_object(token) ? STATUS_OK : refuse(token, "A node is an object.", reterr);
    }
    if (!is_object(token) && !compact) {
        return refuse(token, "An edge is an object, or an array outside of JGF.", reterr);
    }
    json->compact |= compact;
    json->linked |= !compact;
    if (json->compact && json->linked) {
        return refuse(token, "Some edges are arrays and some are objects.", reterr);
    }
    return compact ? reader_admit_weight_name(&json->reader, reterr) : STATUS_OK;
}

static enum status end_element(struct json *json, struct problem *reterr)
{
    const bool weighted = json->weight.name.rank != NO_COLUMN;
    const struct json_place place = weighted ? json->weight.place : json->element;
    const uint64_t index = graph_builder_edge_count(json->reader.builder);
    enum status status;
    const bool is_node = json->member == MEMBER_NODES;

    if (is_node         ? !has_seen(json, MEMBER_ID)
        : json->compact ? json->part_count < 2
                        : !has_seen(json, MEMBER_SOURCE) || !has_seen(json, MEMBER_TARGET)) {
        problem_bad_graph(reterr, json->element.line, json->element.column,
                          is_node ? "The node has no \"id\"."
                                  : "The edge has no source or no target.");
        problem_hint(reterr, READ_HERE);
        return STATUS_BAD_GRAPH;
    }
    status = is_node ? STATUS_OK : json_weight_end(&json->weight, json->element, reterr);
    if (is_node || status != STATUS_OK) {
        return status;
    }
    /* The direction of single edges is checked once that of the graph is known: until then the
     * edges that lead both ways are collected, and the first one-way edge is remembered. */
    if (has_seen(json, MEMBER_ONE_WAY) && !json->one_way) {
        text_append(&json->both_ways, &index, sizeof(index));
    } else if (has_seen(json, MEMBER_ONE_WAY) && json->first_one_way.line == 0) {
        json->first_one_way = json->element;
    }
    status = reader_add_edge(&json->reader, json->ends, weighted ? json->weight.text : "1",
                             weighted ? json->weight.size : 1, place.column, reterr);
    if (status != STATUS_OK) {
        problem_at(reterr, place.line, place.column);
    }
    return status;
}

/* The next part of a compact edge. Whether a vertex is below n is known once n is. */
static enum status parse_array_part(struct json *json, const struct json_token *token,
                                    struct problem *reterr)
{
    const unsigned part = json->part_count++;
    int64_t vertex;

    if (part >= 2) {
        return part == 2 ? json_weight_take(&json->weight, token, reterr)
                         : refuse(token, "An edge is [source, target, weight].", reterr);
    }
    if (token->kind != JSON_TOKEN_NUMBER ||
        !number_is_canonical_integer(token->text, token->size, &vertex) || vertex < 0 ||
        vertex >= NO_VERTEX) {
        return refuse(token, "A vertex is an integer from 0 to n-1.", reterr);
    }
    json->ends[part] = (uint32_t)vertex;
    if (json->largest_place.line == 0 || vertex > json->largest) {
        json->largest = (uint32_t)vertex;
        json->largest_place = token->place;
    }
    return STATUS_OK;
}

static enum status parse_part(struct json *json, const struct json_token *token,
                              struct problem *reterr)
{
    if (json->part == MEMBER_WEIGHT) {
        return json_weight_take(&json->weight, token, reterr);
    }
    if (json->part == MEMBER_METADATA) {
        return is_object(token) || token->kind == JSON_TOKEN_NULL
                   ? STATUS_OK
                   : refuse(token, "\"metadata\" is not an object.", reterr);
    }
    STATUS_TRY(see(json, json->part, token, reterr));
    switch ((int)json->part) {
    case MEMBER_ID:
        return json_nodes_list(&json->nodes, token, reterr);
    case MEMBER_SOURCE:
        return json_nodes_name(&json->nodes, token, &json->ends[0], reterr);
    case MEMBER_TARGET:
        return json_nodes_name(&json->nodes, token, &json->ends[1], reterr);
    default:
        return parse_direction(token, &json->one_way, reterr);
    }
}

/* In vis.js edges lead "from" and "to" vertices: members that have no meaning beside the others. */
static enum status parse_end_name(struct json *json, const struct json_token *token,
                                  struct problem *reterr)
{
    const enum member source = json->part < MEMBER_FROM ? MEMBER_SOURCE : MEMBER_FROM;

    json->source = json->source == MEMBER_OTHER ? source : json->source;
    if (json->source == source) {
        json->part = MEMBER_SOURCE + (json->part - source);
        return STATUS_OK;
    }
    json->part = MEMBER_OTHER;
    return source == MEMBER_FROM
               ? STATUS_OK
               : refuse(token, "Edges have both a \"source\" and a \"from\".", reterr);
}

/* A token within the lists of the graph: depth 1 is an element, 2 a part of it, 3 its metadata. */
static enum status parse_inner(struct json *json, const struct json_token *token, unsigned depth,
                               struct problem *reterr)
{
    const bool is_node = json->member == MEMBER_NODES;

    if (depth == 1 && is_node && json->by_key && token->kind == JSON_TOKEN_KEY) {
        struct json_token name = *token;
        /* In version 2 of jgf the name of a node is the key of its object. */
        name.kind = JSON_TOKEN_STRING;
        return json_nodes_list(&json->nodes, &name, reterr);
    }
    if (depth == 1 && is_node && json->by_key) {
        return is_object(token) ? STATUS_OK : refuse(token, "A node is an object.", reterr);
    }
    if (depth == 1) {
        return is_end(token) ? end_element(json, reterr) : begin_element(json, token, reterr);
    }
    if (is_end(token) || (is_node && (depth > 3 || json->by_key))) {
        return STATUS_OK;
    }
    if (depth == 2 && json->compact && !is_node) {
        return parse_array_part(json, token, reterr);
    }
    if (depth == 2 && token->kind == JSON_TOKEN_KEY) {
        json->part = find_member(json, is_node ? IN_NODE : IN_EDGE, token);
        if (json->part >= MEMBER_SOURCE && json->part <= MEMBER_TO) {
            return parse_end_name(json, token, reterr);
        }
    } else if (depth == 2 && json->part != MEMBER_OTHER) {
        return parse_part(json, token, reterr);
    } else if (depth == 3 && token->kind == JSON_TOKEN_KEY) {
        json->metadata = find_member(json, IN_METADATA, token);
    } else if (depth == 3 && json->part == MEMBER_METADATA && json->metadata == MEMBER_WEIGHT) {
        return json_weight_take(&json->weight, token, reterr);
    }
    if (!is_node) {
        json_weight_pass(&json->weight, token,
                         json->dialect == DIALECT_JSON
                             ? depth == 2
                             : depth == 3 && json->part == MEMBER_METADATA);
    }
    return STATUS_OK;
}

static enum status accept_token(void *context, const struct json_token *token,
                                struct problem *reterr)
{
    struct json *json = context;

    if (token->depth == 0) {
        return is_object(token) ? STATUS_OK
                                : refuse(token, "The document is not an object.", reterr);
    }
    if (json->base == 0 || token->depth < json->base) {
        return parse_document(json, token, reterr);
    }
    if (token->depth == json->base) {
        return token->kind == JSON_TOKEN_KEY ? parse_member_name(json, token, reterr)
                                             : parse_member_value(json, token, reterr);
    }
    if (json->member == MEMBER_NODES || json->member == MEMBER_EDGES ||
        json->member == MEMBER_LINKS) {
        return parse_inner(json, token, token->depth - json->base, reterr);
    }
    return STATUS_OK;
}

static enum status check_complete(const struct json *json, struct problem *reterr)
{
    const bool jgf = json->dialect == DIALECT_JGF;
    const bool listed = has_seen(json, MEMBER_NODES);
    const char *detail = NULL;

    if (jgf && !json->has_graph) {
        detail = "There is no \"graph\" in the document.";
    } else if (jgf && !listed) {
        detail = "The graph has no \"nodes\".";
    } else if (!jgf && !has_seen(json, MEMBER_EDGES) && !has_seen(json, MEMBER_LINKS)) {
        detail = "There is neither \"edges\" nor \"links\".";
    } else if (json->compact && listed) {
        detail = "There are \"nodes\", but the edges are arrays.";
    } else if (json->linked && !listed) {
        detail = "The list of \"nodes\" is missing.";
    } else if (!listed && !has_seen(json, MEMBER_N) && !json->reader.options.has_vertex_count) {
        detail = "There is no \"n\" and there are no \"nodes\".";
    }
    if (detail != NULL) {
        problem_set(reterr, STATUS_BAD_GRAPH, "%s", detail);
        problem_hint(reterr, READ_HERE);
        return STATUS_BAD_GRAPH;
    }
    return json->linked ? json_weight_finish(&json->weight, reterr) : STATUS_OK;
}

static void note(struct json *json)
{
    struct reader_notes *notes = &json->reader.notes;
    const bool listed = has_seen(json, MEMBER_NODES);

    snprintf(notes->variant, sizeof(notes->variant), "%s",
             json->dialect == DIALECT_JGF ? (json->by_key ? "version 2" : "version 1")
             : listed                     ? "node-link"
                                          : "compact");
    snprintf(notes->weight, sizeof(notes->weight), "%s", json->weight.used.bytes);
    notes->says_direction = has_seen(json, MEMBER_DIRECTED);
}

/* In a directed graph an edge that leads both ways is two. */
static enum status settle_directions(struct json *json, struct problem *reterr)
{
    const struct graph_options *options = &json->reader.options;
    enum status status = text_status(&json->both_ways);
    uint32_t ends[2];
    uint64_t index;

    if (options->has_directed ? options->directed : json->directed) {
        for (size_t at = 0; at < json->both_ways.size && status == STATUS_OK; at += sizeof(index)) {
            memcpy(&index, json->both_ways.bytes + at, sizeof(index));
            const double weight = graph_builder_edge(json->reader.builder, index, ends);
            status = graph_builder_add_real(json->reader.builder, ends[1], ends[0], weight);
            (void)reader_add_failed(&json->reader, status, reterr);
        }
    } else if (!options->has_directed && json->first_one_way.line > 0) {
        status = problem_bad_graph(reterr, json->first_one_way.line, json->first_one_way.column,
                                   "The edge is directed, and the graph says that it is not.");
        problem_hint(reterr, "Say \"directed\": true of the graph and false of the edges that lead "
                             "both ways, or give directed=.");
    }
    return status;
}

static enum status finish_compact(struct json *json, struct graph **ret_graph,
                                  struct problem *reterr)
{
    const uint64_t count =
        has_seen(json, MEMBER_N) ? (uint64_t)json->vertex_count : json->reader.options.vertex_count;
    STATUS_TRY(reader_admit_count(&json->reader, count, reterr));
    STATUS_TRY(graph_builder_admit(json->reader.builder, count, reterr));
    if (json->largest_place.line > 0 && json->largest >= count) {
        STATUS_TRY(problem_bad_graph(reterr, json->largest_place.line, json->largest_place.column,
                                     "Vertex %u is outside 0..n-1 with n=%llu.", json->largest,
                                     (unsigned long long)count));
    }
    return reader_finish_range(&json->reader, (uint32_t)count, 0, json->directed, ret_graph,
                               reterr);
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct json *json = (struct json *)reader;
    STATUS_TRY(json_scanner_end(&json->scanner, reterr));
    STATUS_TRY(check_complete(json, reterr));
    note(json);
    if (!has_seen(json, MEMBER_NODES)) {
        return finish_compact(json, ret_graph, reterr);
    }
    STATUS_TRY(reader_admit_count(&json->reader, json->nodes.listed, reterr));
    STATUS_TRY(settle_directions(json, reterr));
    return json_nodes_build(&json->nodes, json->reader.builder, json->directed, ret_graph, reterr);
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    return json_scanner_feed(&((struct json *)reader)->scanner, bytes, size, reterr);
}

static void cleanup(struct reader *reader)
{
    struct json *json = (struct json *)reader;

    json_scanner_finish(&json->scanner);
    json_nodes_finish(&json->nodes);
    text_finish(&json->both_ways);
}

/* An edge that leads both ways is two in the end. */
static uint64_t memory(const struct reader *reader)
{
    const struct json *json = (const struct json *)reader;

    return json_nodes_memory(&json->nodes) + json->both_ways.size * 4;
}

static enum status init(struct reader *reader)
{
    struct json *json = (struct json *)reader;

    json->dialect = reader->format == FORMAT_JGF ? DIALECT_JGF : DIALECT_JSON;
    json->base = json->dialect == DIALECT_JSON ? 1 : 0;
    json->directed = true; /* unless the document says otherwise */
    json_weight_init(&json->weight, reader->options.weight,
                     json->dialect == DIALECT_JSON
                         ? "the edge itself, \"weight\": 5"
                         : "the metadata of the edge, \"metadata\": {\"weight\": 5}");
    json_scanner_init(&json->scanner);
    json->scanner.take = accept_token;
    json->scanner.context = json;
    return json_nodes_init(&json->nodes, reader->builder);
}

const struct reader_class reader_json_class = {
    .size = sizeof(struct json),
    .init = init,
    .feed = feed,
    .finish = finish,
    .cleanup = cleanup,
    .memory = memory,
};
