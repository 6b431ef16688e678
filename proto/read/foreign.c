#include "proto/read/foreign.h"

#include "proto/read/reader.h"

#include <ctype.h>
#include <string.h>

#define PATTERN_LIMIT 7
/* Node-link JSON keeps names with blanks, and attributes of any shape. */
#define NODE_LINK(graph) "json.dump(networkx.node_link_data(" graph "), open('g.json', 'w'))"

/* A pattern is the begin of a line, without regard to case: a blank stands for white space, which
 * may be missing before a bracket or a colon, and @ for a word. The first format whose pattern
 * occurs is the one: one of DOT may have lines as those of GML. */
static const struct {
    const char *name;
    const char *hint;
    const char *patterns[PATTERN_LIMIT]; /* NULL ends the list */
} formats[] = {
    {"a DOT file of Graphviz",
     "Convert it: import networkx; "
     "networkx.write_edgelist(networkx.nx_agraph.read_dot('g.dot'), 'g.csv', delimiter=';', "
     "data=['weight']); upload g.csv, with directed=false if it is a graph and no digraph.",
     {"graph {", "graph @ {", "graph \"", "digraph {", "digraph @ {", "digraph \"", "strict @"}},
    {"a GML file",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_gml('g.gml')") "; where nodes have no label, read_gml('g.gml', "
                                       "label=None).",
     {"graph ["}},
    {"a Pajek file",
     "Convert it: import json, networkx; " NODE_LINK("networkx.read_pajek('g.net')"),
     {"*vertices", "*network", "*arcs", "*edges", "*matrix"}},
    {"a GEXF file",
     "Convert it: import json, networkx; " NODE_LINK("networkx.read_gexf('g.gexf')"),
     {"<gexf"}},
    {"a TSPLIB file",
     "Convert it: import json, networkx, tsplib95; " NODE_LINK(
         "tsplib95.load('g.tsp').get_graph()"),
     {"dimension :", "edge_weight_type :", "edge_weight_section", "node_coord_section"}},
    {"a TNTP network",
     "Convert it: awk '$1 + 0 {print $1, $2, $4}' g.tntp >g.edges; column 4 is the length and "
     "column 5 the free flow time.",
     {"<number of", "<first thru", "<end of metadata"}},
    {"a multi-line adjacency list of NetworkX",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_multiline_adjlist('g.adjlist')") "; give create_using=networkx.DiGraph if "
                                                         "it is "
                                                         "directed.",
     {"@ {}\n", "@ {'"}},
    {"an adjacency list of NetworkX",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_adjlist('g.adjlist')") "; give create_using=networkx.DiGraph if it is "
                                               "directed.",
     {"# gmt @"}},
    {"an LGL file",
     "Convert it: import igraph; igraph.Graph.Read_Lgl('g.lgl').write_ncol('g.edges', "
     "weights='weight'), with weights=None if there are none, and upload g.edges with "
     "directed=false. A list of edges with comments is read with format=edges.",
     {"@\n# @\n@\n", "@ @\n# @\n@ @\n"}},
    {"a SIF file",
     "Convert it: awk '{for (i = 3; i <= NF; i++) print $1, $i}' g.sif >g.edges",
     {"@ pp @", "@ pd @", "@ pr @", "@ rc @", "@ cr @", "@ interacts_with @"}},
    {"a tar archive", "Unpack it and send the file in it, as it is or in gzip or zstd.", {NULL}},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool begins(const char *at, const char *end, const char *pattern)
{
    for (; *pattern != '\0'; pattern++) {
        const bool may_miss =
            *pattern == ' ' && pattern[1] != '@' && !isalnum((unsigned char)pattern[1]);
        const bool is_word = *pattern == '@';
        const char *begin = at;

        while (at < end && (is_word ? !isspace((unsigned char)*at) && strchr("#{}[],;", *at) == NULL
                            : may_miss ? isspace((unsigned char)*at) != 0
                                       : is_blank(*at) && (*pattern == ' ' || *pattern == '\n'))) {
            at++;
        }
        if (is_word || *pattern == ' ') {
            if (at == begin && !may_miss) {
                return false;
            }
        } else if (at == end || tolower((unsigned char)*at++) != *pattern) {
            return false;
        }
    }
    return true;
}

/* Whether a line begins so, or an element of XML behind another one. */
static bool has_line(const char *bytes, const char *end, const char *pattern)
{
    for (const char *at = bytes; at < end; at++) {
        const bool is_begin = at == bytes || at[-1] == '\n' || (*at == '<' && at[-1] == '>');

        while (is_begin && at + 1 < end && is_blank(*at)) {
            at++;
        }
        if (is_begin && begins(at, end, pattern)) {
            return true;
        }
    }
    return false;
}

enum status foreign_refuse(const char *bytes, size_t size, struct problem *reterr)
{
    const char *end = bytes + (size < READER_SNIFF_SIZE ? size : READER_SNIFF_SIZE);
    const size_t count = sizeof(formats) / sizeof(formats[0]);
    const bool is_tar = size > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
    const char *first = bytes += size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    size_t found = is_tar ? count - 1 : count;

    while (first < end && isspace((unsigned char)*first)) {
        first++;
    }
    /* The formats in JSON are told apart elsewhere. */
    for (size_t i = 0; first < end && i < count && found == count && strchr("{[", *first) == NULL;
         i++) {
        for (size_t k = 0; k < PATTERN_LIMIT && formats[i].patterns[k] != NULL; k++) {
            found = found == count && has_line(bytes, end, formats[i].patterns[k]) ? i : found;
        }
    }
    if (found == count) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_GRAPH, "This is %s, which is not read here.",
                formats[found].name);
    problem_hint(reterr, "%s", formats[found].hint);
    return STATUS_BAD_GRAPH;
}
