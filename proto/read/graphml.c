/* GraphML (graphml.graphdrawing.org): <graphml> with <key>s, and one <graph> of <node id> and <edge
 * source target>. The <data> of an edge are fields named by the attr.name of their keys, and the
 * <default> of a key applies to edges without that data.
 *
 * expat receives the bytes in blocks of constant size, so that its results, including the positions
 * of errors, do not depend on how the upload is split into pieces. Entities are refused, and the
 * length of a tag or comment is limited, so that memory is bounded by the size of the document. */
#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/read/json_nodes.h"
#include "proto/read/reader.h"

#include <expat.h>
#include <string.h>

#define BLOCK_SIZE 16384
/* Maximum total size of key ids. All of them are searched for each attribute of an edge. */
#define KEYS_SIZE 8192
/* Separator that expat puts between a namespace and the name of an element. */
#define SEPARATOR '\n'
/* Maximum depth of nested elements. */
#define DEPTH_LIMIT 64

enum element {
    ELEMENT_OTHER,
    ELEMENT_GRAPHML,
    ELEMENT_KEY,
    ELEMENT_DEFAULT,
    ELEMENT_GRAPH,
    ELEMENT_NODE,
    ELEMENT_EDGE,
    ELEMENT_HYPEREDGE,
    ELEMENT_PORT,
    ELEMENT_DATA,
    ELEMENT_LABEL, /* element of the editor yEd, at any depth inside the data of an edge */
    ELEMENT_COUNT
};

/* The text of a <data> or <default> element. */
struct value {
    char bytes[COLUMN_VALUE_SIZE];
    size_t size;
    struct json_place place;
    size_t column; /* column of the attribute; NO_COLUMN: the value is not needed */
};

struct graphml {
    struct reader reader;
    XML_Parser parser; /* expat's parser; its user data is this struct */
    char block[BLOCK_SIZE];
    size_t block_size;
    uint64_t parsed_bytes;
    enum status status;     /* status of the handlers, which cannot return a status */
    struct problem *reterr; /* where handlers store a problem, during a feed */
    struct json_nodes nodes;
    unsigned depth;                     /* number of open elements */
    enum element path[DEPTH_LIMIT + 1]; /* elements by depth, from 1 */
    struct columns columns;             /* attributes of edges */
    struct text keys;                   /* ID of each key, followed by NUL and the key's column */
    size_t key;                         /* column of the current <key>, or NO_COLUMN */
    bool has_graph;
    bool directed;
    struct value *value; /* value whose text is being read, or NULL */
    unsigned value_depth;
    struct value data;
    struct value default_weight;
    struct edge_record record;
    bool both_ways; /* the current edge is marked as undirected */
};

/* Returns the position of the current element. Called only by handlers. */
static struct json_place place_of(const struct graphml *graphml)
{
    return (struct json_place){XML_GetCurrentLineNumber(graphml->parser),
                               XML_GetCurrentColumnNumber(graphml->parser) + 1};
}

/* Refuses the current element with STATUS_BAD_GRAPH. */
static enum status refuse_element(const struct graphml *graphml, const char *detail,
                                  const char *hint)
{
    const struct json_place place = place_of(graphml);

    return problem_bad_graph_hint(graphml->reterr, place.line, place.column, hint, "%s", detail);
}

/* Records the status of a handler and stops the parser unless the status is STATUS_OK. */
static void note_failure(struct graphml *graphml, enum status status)
{
    if (status != STATUS_OK && graphml->status == STATUS_OK) {
        graphml->status = status;
        XML_StopParser(graphml->parser, XML_FALSE);
    }
}

static enum element element_of(const char *name)
{
    static const char *const names[ELEMENT_COUNT] = {"",      "graphml", "key",      "default",
                                                     "graph", "node",    "edge",     "hyperedge",
                                                     "port",  "data",    "EdgeLabel"};
    const char *local = strrchr(name, SEPARATOR);
    int element = ELEMENT_COUNT - 1;

    local = local == NULL ? name : local + 1;
    while (element > ELEMENT_OTHER && strcmp(local, names[element]) != 0) {
        element--;
    }
    return (enum element)element;
}

static const char *find_attribute(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

/* Finds the column of an attribute. A problem gets the position of the current element. */
static enum status find_column(struct graphml *graphml, const char *name, bool is_nested,
                               size_t *ret_index)
{
    const struct json_place place = place_of(graphml);
    const struct field field = {name, strlen(name), place.column, place.line};

    return columns_find(&graphml->columns, field, is_nested, ret_index, graphml->reterr);
}

/* Parses a <key>. It applies to edges if its `for` says so or is missing. Several keys may have the
 * same name, because NetworkX writes one for integers and one for decimals. */
static enum status parse_key(struct graphml *graphml, const char *const *attributes)
{
    const char *id = find_attribute(attributes, "id");
    const char *of = find_attribute(attributes, "for");
    const char *name = find_attribute(attributes, "attr.name");
    const char *type = find_attribute(attributes, "attr.type");

    graphml->key = NO_COLUMN;
    if (id == NULL) {
        return refuse_element(graphml, "The key has no id.",
                              "A <key> needs the attributes id, for and attr.name.");
    }
    if (of != NULL && strcmp(of, "edge") != 0 && strcmp(of, "all") != 0) {
        return STATUS_OK;
    }
    if (graphml->keys.size > KEYS_SIZE) {
        return refuse_element(graphml, "The edges have too many attributes.",
                              "Export only the attribute with the weight.");
    }
    STATUS_TRY(find_column(graphml, name == NULL ? id : name, false, &graphml->key));
    if (type != NULL && strcmp(type, "boolean") == 0) {
        columns_bar_numbers(&graphml->columns, graphml->key);
    }
    text_append(&graphml->keys, id, strlen(id) + 1);
    text_append(&graphml->keys, &graphml->key, sizeof(graphml->key));
    return text_status(&graphml->keys);
}

/* Returns the column of the key with this id; NO_COLUMN if no edge attribute has it. */
static size_t find_key(const struct graphml *graphml, const char *id)
{
    const char *end = graphml->keys.bytes + graphml->keys.size;
    size_t column = NO_COLUMN;

    for (const char *at = graphml->keys.bytes; at < end; at += strlen(at) + 1 + sizeof(column)) {
        if (strcmp(at, id) == 0) {
            memcpy(&column, at + strlen(at) + 1, sizeof(column));
            break;
        }
    }
    return column;
}

static enum status parse_graph(struct graphml *graphml, const char *const *attributes)
{
    const char *direction = find_attribute(attributes, "edgedefault");

    if (graphml->has_graph) {
        return refuse_element(graphml, "There are several graphs.", "Upload one graph at a time.");
    }
    graphml->has_graph = true;
    graphml->reader.notes.says_direction = direction != NULL;
    graphml->directed = direction == NULL || strcmp(direction, "directed") == 0;
    if (!graphml->directed && strcmp(direction, "undirected") != 0) {
        return refuse_element(graphml, "edgedefault is neither directed nor undirected.",
                              "Write edgedefault=\"directed\" or edgedefault=\"undirected\".");
    }
    return STATUS_OK;
}

/* Makes a token for json_nodes from a name. A name that is an integer becomes a number. */
static struct json_token token_of(const struct graphml *graphml, const char *name)
{
    size_t size = strlen(name);
    int64_t number;

    return (struct json_token){
        .kind = number_is_canonical_integer(name, size, &number) ? JSON_TOKEN_NUMBER
                                                                 : JSON_TOKEN_STRING,
        .text = name,
        .size = size,
        .place = place_of(graphml),
    };
}

static enum status parse_end(struct graphml *graphml, const char *name, uint32_t *ret_row)
{
    if (name == NULL) {
        return refuse_element(graphml, "The edge has no source or no target.",
                              "Write an edge as <edge source=\"a\" target=\"b\"/>.");
    }
    struct json_token token = token_of(graphml, name);
    return json_nodes_name(&graphml->nodes, &token, ret_row, graphml->reterr);
}

/* Parses the direction of an edge. A directed edge is refused in an undirected graph, unless the
 * request sets the direction. */
static enum status parse_direction(struct graphml *graphml, const char *direction)
{
    graphml->both_ways =
        direction != NULL && (strcmp(direction, "false") == 0 || strcmp(direction, "0") == 0);
    if (direction == NULL || graphml->both_ways) {
        return STATUS_OK;
    }
    if (strcmp(direction, "true") != 0 && strcmp(direction, "1") != 0) {
        return refuse_element(graphml, "directed is neither true nor false.",
                              "Write directed=\"true\" or \"false\", or omit the attribute.");
    }
    if (graphml->directed || graphml->reader.options.has_directed) {
        return STATUS_OK;
    }
    return refuse_element(
        graphml, "The edge is directed, but the graph has edgedefault=\"undirected\".",
        "Write edgedefault=\"directed\" and, on undirected edges, directed=\"false\"; or "
        "specify directed=.");
}

static enum status begin_edge(struct graphml *graphml, const char *const *attributes)
{
    const struct json_place place = place_of(graphml);

    graphml->record = (struct edge_record){.place = {"", 0, place.column, place.line}};
    STATUS_TRY(parse_end(graphml, find_attribute(attributes, "source"), &graphml->record.ends[0]));
    STATUS_TRY(parse_end(graphml, find_attribute(attributes, "target"), &graphml->record.ends[1]));
    if (find_attribute(attributes, "weight") != NULL && !graphml->columns.is_unweighted) {
        return refuse_element(
            graphml,
            "The edge has its weight as an attribute of its tag, but GraphML stores "
            "weights in <data>.",
            "Declare <key id=\"weight\" for=\"edge\" attr.name=\"weight\"/> and write <data "
            "key=\"weight\">5</data> in the edge; weight=none counts each edge as 1.");
    }
    return parse_direction(graphml, find_attribute(attributes, "directed"));
}

/* Starts to collect the text of the current element as a value of this column. */
static void begin_value(struct graphml *graphml, struct value *value, size_t column)
{
    value->size = 0;
    value->place = place_of(graphml);
    value->column = column;
    graphml->value = value;
    graphml->value_depth = graphml->depth;
}

/* Returns the element, or ELEMENT_OTHER if it is not inside its proper parent, so that it is
 * ignored with its content. Elements without an entry, such as hyperedges, may have any parent. */
static enum element element_in(enum element element, enum element parent)
{
    static const enum element parents[ELEMENT_COUNT] = {
        [ELEMENT_KEY] = ELEMENT_GRAPHML, [ELEMENT_DEFAULT] = ELEMENT_KEY,
        [ELEMENT_NODE] = ELEMENT_GRAPH,  [ELEMENT_EDGE] = ELEMENT_GRAPH,
        [ELEMENT_DATA] = ELEMENT_EDGE,
    };

    if (parents[element] != ELEMENT_OTHER && parents[element] != parent) {
        return ELEMENT_OTHER;
    }
    return element;
}

static enum status parse_element(struct graphml *graphml, enum element element, enum element parent,
                                 const char *const *attributes)
{
    const char *name = find_attribute(attributes, element == ELEMENT_DATA ? "key" : "id");
    struct json_token token;
    size_t column;

    switch (element) {
    case ELEMENT_KEY:
        return parse_key(graphml, attributes);
    case ELEMENT_DEFAULT:
        if (graphml->key != NO_COLUMN && graphml->key == graphml->columns.roles[ROLE_WEIGHT]) {
            begin_value(graphml, &graphml->default_weight, graphml->key);
        }
        return STATUS_OK;
    case ELEMENT_GRAPH:
        return parent == ELEMENT_GRAPHML
                   ? parse_graph(graphml, attributes)
                   : refuse_element(graphml, "There is a graph within a graph.",
                                    "Upload the inner graph by itself, or remove it.");
    case ELEMENT_NODE:
        if (name == NULL) {
            return refuse_element(graphml, "The node has no id.",
                                  "Write a node as <node id=\"a\"/>.");
        }
        token = token_of(graphml, name);
        return json_nodes_list(&graphml->nodes, &token, graphml->reterr);
    case ELEMENT_EDGE:
        return begin_edge(graphml, attributes);
    case ELEMENT_DATA:
        column = name != NULL ? find_key(graphml, name) : NO_COLUMN;
        STATUS_TRY(name != NULL && column == NO_COLUMN ? find_column(graphml, name, false, &column)
                                                       : STATUS_OK);
        begin_value(graphml, &graphml->data, column);
        return STATUS_OK;
    case ELEMENT_LABEL:
        STATUS_TRY(find_column(graphml, "EdgeLabel", true, &column));
        begin_value(graphml, &graphml->data, column);
        return STATUS_OK;
    case ELEMENT_HYPEREDGE:
        return refuse_element(
            graphml, "The graph has a hyperedge, and distances along hyperedges are not defined.",
            "Replace the hyperedge with edges between two nodes.");
    case ELEMENT_PORT:
        return refuse_element(graphml, "The graph has a port, and ports are not supported.",
                              "Turn each port into a node.");
    case ELEMENT_OTHER:
    case ELEMENT_GRAPHML:
    case ELEMENT_COUNT:
        break;
    }
    return STATUS_OK;
}

static void on_start(void *context, const char *name, const char **attributes)
{
    struct graphml *graphml = context;
    enum element element = element_of(name);
    enum element parent = graphml->path[graphml->depth];

    if (graphml->status != STATUS_OK) {
        return;
    }
    if (graphml->depth == DEPTH_LIMIT) {
        note_failure(graphml,
                     refuse_element(graphml, "Elements are nested more than 64 levels deep.",
                                    "Nest elements less deeply; GraphML needs only four levels."));
        return;
    }
    if (graphml->depth == 0 && element != ELEMENT_GRAPHML) {
        note_failure(graphml, refuse_element(graphml, "The root element is not <graphml>.",
                                             "Convert the file to GraphML."));
        return;
    }
    if (graphml->depth > 0) {
        /* Elements inside data or inside unknown elements are ignored. */
        const bool opaque = parent == ELEMENT_OTHER || parent == ELEMENT_DATA ||
                            parent == ELEMENT_DEFAULT || parent == ELEMENT_LABEL;

        element = element == ELEMENT_LABEL ? ELEMENT_LABEL
                  : opaque                 ? ELEMENT_OTHER
                                           : element_in(element, parent);
    }
    graphml->path[++graphml->depth] = element;
    note_failure(graphml, parse_element(graphml, element, parent, (const char *const *)attributes));
}

static void on_text(void *context, const char *bytes, int size)
{
    struct graphml *graphml = context;
    struct value *value = graphml->value;
    size_t count = (size_t)size;

    if (value == NULL || graphml->depth != graphml->value_depth || graphml->status != STATUS_OK) {
        return;
    }
    /* A value that fills the buffer is too long and is refused later. */
    count = count > COLUMN_VALUE_SIZE - value->size ? COLUMN_VALUE_SIZE - value->size : count;
    memcpy(value->bytes + value->size, bytes, count);
    value->size += count;
}

/* Returns the text of the value without surrounding white space. */
static struct field field_of(const struct value *value)
{
    struct field field = {value->bytes, value->size, value->place.column, value->place.line};

    if (field.size == COLUMN_VALUE_SIZE) {
        return field; /* a truncated value, which is refused as a weight */
    }
    while (field.size > 0 && memchr(" \t\n\r", field.bytes[field.size - 1], 4) != NULL) {
        field.size--;
    }
    while (field.size > 0 && memchr(" \t\n\r", *field.bytes, 4) != NULL) {
        field.bytes++;
        field.size--;
    }
    return field;
}

static enum status end_value(struct graphml *graphml)
{
    const struct value *value = graphml->value;

    graphml->value = NULL;
    return value == &graphml->default_weight || value->column == NO_COLUMN
               ? STATUS_OK
               : columns_accept_value(&graphml->columns, value->column, field_of(value),
                                      &graphml->record, graphml->reterr);
}

/* Adds an edge at its end tag. In a directed graph an undirected edge becomes two edges. */
static enum status add_edge(struct graphml *graphml)
{
    const struct graph_options *options = &graphml->reader.options;
    const bool directed = options->has_directed ? options->directed : graphml->directed;
    struct edge_record *record = &graphml->record;

    if (record->values[ROLE_WEIGHT].bytes == NULL && graphml->default_weight.place.line > 0 &&
        graphml->default_weight.column == graphml->columns.roles[ROLE_WEIGHT]) {
        record->values[ROLE_WEIGHT] = field_of(&graphml->default_weight);
    }
    return columns_add_edge(&graphml->columns, record, graphml->both_ways && directed,
                            graphml->reterr);
}

static void on_end(void *context, const char *name)
{
    struct graphml *graphml = context;
    enum element element = graphml->path[graphml->depth];

    (void)name;
    if (graphml->status != STATUS_OK) {
        return;
    }
    if (graphml->value != NULL && graphml->depth == graphml->value_depth) {
        note_failure(graphml, end_value(graphml));
    }
    graphml->depth--;
    if (graphml->status == STATUS_OK && element == ELEMENT_EDGE) {
        note_failure(graphml, add_edge(graphml));
    }
}

static void refuse_entity(struct graphml *graphml)
{
    if (graphml->status == STATUS_OK) {
        note_failure(graphml,
                     refuse_element(graphml,
                                    "The document declares entities, which are not supported.",
                                    "Replace each entity with its text."));
    }
}

static void on_entity(void *context, const char *name, int is_parameter, const char *value,
                      int value_size, const char *base, const char *system_id,
                      const char *public_id, const char *notation)
{
    (void)name, (void)is_parameter, (void)value, (void)value_size, (void)base, (void)system_id;
    (void)public_id, (void)notation;
    refuse_entity(context);
}

static void on_skipped_entity(void *context, const char *name, int is_parameter)
{
    (void)name, (void)is_parameter;
    refuse_entity(context);
}

static enum status refuse_xml(const struct graphml *graphml)
{
    const enum XML_Error error = XML_GetErrorCode(graphml->parser);
    const struct json_place place = place_of(graphml);

    if (error == XML_ERROR_NO_MEMORY) {
        return STATUS_NO_MEMORY;
    }
    if (error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN ||
        error == XML_ERROR_PARTIAL_CHAR || error == XML_ERROR_UNCLOSED_CDATA_SECTION) {
        return problem_refuse_at(graphml->reterr, STATUS_TRUNCATED, place.line, place.column, NULL,
                                 "The document is incomplete.");
    }
    return problem_bad_graph(graphml->reterr, place.line, place.column,
                             "This is not well-formed XML: %s.", XML_ErrorString(error));
}

static enum status parse_block(struct graphml *graphml, bool is_last, struct problem *reterr)
{
    graphml->reterr = reterr;
    graphml->parsed_bytes += graphml->block_size;
    const enum XML_Status parsed =
        XML_Parse(graphml->parser, graphml->block, (int)graphml->block_size, is_last);
    graphml->block_size = 0;
    STATUS_TRY(graphml->status);
    if (parsed != XML_STATUS_OK) {
        return refuse_xml(graphml);
    }
    /* expat buffers an incomplete tag or comment, so their length is limited. */
    const XML_Index begin = XML_GetCurrentByteIndex(graphml->parser);
    if (!is_last && begin >= 0 &&
        graphml->parsed_bytes - (uint64_t)begin > READER_LINE_LIMIT + BLOCK_SIZE) {
        return refuse_element(graphml, "A tag or a comment is longer than 65536 bytes.",
                              "Shorten the tag or comment.");
    }
    return STATUS_OK;
}

static enum status feed_graphml(struct reader *reader, const char *bytes, size_t size,
                                struct problem *reterr)
{
    struct graphml *graphml = (struct graphml *)reader;

    while (size > 0) {
        const size_t room = BLOCK_SIZE - graphml->block_size;
        const size_t part = room < size ? room : size;

        memcpy(graphml->block + graphml->block_size, bytes, part);
        graphml->block_size += part;
        bytes += part;
        size -= part;
        STATUS_TRY(graphml->block_size == BLOCK_SIZE ? parse_block(graphml, false, reterr)
                                                     : STATUS_OK);
    }
    return STATUS_OK;
}

static enum status finish_graphml(struct reader *reader, struct graph **ret_graph,
                                  struct problem *reterr)
{
    struct graphml *graphml = (struct graphml *)reader;
    STATUS_TRY(parse_block(graphml, true, reterr));
    if (!graphml->has_graph) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is no <graph> in the document.");
    }
    STATUS_TRY(reader_admit_count(reader, graphml->nodes.listed, reterr));
    STATUS_TRY(columns_finish(&graphml->columns, reterr));
    return json_nodes_build(&graphml->nodes, graphml->directed, ret_graph, reterr);
}

static void cleanup_graphml(struct reader *reader)
{
    struct graphml *graphml = (struct graphml *)reader;

    if (graphml->parser != NULL) {
        XML_ParserFree(graphml->parser);
    }
    text_finish(&graphml->keys);
    json_nodes_finish(&graphml->nodes);
}

static uint64_t measure_memory(const struct reader *reader)
{
    return json_nodes_memory(&((const struct graphml *)reader)->nodes);
}

static enum status init_graphml(struct reader *reader)
{
    struct graphml *graphml = (struct graphml *)reader;

    graphml->parser =
        XML_ParserCreateNS(reader->options.charset[0] != '\0' ? "UTF-8" : NULL, SEPARATOR);
    if (graphml->parser == NULL) {
        return STATUS_NO_MEMORY;
    }
    XML_SetUserData(graphml->parser, graphml);
    XML_SetEntityDeclHandler(graphml->parser, on_entity);
    XML_SetSkippedEntityHandler(graphml->parser, on_skipped_entity);
    XML_SetElementHandler(graphml->parser, on_start, on_end);
    XML_SetCharacterDataHandler(graphml->parser, on_text);
    columns_init(&graphml->columns, reader);
    graphml->key = NO_COLUMN;
    return json_nodes_init(&graphml->nodes, reader);
}

const struct reader_class reader_graphml_class = {
    .size = sizeof(struct graphml),
    .init = init_graphml,
    .feed = feed_graphml,
    .finish = finish_graphml,
    .cleanup = cleanup_graphml,
    .memory = measure_memory,
};
