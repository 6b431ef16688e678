#include "proto/read/foreign.h"

#include "proto/read/reader.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

/* Node-link JSON keeps names with blanks, and attributes of any shape. */
#define NODE_LINK(graph) "json.dump(networkx.node_link_data(" graph "), open('g.json', 'w'))"

/* Blanks within a line, white space over lines, and a word. */
#define BLANKS "[ \t\r]*"
#define GAP "[ \t\r]+"
#define SPACE "[[:space:]]*"
#define WORD "[^][:space:]#{},;[]+"
#define LINE "^" BLANKS
/* An element of XML may stand behind another one. */
#define ELEMENT "(^|>)" BLANKS "<"

/* Without regard to case. The first format whose pattern occurs is the one: one of DOT may have
 * lines as those of GML. */
static const struct {
    const char *name;
    const char *hint;
    const char *pattern; /* an extended regular expression; NULL: told by other bytes */
} formats[] = {
    {"a DOT file of Graphviz",
     "Convert it: import networkx; "
     "networkx.write_edgelist(networkx.nx_agraph.read_dot('g.dot'), 'g.csv', delimiter=';', "
     "data=['weight']); upload g.csv, with directed=false if it is a graph and no digraph.",
     LINE "((di)?graph(" GAP WORD ")?" SPACE "\\{|(di)?graph" SPACE "\"|strict" GAP WORD ")"},
    {"a GML file",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_gml('g.gml')") "; where labels are missing or occur twice, "
                                       "read_gml('g.gml', label='id').",
     LINE "graph" SPACE "\\["},
    {"a Pajek file",
     "Convert it: import json, networkx; g = networkx.read_pajek('g.net'); " NODE_LINK(
         "g if '*arcs' in open('g.net').read().lower() else networkx.Graph(g)"),
     LINE "\\*(vertices|network|arcs|edges|matrix)"},
    {"a GEXF file", "Convert it: import json, networkx; " NODE_LINK("networkx.read_gexf('g.gexf')"),
     ELEMENT "gexf"},
    {"a TSPLIB file",
     "Convert it: import json, networkx, tsplib95; " NODE_LINK(
         "tsplib95.load('g.tsp').get_graph()"),
     LINE "((dimension|edge_weight_type)" SPACE ":|edge_weight_section|node_coord_section)"},
    {"a TNTP network",
     "Convert it: awk '$1 + 0 {print $1, $2, $4}' g.tntp >g.edges; column 4 is the length and "
     "column 5 the free flow time.",
     ELEMENT "(number" GAP "of|first" GAP "thru|end" GAP "of" GAP "metadata)"},
    {"a multi-line adjacency list of NetworkX",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_multiline_adjlist('g.adjlist')") "; give create_using=networkx.DiGraph if "
                                                         "it is "
                                                         "directed.",
     LINE WORD SPACE "\\{(\\}" BLANKS "\n|')"},
    {"an adjacency list of NetworkX",
     "Convert it: import json, networkx; " NODE_LINK(
         "networkx.read_adjlist('g.adjlist')") "; give create_using=networkx.DiGraph if it is "
                                               "directed.",
     LINE "#" GAP "gmt" GAP WORD},
    {"an LGL file",
     "Convert it: import igraph; igraph.Graph.Read_Lgl('g.lgl').write_ncol('g.edges', "
     "weights='weight'), with weights=None if there are none, and upload g.edges with "
     "directed=false. A list of edges with comments is read with format=edges.",
     LINE WORD "(" GAP WORD ")?" BLANKS "\n#" GAP WORD BLANKS "\n" WORD "(" GAP WORD ")?" BLANKS
               "\n"},
    {"a SIF file", "Convert it: awk '{for (i = 3; i <= NF; i++) print $1, $i}' g.sif >g.edges",
     LINE WORD GAP "(pp|pd|pr|rc|cr|interacts_with)" GAP WORD},
    {"a GDF file", "Convert it: sed '1,/^edgedef>/d' g.gdf >g.csv", LINE "nodedef>"},
    {"a table of psql", "Write CSV: psql --csv, or \\copy (SELECT ...) TO 'g.csv' CSV HEADER.",
     LINE "-+(\\+-+)+" BLANKS "$"},
    {"a Markdown table",
     "Convert it: sed '/^|[-: |]*$/d; s/^| *//; s/ *|$//; s/ *| */,/g' g.md >g.csv",
     LINE "\\|(" BLANKS ":?-+:?" BLANKS "\\|)+" BLANKS "$"},
    {"a tar archive", "Unpack it and send the file in it, as it is or in gzip or zstd.", NULL},
};

static bool has_match(const char *text, const char *pattern)
{
    regex_t regex;
    bool found = false;

    if (pattern != NULL &&
        regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE | REG_NEWLINE | REG_NOSUB) == 0) {
        found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
    }
    return found;
}

enum status foreign_refuse(const char *bytes, size_t size, struct problem *reterr)
{
    const size_t count = sizeof(formats) / sizeof(formats[0]);
    const bool is_tar = size > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
    const size_t mark_size = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const size_t text_size = (size < READER_SNIFF_SIZE ? size : READER_SNIFF_SIZE) - mark_size;
    char text[READER_SNIFF_SIZE + 1] = "";
    const char *first = text;
    size_t found = is_tar ? count - 1 : count;

    if (text_size > 0) {
        memcpy(text, bytes + mark_size, text_size);
    }
    while (isspace((unsigned char)*first)) {
        first++;
    }
    /* The formats in JSON are told apart elsewhere, and others with a NUL are no text. */
    const bool is_judged =
        *first != '{' && *first != '[' && memchr(text, '\0', sizeof(text)) == text + text_size;

    for (size_t i = 0; i < count && is_judged && found == count; i++) {
        found = has_match(first, formats[i].pattern) ? i : found;
    }
    if (found == count) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_GRAPH, "This is %s, which is not read here.",
                formats[found].name);
    problem_hint(reterr, "%s", formats[found].hint);
    return STATUS_BAD_GRAPH;
}
