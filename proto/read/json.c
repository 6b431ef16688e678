/* Reads JSON graphs token by token, without building a tree. There are two dialects.
 *
 * json: a node-link document, {"nodes":[{"id":..},..],
 *   "links"|"edges":[{"source"|"from":..,"target"|"to":..,"weight":..},..]}; or
 *   {"n":5,"edges":[[u,v,w],..]} with vertices 0..n-1; or a matrix.
 * jgf: JSON Graph Format (jsongraphformat.info), {"graph":{"directed","nodes",
 *   "edges":[{"source","target","directed","metadata":{"weight"}}]}}. In version 1 the nodes are an
 *   array of objects with an id, in version 2 an object with the ids as keys. "graphs" is a list,
 *   which must contain one graph.
 *
 * Members come in any order, so rules that need several of them are checked at the end. */
#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/read/json_matrix.h"
#include "proto/read/json_nodes.h"
#include "proto/read/json_scanner.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <string.h>

#define READ_HERE                                                                                  \
    "networkx.node_link_data writes a supported form of JSON, and pandas.json_normalize "          \
    "converts records to a table that can be saved as CSV."

enum dialect { DIALECT_JSON, DIALECT_JGF, DIALECT_COUNT };

enum place { NOWHERE, IN_DOCUMENT, IN_GRAPH, IN_NODE, IN_EDGE };

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
    MEMBER_SOURCES,
    MEMBER_DESTINATIONS,
    MEMBER_DISTANCES,
    MEMBER_DURATIONS,
    MEMBER_COUNT
};

/* The object that contains each member, by dialect. In dialect json the document is the graph. */
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
    [MEMBER_SOURCES] = {"sources", {IN_GRAPH, NOWHERE}},
    [MEMBER_DESTINATIONS] = {"destinations", {IN_GRAPH, NOWHERE}},
    [MEMBER_DISTANCES] = {"distances", {IN_GRAPH, NOWHERE}},
    [MEMBER_DURATIONS] = {"durations", {IN_GRAPH, NOWHERE}},
};

struct json {
    struct reader reader;
    enum dialect dialect;
    struct json_scanner scanner;
    struct json_nodes nodes; /* nodes of a node-link document */
    enum member top;         /* current member of the document */
    enum member member;
    enum member part;
    bool in_metadata; /* inside the metadata of an edge */
    bool is_text;     /* the weight of the current edge is not a number */
    size_t column;    /* column of the edge attribute whose value is next, or NO_COLUMN */
    uint32_t seen;    /* one bit per member found; each edge or node clears its own members */
    bool has_graph;
    unsigned base; /* depth of the graph's members; 0 outside the graph */
    bool directed;
    bool by_key;               /* the nodes are an object with the ids as keys */
    int64_t vertex_count;      /* value of the member "n" */
    bool compact;              /* whether any edge was an array */
    bool linked;               /* whether any edge was an object */
    struct json_place element; /* position of the current edge or node */
    unsigned part_count;       /* number of entries read of an edge that is an array */
    enum member source;        /* MEMBER_SOURCE or MEMBER_FROM, whichever the first edge has */
    bool one_way;              /* value of the edge's own member "directed", if any */
    struct columns columns;
    struct edge_record record;
    struct json_matrix matrix;
    struct json_nodes names; /* names of the rows of the matrix */
    uint32_t largest; /* largest vertex of edges that are arrays; its position is largest_place */
    struct json_place largest_place;
    struct json_place first_one_way; /* the first edge with "directed": true; line 0 = none */
};

static enum status refuse_token(const struct json_token *token, const char *detail,
                                struct problem *reterr)
{
    return json_token_refuse(token, detail, token->depth == 0 ? READ_HERE : "", reterr);
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

/* Marks the member as seen. Returns STATUS_BAD_GRAPH if it occurs twice. */
static enum status mark_seen(struct json *json, enum member member, const struct json_token *token,
                             struct problem *reterr)
{
    if (has_seen(json, member)) {
        return refuse_token(token, "The member occurs twice.", reterr);
    }
    json->seen |= 1u << member;
    return STATUS_OK;
}

/* Finds a member by its name. Parameters may rename the members for source and target. Sizes are
 * compared too, because a key may contain a NUL. */
static enum member find_member(const struct json *json, enum place place,
                               const struct json_token *key)
{
    const struct graph_options *options = &json->reader.options;
    const bool has_names = place == IN_EDGE && options->source_column[0] != '\0';

    for (int i = MEMBER_OTHER + 1; i < MEMBER_COUNT; i++) {
        const char *name = !has_names                           ? members[i].name
                           : i == MEMBER_SOURCE                 ? options->source_column
                           : i == MEMBER_TARGET                 ? options->target_column
                           : i == MEMBER_FROM || i == MEMBER_TO ? ""
                                                                : members[i].name;

        if (members[i].place[json->dialect] == place && strlen(name) == key->size &&
            memcmp(name, key->text, key->size) == 0) {
            return (enum member)i;
        }
    }
    return MEMBER_OTHER;
}

/* Parses a token of a jgf document outside its graph. */
static enum status parse_document(struct json *json, const struct json_token *token,
                                  struct problem *reterr)
{
    if (token->depth == 1 && token->kind == JSON_TOKEN_KEY) {
        json->top = find_member(json, IN_DOCUMENT, token);
        if (json->top != MEMBER_OTHER &&
            (json->seen & (1u << MEMBER_GRAPH | 1u << MEMBER_GRAPHS))) {
            return refuse_token(token, "The document has a second \"graph\" or \"graphs\".",
                                reterr);
        }
        json->seen |= 1u << json->top;
        return STATUS_OK;
    }
    if (token->depth == 1 && json->top == MEMBER_GRAPHS && !is_array(token)) {
        return refuse_token(token, "\"graphs\" must be an array.", reterr);
    }
    if ((token->depth != 1 || json->top != MEMBER_GRAPH) &&
        (token->depth != 2 || json->top != MEMBER_GRAPHS)) {
        return STATUS_OK;
    }
    if (!is_object(token)) {
        return refuse_token(token, "A graph must be an object.", reterr);
    }
    if (!is_end(token) && json->has_graph) {
        return json_token_refuse(token, "There are several graphs.", "Upload one graph at a time.",
                                 reterr);
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
        return json_token_refuse(token, "The weights are in a separate list, not in the edges.",
                                 "Write each weight into its edge: [source, target, weight].",
                                 reterr);
    }
    if (json->member == MEMBER_OTHER) {
        return STATUS_OK;
    }
    if (json->member == MEMBER_HYPEREDGES) {
        return refuse_token(
            token, "The graph has hyperedges, and distances along hyperedges are not defined.",
            reterr);
    }
    STATUS_TRY(mark_seen(json, json->member, token, reterr));
    if (has_seen(json, MEMBER_EDGES) && has_seen(json, MEMBER_LINKS)) {
        return refuse_token(token, "The graph has both \"edges\" and \"links\".", reterr);
    }
    return STATUS_OK;
}

static enum status parse_direction(const struct json_token *token, bool *ret_directed,
                                   struct problem *reterr)
{
    *ret_directed = token->kind == JSON_TOKEN_TRUE;
    if (token->kind != JSON_TOKEN_TRUE && token->kind != JSON_TOKEN_FALSE) {
        return refuse_token(token, "\"directed\" is neither true nor false.", reterr);
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
            return refuse_token(token, "\"n\" must be the number of vertices.", reterr);
        }
        return graph_builder_admit(&json->reader.builder, (uint64_t)json->vertex_count, reterr);
    case MEMBER_DIRECTED:
        return parse_direction(token, &json->directed, reterr);
    case MEMBER_NODES:
        json->by_key = json->dialect == DIALECT_JGF && is_object(token);
        return json->by_key || is_array(token)
                   ? STATUS_OK
                   : refuse_token(token, "\"nodes\" is not an array.", reterr);
    case MEMBER_EDGES:
    case MEMBER_LINKS:
        return is_array(token) ? STATUS_OK
                               : refuse_token(token, "The edges are not in an array.", reterr);
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
    json->column = NO_COLUMN;
    json->in_metadata = json->is_text = false;
    json->record = (struct edge_record){.place = {"", 0, token->place.column, token->place.line}};
    if (json->member == MEMBER_NODES) {
        return is_object(token) ? STATUS_OK : refuse_token(token, "Nodes must be objects.", reterr);
    }
    if (!is_object(token) && !compact) {
        return refuse_token(token, "Edges must be objects or, except in JGF, arrays.", reterr);
    }
    json->compact |= compact;
    json->linked |= !compact;
    if (json->compact && json->linked) {
        return refuse_token(token, "Some edges are arrays and some are objects.", reterr);
    }
    return STATUS_OK;
}

static enum status end_element(struct json *json, struct problem *reterr)
{
    const struct graph_options *options = &json->reader.options;
    const bool is_node = json->member == MEMBER_NODES;
    const struct edge_record *record = &json->record;

    if (is_node         ? !has_seen(json, MEMBER_ID)
        : json->compact ? json->part_count < 2
                        : !has_seen(json, MEMBER_SOURCE) || !has_seen(json, MEMBER_TARGET)) {
        return problem_bad_graph_hint(reterr, json->element.line, json->element.column, READ_HERE,
                                      is_node ? "The node has no \"id\"."
                                              : "The edge has no source or no target.");
    }
    if (is_node) {
        return STATUS_OK;
    }
    if (json->is_text && !json->columns.is_unweighted) {
        return problem_bad_graph_hint(
            reterr, record->values[ROLE_WEIGHT].line, record->values[ROLE_WEIGHT].column,
            "Write the weight as a number, or count each edge as 1 with weight=none.",
            "The weight is not a number.");
    }
    const bool says_direction = has_seen(json, MEMBER_ONE_WAY);
    if (says_direction && json->one_way && json->first_one_way.line == 0) {
        json->first_one_way = json->element;
    }
    /* An undirected edge becomes two edges in a directed graph. */
    return columns_add_edge(&json->columns, record,
                            says_direction && !json->one_way &&
                                (options->has_directed ? options->directed : json->directed),
                            reterr);
}

/* Accepts the value of an edge attribute or, if the value is a list, one number of the list. */
static enum status accept_value(struct json *json, const struct json_token *token,
                                struct problem *reterr)
{
    const struct json_place place = token->place;
    struct field value = {token->text, token->size, place.column, place.line};
    if (json->column == NO_COLUMN || is_end(token)) {
        return STATUS_OK;
    }
    struct column *column = &json->columns.list[json->column];
    if (token->kind == JSON_TOKEN_TRUE || token->kind == JSON_TOKEN_FALSE) {
        value.bytes = token->kind == JSON_TOKEN_TRUE ? "true" : "false";
        value.size = strlen(value.bytes);
    } else if (token->kind != JSON_TOKEN_NUMBER && token->kind != JSON_TOKEN_STRING) {
        value.bytes = "";
        value.size = 0;
    }
    if (column->role == ROLE_WEIGHT) {
        json->is_text = token->kind != JSON_TOKEN_NUMBER && token->kind != JSON_TOKEN_NULL;
    } else if (is_array(token) || is_object(token)) {
        /* A list is a weight only under a plural key such as "weights". Other lists, such as the
         * coordinates of a GeoJSON LineString, are skipped. */
        json->column = is_array(token) && column->is_plural ? json->column : NO_COLUMN;
        return STATUS_OK;
    }
    column->is_text |= token->kind == JSON_TOKEN_STRING;
    return columns_accept_value(&json->columns, json->column, value, &json->record, reterr);
}

/* Parses a key or value of an edge, except source and target. weight= applies only to attributes at
 * the depth where the dialect puts attributes of edges. */
static enum status parse_attribute(struct json *json, const struct json_token *token,
                                   unsigned depth, struct problem *reterr)
{
    const struct field name = {token->text, token->size, token->place.column, token->place.line};
    const bool is_reached =
        json->dialect == DIALECT_JSON ? depth == 2 : depth == 3 && json->in_metadata;

    return token->kind == JSON_TOKEN_KEY
               ? columns_find(&json->columns, name, !is_reached, &json->column, reterr)
               : accept_value(json, token, reterr);
}

/* Parses the next part of an edge that is an array. Vertices are compared with "n" at the end. */
static enum status parse_array_part(struct json *json, const struct json_token *token,
                                    struct problem *reterr)
{
    const struct field weight = {READER_WEIGHT_VALUE, strlen(READER_WEIGHT_VALUE), 0, 0};
    const unsigned part = json->part_count++;
    int64_t vertex;

    if (part >= 2) {
        STATUS_TRY(part > 2
                       ? refuse_token(token, "An edge must be [source, target, weight].", reterr)
                       : columns_find(&json->columns, weight, false, &json->column, reterr));
        return accept_value(json, token, reterr);
    }
    if (token->kind != JSON_TOKEN_NUMBER ||
        !number_is_canonical_integer(token->text, token->size, &vertex) || vertex < 0 ||
        vertex >= NO_VERTEX) {
        return refuse_token(token, "A vertex must be an integer from 0 to n-1.", reterr);
    }
    json->record.ends[part] = (uint32_t)vertex;
    if (json->largest_place.line == 0 || vertex > json->largest) {
        json->largest = (uint32_t)vertex;
        json->largest_place = token->place;
    }
    return STATUS_OK;
}

static enum status parse_part(struct json *json, const struct json_token *token,
                              struct problem *reterr)
{
    if (json->part == MEMBER_METADATA) {
        json->in_metadata = true;
        return is_object(token) || token->kind == JSON_TOKEN_NULL
                   ? STATUS_OK
                   : refuse_token(token, "\"metadata\" is not an object.", reterr);
    }
    STATUS_TRY(mark_seen(json, json->part, token, reterr));
    switch ((int)json->part) {
    case MEMBER_ID:
        return json_nodes_list(&json->nodes, token, reterr);
    case MEMBER_SOURCE:
        return json_nodes_name(&json->nodes, token, &json->record.ends[0], reterr);
    case MEMBER_TARGET:
        return json_nodes_name(&json->nodes, token, &json->record.ends[1], reterr);
    default:
        return parse_direction(token, &json->one_way, reterr);
    }
}

/* Parses "from" or "to", which vis.js writes for source and target. An edge that begins with
 * "source" or "target" ignores "from" and "to". An edge that begins with "from" or "to" must not
 * contain "source" or "target". */
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
               : refuse_token(token, "Edges have both a \"source\" and a \"from\".", reterr);
}

/* Parses a token inside the lists of the graph. At depth 1 the token is an element, at depth 2 a
 * part of an element, at depth 3 metadata of an element. */
static enum status parse_inner(struct json *json, const struct json_token *token, unsigned depth,
                               struct problem *reterr)
{
    const bool is_node = json->member == MEMBER_NODES;

    if (depth == 1 && is_node && json->by_key && token->kind == JSON_TOKEN_KEY) {
        struct json_token name = *token;
        /* In version 2 of jgf the id of a node is the key of its object. */
        name.kind = JSON_TOKEN_STRING;
        return json_nodes_list(&json->nodes, &name, reterr);
    }
    if (depth == 1 && is_node && json->by_key) {
        return is_object(token) ? STATUS_OK : refuse_token(token, "Nodes must be objects.", reterr);
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
        json->in_metadata = false;
        json->column = NO_COLUMN;
        json->part = find_member(json, is_node ? IN_NODE : IN_EDGE, token);
        if (json->part >= MEMBER_SOURCE && json->part <= MEMBER_TO) {
            return parse_end_name(json, token, reterr);
        }
    } else if (depth == 2 && json->part != MEMBER_OTHER) {
        return parse_part(json, token, reterr);
    }
    return is_node || (depth == 2 && json->part != MEMBER_OTHER)
               ? STATUS_OK
               : parse_attribute(json, token, depth, reterr);
}

/* Parses a token of a matrix document: a part of the matrix or of the list of vertex names. */
static enum status parse_matrix(struct json *json, const struct json_token *token,
                                struct problem *reterr)
{
    const char *wanted = json->reader.options.weight;

    if (json->member == MEMBER_SOURCES || json->member == MEMBER_DESTINATIONS) {
        return json_matrix_name(&json->matrix, token, json->base, reterr);
    }
    if (!json->matrix.is_bare && wanted[0] != '\0' &&
        strcmp(wanted, members[json->member].name) != 0) {
        return STATUS_OK;
    }
    if (token->depth > json->matrix.base - 1) {
        return json_matrix_accept(&json->matrix, token, reterr);
    }
    if (!is_array(token)) {
        return refuse_token(token, "The matrix is not an array of arrays.", reterr);
    }
    if (!is_end(token) && json->matrix.has_width) {
        return json_token_refuse(token, "The document has both \"distances\" and \"durations\".",
                                 "Choose one with weight=distances or weight=durations.", reterr);
    }
    return STATUS_OK;
}

static enum status accept_token(void *context, const struct json_token *token,
                                struct problem *reterr)
{
    struct json *json = context;

    if (token->depth == 0) {
        json->matrix.is_bare = json->dialect == DIALECT_JSON && is_array(token);
        json->matrix.base = json->matrix.is_bare ? 1 : 2;
        return is_object(token) || json->matrix.is_bare
                   ? STATUS_OK
                   : refuse_token(token, "The document is not an object.", reterr);
    }
    if (json->matrix.is_bare || (json->base > 0 && json->member >= MEMBER_SOURCES &&
                                 (token->depth > json->base || token->kind != JSON_TOKEN_KEY))) {
        return parse_matrix(json, token, reterr);
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

static enum status check_complete(struct json *json, struct problem *reterr)
{
    const bool jgf = json->dialect == DIALECT_JGF;
    const bool listed = has_seen(json, MEMBER_NODES);
    const char *detail = NULL;

    if (json->matrix.has_width) {
        return has_seen(json, MEMBER_EDGES) || has_seen(json, MEMBER_LINKS)
                   ? problem_set(reterr, STATUS_BAD_GRAPH,
                                 "The document has both edges and a matrix.")
                   : STATUS_OK;
    }
    if (jgf && !json->has_graph) {
        detail = "There is no \"graph\" in the document.";
    } else if (jgf && !listed) {
        detail = "The graph has no \"nodes\".";
    } else if (!jgf && !has_seen(json, MEMBER_EDGES) && !has_seen(json, MEMBER_LINKS)) {
        detail = "The graph has neither \"edges\" nor \"links\".";
    } else if (json->compact && listed) {
        detail = "The edges of a graph with \"nodes\" must be objects, not arrays.";
    } else if (json->linked && !listed) {
        detail = "The list of \"nodes\" is missing.";
    } else if (!listed && !has_seen(json, MEMBER_N) && !json->reader.options.has_vertex_count) {
        detail = "The graph has neither \"n\" nor \"nodes\".";
    }
    if (detail != NULL) {
        return problem_bad_graph_hint(reterr, 0, 0, READ_HERE, "%s", detail);
    }
    return columns_finish(&json->columns, reterr);
}

static void note_variant(struct json *json)
{
    struct reader_notes *notes = &json->reader.notes;
    const bool listed = has_seen(json, MEMBER_NODES);

    snprintf(notes->variant, sizeof(notes->variant), "%s",
             json->dialect == DIALECT_JGF ? (json->by_key ? "version 2" : "version 1")
             : listed                     ? "node-link"
                                          : "compact");
    notes->says_direction |= has_seen(json, MEMBER_DIRECTED);
}

static enum status check_directions(const struct json *json, struct problem *reterr)
{
    const struct json_place place = json->first_one_way;

    if (json->reader.options.has_directed || json->directed || place.line == 0) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(reterr, place.line, place.column,
                                  "Write \"directed\": true in the graph and \"directed\": false "
                                  "in undirected edges, or specify directed=.",
                                  "The edge is directed, but the graph is undirected.");
}

static enum status finish_compact(struct json *json, struct graph **ret_graph,
                                  struct problem *reterr)
{
    const uint64_t count =
        has_seen(json, MEMBER_N) ? (uint64_t)json->vertex_count : json->reader.options.vertex_count;
    STATUS_TRY(reader_admit_count(&json->reader, count, reterr));
    STATUS_TRY(graph_builder_admit(&json->reader.builder, count, reterr));
    if (json->largest_place.line > 0 && json->largest >= count) {
        STATUS_TRY(problem_bad_graph(reterr, json->largest_place.line, json->largest_place.column,
                                     "Vertex %u is outside the range 0 to n-1 with n=%llu.",
                                     json->largest, (unsigned long long)count));
    }
    return reader_finish_range(&json->reader, (uint32_t)count, 0, NULL, json->directed, ret_graph,
                               reterr);
}

static enum status finish_json(struct reader *reader, struct graph **ret_graph,
                               struct problem *reterr)
{
    struct json *json = (struct json *)reader;
    STATUS_TRY(json_scanner_end(&json->scanner, reterr));
    STATUS_TRY(check_complete(json, reterr));
    if (json->matrix.has_width) {
        return json_matrix_finish(&json->matrix, ret_graph, reterr);
    }
    note_variant(json);
    if (!has_seen(json, MEMBER_NODES)) {
        return finish_compact(json, ret_graph, reterr);
    }
    STATUS_TRY(reader_admit_count(&json->reader, json->nodes.listed, reterr));
    STATUS_TRY(check_directions(json, reterr));
    return json_nodes_build(&json->nodes, json->directed, ret_graph, reterr);
}

static enum status feed_json(struct reader *reader, const char *bytes, size_t size,
                             struct problem *reterr)
{
    return json_scanner_feed(&((struct json *)reader)->scanner, bytes, size, reterr);
}

static void cleanup_json(struct reader *reader)
{
    struct json *json = (struct json *)reader;

    json_scanner_finish(&json->scanner);
    json_nodes_finish(&json->nodes);
    json_nodes_finish(&json->names);
}

static uint64_t measure_memory(const struct reader *reader)
{
    const struct json *json = (const struct json *)reader;

    return json_nodes_memory(&json->nodes) + json_nodes_memory(&json->names);
}

static enum status init_json(struct reader *reader)
{
    struct json *json = (struct json *)reader;

    json->dialect = reader->format == FORMAT_JGF ? DIALECT_JGF : DIALECT_JSON;
    json->base = json->dialect == DIALECT_JSON ? 1 : 0;
    json->directed = true; /* default direction of the format */
    json->column = NO_COLUMN;
    columns_init(&json->columns, reader);
    json->matrix = (struct json_matrix){.reader = reader, .nodes = &json->names};
    json_scanner_init(&json->scanner);
    json->scanner.take = accept_token;
    json->scanner.context = json;
    STATUS_TRY(json_nodes_init(&json->names, reader));
    return json_nodes_init(&json->nodes, reader);
}

const struct reader_class reader_json_class = {
    .size = sizeof(struct json),
    .init = init_json,
    .feed = feed_json,
    .finish = finish_json,
    .cleanup = cleanup_json,
    .memory = measure_memory,
};
