/* GraphML (graphml.graphdrawing.org): <graphml> with <key>s, and one <graph> of <node id> and <edge
 * source target>. The weight is the <data> of the key whose attr.name is "weight" or what the
 * options name; without it the key's <default>, else 1. */
#include "proto/number.h"
#include "proto/read/json_nodes.h"
#include "proto/read/reader.h"
#include "proto/read/xml_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LIMIT 512
#define KEY_LIMIT 256
/* Elements within elements. */
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
    ELEMENT_COUNT
};

struct number {
    char bytes[NUMBER_LIMIT];
    size_t size;
    struct json_place place;
    bool given;
    bool too_long;
};

struct graphml {
    struct reader reader;
    struct graph_options options;
    struct xml_blocks xml;
    struct graph_builder *builder;
    struct json_nodes nodes;
    unsigned depth;                     /* open elements */
    enum element path[DEPTH_LIMIT + 1]; /* by depth, from 1 */
    char key[KEY_LIMIT];                /* id of the key of the weights; empty = there is none */
    bool key_is_weight;                 /* of the <key> at hand */
    struct text key_names;              /* of the attributes of edges, for a hint */
    bool has_graph;
    bool directed;
    struct number *number; /* whose text is being read, or NULL */
    unsigned number_depth;
    struct number default_weight;
    struct number weight; /* of the edge at hand */
    struct json_place element;
    uint32_t ends[2];
    bool both_ways; /* the edge says so */
};

static enum element element_of(const char *name)
{
    static const char *const names[ELEMENT_COUNT] = {
        "", "graphml", "key", "default", "graph", "node", "edge", "hyperedge", "port", "data"};
    const char *local = strrchr(name, XML_SEPARATOR);
    int element = ELEMENT_COUNT - 1;

    local = local == NULL ? name : local + 1;
    while (element > ELEMENT_OTHER && strcmp(local, names[element]) != 0) {
        element--;
    }
    return (enum element)element;
}

static const char *attribute(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

static const char *weight_name(const struct graphml *graphml)
{
    return graphml->options.weight[0] != '\0' ? graphml->options.weight : "weight";
}

/* A key belongs to edges when it says so, or does not say. */
static enum status take_key(struct graphml *graphml, const char *const *attributes)
{
    const char *id = attribute(attributes, "id");
    const char *of = attribute(attributes, "for");
    const char *name = attribute(attributes, "attr.name");

    graphml->key_is_weight = false;
    if (id == NULL) {
        return xml_blocks_refuse(&graphml->xml, "The key has no id.",
                                 "A <key> has id, for and attr.name.");
    }
    if (of != NULL && strcmp(of, "edge") != 0 && strcmp(of, "all") != 0) {
        return STATUS_OK;
    }
    name = name == NULL ? id : name;
    text_printf(&graphml->key_names, "%s%s", graphml->key_names.size > 0 ? ", " : "", name);
    if (strcmp(name, weight_name(graphml)) != 0) {
        return STATUS_OK;
    }
    if (graphml->key[0] != '\0') {
        return xml_blocks_refuse(&graphml->xml, "Two keys of edges have this name.",
                                 "Rename one of them.");
    }
    if (id[0] == '\0' || strlen(id) >= KEY_LIMIT) {
        return xml_blocks_refuse(&graphml->xml, "The id of the key has no or more than 255 bytes.",
                                 "Give it a shorter id.");
    }
    memcpy(graphml->key, id, strlen(id) + 1);
    graphml->key_is_weight = true;
    return STATUS_OK;
}

static enum status check_weight_name(const struct graphml *graphml)
{
    const char *wanted = graphml->options.weight;

    if (wanted[0] == '\0' || graphml->key[0] != '\0') {
        return STATUS_OK;
    }
    problem_set(graphml->xml.reterr, STATUS_BAD_PARAMETER,
                "weight=%s names no attribute that edges have.", wanted);
    if (graphml->key_names.size > 0) {
        problem_hint(graphml->xml.reterr, "Edges have: %s.", graphml->key_names.bytes);
    } else {
        problem_hint(graphml->xml.reterr, "No <key> is for edges.");
    }
    return STATUS_BAD_PARAMETER;
}

static enum status take_graph(struct graphml *graphml, const char *const *attributes)
{
    const char *direction = attribute(attributes, "edgedefault");

    if (graphml->has_graph) {
        return xml_blocks_refuse(&graphml->xml, "There are several graphs.",
                                 "Upload one graph at a time.");
    }
    graphml->has_graph = true;
    graphml->reader.notes.says_direction = direction != NULL;
    graphml->directed = direction == NULL || strcmp(direction, "directed") == 0;
    if (!graphml->directed && strcmp(direction, "undirected") != 0) {
        return xml_blocks_refuse(&graphml->xml, "edgedefault is neither directed nor undirected.",
                                 "Say which the edges are.");
    }
    return check_weight_name(graphml);
}

/* A name as the lists of nodes take it: one that is an integer counts as a number. */
static struct json_token token_of(const struct graphml *graphml, const char *name)
{
    size_t size = strlen(name);
    int64_t number;

    return (struct json_token){
        .kind = number_is_canonical_integer(name, size, &number) ? JSON_TOKEN_NUMBER
                                                                 : JSON_TOKEN_STRING,
        .text = name,
        .size = size,
        .place = xml_blocks_place(&graphml->xml),
    };
}

static enum status take_node(struct graphml *graphml, const char *const *attributes)
{
    const char *id = attribute(attributes, "id");
    struct json_token token;

    if (id == NULL) {
        return xml_blocks_refuse(&graphml->xml, "The node has no id.",
                                 "Every node needs one of its own.");
    }
    token = token_of(graphml, id);
    return json_nodes_list(&graphml->nodes, &token, graphml->xml.reterr);
}

static enum status take_end(struct graphml *graphml, const char *name, uint32_t *ret_row)
{
    struct json_token token;

    if (name == NULL) {
        return xml_blocks_refuse(&graphml->xml, "The edge has no source or no target.",
                                 "An edge is <edge source=\"a\" target=\"b\"/>.");
    }
    token = token_of(graphml, name);
    return json_nodes_name(&graphml->nodes, &token, ret_row, graphml->xml.reterr);
}

/* In an undirected graph no edge leads one way, unless the request overrules what it is. */
static enum status take_direction(struct graphml *graphml, const char *direction)
{
    graphml->both_ways = direction != NULL && strcmp(direction, "false") == 0;
    if (direction == NULL || graphml->both_ways) {
        return STATUS_OK;
    }
    if (strcmp(direction, "true") != 0) {
        return xml_blocks_refuse(&graphml->xml, "directed is neither true nor false.",
                                 "Say which, or leave it out.");
    }
    if (graphml->directed || graphml->options.has_directed) {
        return STATUS_OK;
    }
    return xml_blocks_refuse(
        &graphml->xml, "The edge is directed, and the graph says that edges are not.",
        "Say edgedefault=\"directed\", and directed=\"false\" of the edges that lead both "
        "ways, or give directed=.");
}

static enum status begin_edge(struct graphml *graphml, const char *const *attributes)
{
    enum status status = take_end(graphml, attribute(attributes, "source"), &graphml->ends[0]);

    graphml->element = xml_blocks_place(&graphml->xml);
    graphml->weight.given = false;
    if (status == STATUS_OK) {
        status = take_end(graphml, attribute(attributes, "target"), &graphml->ends[1]);
    }
    if (status == STATUS_OK) {
        status = take_direction(graphml, attribute(attributes, "directed"));
    }
    return status;
}

static enum status begin_number(struct graphml *graphml, struct number *number)
{
    if (number->given) {
        return xml_blocks_refuse(&graphml->xml, "The weight is given twice.",
                                 "Take one of them out.");
    }
    *number = (struct number){.place = xml_blocks_place(&graphml->xml), .given = true};
    graphml->number = number;
    graphml->number_depth = graphml->depth;
    return STATUS_OK;
}

static enum status begin_data(struct graphml *graphml, const char *const *attributes)
{
    const char *key = attribute(attributes, "key");

    if (key == NULL || graphml->key[0] == '\0' || strcmp(key, graphml->key) != 0) {
        return STATUS_OK;
    }
    return begin_number(graphml, &graphml->weight);
}

static enum status begin_default(struct graphml *graphml)
{
    return graphml->key_is_weight ? begin_number(graphml, &graphml->default_weight) : STATUS_OK;
}

/* Ignores an element outside its proper parent, with all that is in it: it counts as ELEMENT_OTHER.
 * An element that would change the graph has no proper parent and keeps its meaning. */
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

static enum status take_element(struct graphml *graphml, enum element element, enum element parent,
                                const char *const *attributes)
{
    switch (element) {
    case ELEMENT_KEY:
        return take_key(graphml, attributes);
    case ELEMENT_DEFAULT:
        return begin_default(graphml);
    case ELEMENT_GRAPH:
        return parent == ELEMENT_GRAPHML
                   ? take_graph(graphml, attributes)
                   : xml_blocks_refuse(&graphml->xml, "There is a graph within a graph.",
                                       "Upload it by itself.");
    case ELEMENT_NODE:
        return take_node(graphml, attributes);
    case ELEMENT_EDGE:
        return begin_edge(graphml, attributes);
    case ELEMENT_DATA:
        return begin_data(graphml, attributes);
    case ELEMENT_HYPEREDGE:
        return xml_blocks_refuse(&graphml->xml,
                                 "There is a hyperedge, and no distance is defined along it.",
                                 "Make it edges between two nodes.");
    case ELEMENT_PORT:
        return xml_blocks_refuse(&graphml->xml, "There is a port, and ports are not read.",
                                 "Make ports nodes of their own.");
    case ELEMENT_OTHER:
    case ELEMENT_GRAPHML:
    case ELEMENT_COUNT:
        break;
    }
    return STATUS_OK;
}

static void on_start(void *context, const char *name, const char **attributes)
{
    struct graphml *graphml = ((struct xml_blocks *)context)->context;
    enum element element = element_of(name);
    enum element parent = graphml->path[graphml->depth];

    if (graphml->xml.status != STATUS_OK) {
        return;
    }
    if (graphml->depth == DEPTH_LIMIT) {
        xml_blocks_fail(&graphml->xml,
                        xml_blocks_refuse(&graphml->xml,
                                          "There are more than 64 levels of elements.",
                                          "A graph has four."));
        return;
    }
    if (graphml->depth == 0 && element != ELEMENT_GRAPHML) {
        xml_blocks_fail(&graphml->xml,
                        xml_blocks_refuse(&graphml->xml, "The document is not <graphml>.",
                                          "Other XML has to be converted."));
        return;
    }
    if (graphml->depth > 0) {
        /* Data is text; below what is not known, nothing is. */
        bool opaque =
            parent == ELEMENT_OTHER || parent == ELEMENT_DATA || parent == ELEMENT_DEFAULT;

        element = opaque ? ELEMENT_OTHER : element_in(element, parent);
    }
    graphml->path[++graphml->depth] = element;
    xml_blocks_fail(&graphml->xml,
                    take_element(graphml, element, parent, (const char *const *)attributes));
}

static void on_text(void *context, const char *bytes, int size)
{
    struct graphml *graphml = ((struct xml_blocks *)context)->context;
    struct number *number = graphml->number;
    size_t count = (size_t)size;

    if (number == NULL || graphml->depth != graphml->number_depth ||
        graphml->xml.status != STATUS_OK) {
        return;
    }
    if (count > NUMBER_LIMIT - number->size) {
        count = NUMBER_LIMIT - number->size;
        number->too_long = true;
    }
    memcpy(number->bytes + number->size, bytes, count);
    number->size += count;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static enum status end_number(struct graphml *graphml)
{
    struct number *number = graphml->number;
    size_t begin = 0;

    graphml->number = NULL;
    while (number->size > 0 && is_space(number->bytes[number->size - 1])) {
        number->size--;
    }
    while (begin < number->size && is_space(number->bytes[begin])) {
        begin++;
    }
    if (number->too_long) {
        return json_scanner_refuse(number->place, graphml->xml.reterr,
                                   "The weight has more than 512 characters.");
    }
    number->size -= begin;
    memmove(number->bytes, number->bytes + begin, number->size);
    return STATUS_OK;
}

static enum status add_edge(struct graphml *graphml, const struct number *number)
{
    const uint32_t back[2] = {graphml->ends[1], graphml->ends[0]};
    const struct graph_options *options = &graphml->options;
    bool directed = options->has_directed ? options->directed : graphml->directed;
    enum status status = reader_add_edge(graphml->builder, options, graphml->ends, number->bytes,
                                         number->size, number->place.column, graphml->xml.reterr);

    if (status == STATUS_OK && graphml->both_ways && directed) {
        status = reader_add_edge(graphml->builder, options, back, number->bytes, number->size,
                                 number->place.column, graphml->xml.reterr);
    }
    if (status != STATUS_OK) {
        problem_at(graphml->xml.reterr, number->place.line, number->place.column);
    }
    return status;
}

static enum status end_edge(struct graphml *graphml)
{
    const struct number one = {.bytes = "1", .size = 1, .place = graphml->element};

    if (graphml->weight.given) {
        return add_edge(graphml, &graphml->weight);
    }
    return add_edge(graphml, graphml->default_weight.given ? &graphml->default_weight : &one);
}

static void on_end(void *context, const char *name)
{
    struct graphml *graphml = ((struct xml_blocks *)context)->context;
    enum element element = graphml->path[graphml->depth];

    (void)name;
    if (graphml->xml.status != STATUS_OK) {
        return;
    }
    if (graphml->number != NULL && graphml->depth == graphml->number_depth) {
        xml_blocks_fail(&graphml->xml, end_number(graphml));
    }
    graphml->depth--;
    if (graphml->xml.status == STATUS_OK && element == ELEMENT_EDGE) {
        xml_blocks_fail(&graphml->xml, end_edge(graphml));
    }
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    return xml_blocks_feed(&((struct graphml *)reader)->xml, bytes, size, reterr);
}

static enum status check_complete(const struct graphml *graphml, struct problem *reterr)
{
    if (text_status(&graphml->key_names) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
    }
    if (!graphml->has_graph) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is no <graph> in the document.");
    }
    return reader_admit_count(&graphml->options, graphml->nodes.listed, reterr);
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct graphml *graphml = (struct graphml *)reader;
    struct reader_notes *notes = &graphml->reader.notes;
    enum status status = xml_blocks_end(&graphml->xml, reterr);

    if (status == STATUS_OK) {
        status = check_complete(graphml, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(notes->weight, sizeof(notes->weight), "%s",
             graphml->key[0] != '\0' ? weight_name(graphml) : "");
    return json_nodes_build(&graphml->nodes, graphml->builder, graphml->directed, ret_graph,
                            reterr);
}

static void destroy(struct reader *reader)
{
    struct graphml *graphml = (struct graphml *)reader;

    xml_blocks_finish(&graphml->xml);
    text_finish(&graphml->key_names);
    graph_builder_destroy(graphml->builder);
    json_nodes_finish(&graphml->nodes);
    free(graphml);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct graphml *graphml = calloc(1, sizeof(*graphml));

    if (graphml == NULL) {
        return STATUS_NO_MEMORY;
    }
    graphml->options = *options;
    if (xml_blocks_init(&graphml->xml, graphml) != STATUS_OK ||
        graph_builder_create(options, &graphml->builder) != STATUS_OK ||
        json_nodes_init(&graphml->nodes, graphml->builder) != STATUS_OK) {
        destroy(&graphml->reader);
        return STATUS_NO_MEMORY;
    }
    XML_SetElementHandler(graphml->xml.parser, on_start, on_end);
    XML_SetCharacterDataHandler(graphml->xml.parser, on_text);
    *ret_reader = &graphml->reader;
    return STATUS_OK;
}

const struct reader_class reader_graphml_class = {
    .format = FORMAT_GRAPHML,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
