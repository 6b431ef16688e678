#include "proto/read/sniff.h"

#include "proto/number.h"
#include "proto/read/json_scanner.h"
#include "proto/read/reader.h"
#include "proto/read/table.h"
#include "proto/text.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <strings.h>

/* Python code that writes node-link JSON, which preserves names with spaces and all attributes. */
#define NODE_LINK(graph) "json.dump(networkx.node_link_data(" graph "), open('g.json', 'w'))"

/* Patterns for spaces within a line, for white space across lines, and for a word. */
#define BLANKS "[ \t\r]*"
#define GAP "[ \t\r]+"
#define SPACE "[[:space:]]*"
#define WORD "[^][:space:]#{},;[]+"
#define LINE "^" BLANKS
/* The beginning of an XML element, which may follow another element on the line. */
#define ELEMENT "(^|>)" BLANKS "<"

/* Formats that are refused by name. Patterns ignore case. The first match decides, because a DOT
 * file, for example, may contain lines that look like GML. */
static const struct {
    const char *name;
    const char *hint;
    const char *pattern; /* extended regular expression; NULL: detected by code */
} formats[] = {
    {"a DOT file of Graphviz",
     "Convert the file: import networkx; "
     "networkx.write_edgelist(networkx.nx_agraph.read_dot('g.dot'), 'g.csv', delimiter=';', "
     "data=['weight']); upload g.csv, with directed=false for an undirected graph.",
     LINE "((di)?graph(" GAP WORD ")?" SPACE "\\{|(di)?graph" SPACE "\"|strict" GAP WORD ")"},
    {"a GML file",
     "Convert the file: import json, networkx; " NODE_LINK(
         "networkx.read_gml('g.gml')") "; if labels are missing or occur twice, use "
                                       "read_gml('g.gml', label='id').",
     LINE "graph" SPACE "\\["},
    {"a Pajek file",
     "Convert the file: import json, networkx; g = networkx.read_pajek('g.net'); " NODE_LINK(
         "g if '*arcs' in open('g.net').read().lower() else networkx.Graph(g)"),
     LINE "\\*(vertices|network|arcs|edges|matrix)"},
    {"a GEXF file",
     "Convert the file: import json, networkx; " NODE_LINK("networkx.read_gexf('g.gexf')"),
     ELEMENT "gexf"},
    {"a TSPLIB file",
     "Convert the file: import json, networkx, tsplib95; " NODE_LINK(
         "tsplib95.load('g.tsp').get_graph()"),
     LINE "((dimension|edge_weight_type)" SPACE ":|edge_weight_section|node_coord_section)"},
    {"a TNTP network",
     "Convert the file: awk '$1 + 0 {print $1, $2, $4}' g.tntp >g.edges; column 4 is the length, "
     "and column 5 is the free flow time.",
     ELEMENT "(number" GAP "of|first" GAP "thru|end" GAP "of" GAP "metadata)"},
    {"a multi-line adjacency list of NetworkX",
     "Convert the file: import json, networkx; " NODE_LINK(
         "networkx.read_multiline_adjlist('g.adjlist')") "; pass create_using=networkx.DiGraph if "
                                                         "the graph is directed.",
     LINE WORD SPACE "\\{(\\}" BLANKS "\n|')"},
    {"an adjacency list of NetworkX",
     "Convert the file: import json, networkx; " NODE_LINK(
         "networkx.read_adjlist('g.adjlist')") "; pass create_using=networkx.DiGraph if the graph "
                                               "is directed.",
     LINE "#" GAP "gmt" GAP WORD},
    {"an LGL file",
     "Convert the file: import igraph; igraph.Graph.Read_Lgl('g.lgl').write_ncol('g.edges', "
     "weights='weight'), with weights=None if the graph has no weights, and upload g.edges with "
     "directed=false. If the file is a list of edges with comments, specify format=edges.",
     LINE WORD "(" GAP WORD ")?" BLANKS "\n#" GAP WORD BLANKS "\n" WORD "(" GAP WORD ")?" BLANKS
               "\n"},
    {"a SIF file",
     "Convert the file: awk '{for (i = 3; i <= NF; i++) print $1, $i}' g.sif >g.edges",
     LINE WORD GAP "(pp|pd|pr|rc|cr|interacts_with)" GAP WORD},
    {"a GDF file", "Convert the file: sed '1,/^edgedef>/d' g.gdf >g.csv", LINE "nodedef>"},
    {"a table printed by psql or mysql",
     "Use psql --csv, or \\copy (SELECT ...) TO 'g.csv' CSV HEADER in psql, or mysql --batch.",
     LINE "\\+?-+(\\+-+)+\\+?" BLANKS "$"},
    {"text with classic Mac line endings (CR)", "Convert the file: tr '\\r' '\\n' <g.csv >h.csv",
     "\\`.*\r[^\r].*\\'"}, /* matches a whole text without line feeds */
    {"a Markdown table",
     "Convert the file: sed '/^|[-: |]*$/d; s/^| *//; s/ *|$//; s/ *| */,/g' g.md >g.csv",
     LINE "\\|(" BLANKS ":?-+:?" BLANKS "\\|)+" BLANKS "$"},
    {"JSON lines, one document per line",
     "Convert the file: import pandas; pandas.read_json('g.jsonl', lines=True).to_csv('g.csv', "
     "index=False)",
     "[]}]" BLANKS "\n" BLANKS "[[{]"},
    {"a tar archive",
     "Unpack the file and send its content, uncompressed or compressed with gzip or zstd.", NULL},
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

/* Index of the entry for JSON lines in `formats`. */
#define JSON_LINES (sizeof(formats) / sizeof(formats[0]) - 2)

/* Refuses a small table, which may be a matrix or a list of edges, and a line "n 0" above an empty
 * line, which may be a METIS file or an edge. first: the text after leading white space. */
static enum status refuse_ambiguous(const char *first, const char *text, size_t size,
                                    struct problem *reterr)
{
    const size_t digits = strspn(first, "0123456789");
    const size_t blanks = digits + strspn(first + digits, " \t");
    const bool may_be_metis = digits > 0 && blanks > digits && first[blanks] == '0' &&
                              strspn(first + blanks + 1, " \r\n") == strlen(first + blanks + 1) &&
                              strstr(first, "\n\n") != NULL;

    if (!may_be_metis && table_sniff(text, size) != TABLE_UNCLEAR) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(reterr, 1, 0,
                                  may_be_metis ? "Specify format=metis or format=edges."
                                               : "Specify format=matrix or format=edges.",
                                  may_be_metis
                                      ? "This may be a METIS graph without edges, or a single edge."
                                      : "This may be a matrix, or a list of edges.");
}

enum status sniff_refuse(const char *bytes, size_t size, struct problem *reterr)
{
    const size_t count = sizeof(formats) / sizeof(formats[0]);
    const bool is_tar = size > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
    const size_t mark_size = text_mark_size(bytes, size);
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
    /* JSON is compared only with entries from JSON_LINES on. A file with a NUL is not text. */
    const bool is_json = *first == '{' || *first == '[';
    const bool is_judged = memchr(text, '\0', sizeof(text)) == text + text_size;

    for (size_t i = is_json ? JSON_LINES : 0; i < count && is_judged && found == count; i++) {
        found = has_match(first, formats[i].pattern) ? i : found;
    }
    if (found == count) {
        return is_json ? STATUS_OK : refuse_ambiguous(first, text, text_size, reterr);
    }
    return problem_bad_graph_hint(reterr, 0, 0, formats[found].hint,
                                  "This is %s, which is not supported.", formats[found].name);
}

/* Returns whether the lines are DIMACS: comments, which are "c" alone or before a space, up to a
 * line "p sp ..". "c" may also be a vertex name, but many "c" lines are probably a licence. */
static bool looks_like_dimacs(const char *bytes, size_t size)
{
    const char *const end = bytes + size;

    for (const char *line = bytes, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next == NULL ? end : next;
        const size_t length = (size_t)(next - line) - (next > line && next[-1] == '\r');
        const bool is_blank = length < 2 || line[1] == ' ' || line[1] == '\t';

        if (length > 0 && (line[0] != 'c' || !is_blank || length == 1)) {
            return length == 1 ? line[0] == 'c'
                               : length > 2 && line[0] == 'p' && is_blank &&
                                     isalpha((unsigned char)line[2]);
        }
    }
    return !sniff_is_complete(size);
}

/* Returns whether the lines after "n m" are lists of neighbours rather than edges. Lines of edges
 * all have the same number of columns, one to three. However, lines of k columns may be n lists of
 * k neighbours if n k = 2 m. */
static bool has_neighbour_lists(const char *bytes, size_t size)
{
    const char *const end = bytes + size;
    int64_t header[2] = {0, 0};
    size_t header_size = 0;
    size_t row_size = 0;
    const char *next;

    for (const char *line = bytes; line < end; line = next) {
        const char *const line_end = memchr(line, '\n', (size_t)(end - line));
        struct word_cursor cursor = {line, line, line_end == NULL ? end : line_end};
        size_t count = 0;

        next = line_end == NULL ? end : line_end + 1;
        cursor.end -= cursor.end > line && cursor.end[-1] == '\r';
        for (struct field word; *line != '%' && (word = line_word_next(&cursor)).size > 0;
             count++) {
            if (header_size == 0 && count < 2) {
                (void)number_parse_integer(word.bytes, word.size, &header[count]);
            }
        }
        if (header_size == 0) {
            header_size = count;
        } else if (count > 3 || (row_size > 0 && count > 0 &&
                                 (line_end != NULL ? count != row_size : count > row_size))) {
            return true;
        } else if (row_size == 0) {
            row_size = count;
        }
    }
    return header_size == 2 ? (uint64_t)header[0] * row_size == 2 * (uint64_t)header[1]
                            : header_size != row_size;
}

bool sniff_is_complete(size_t size)
{
    return size < READER_SNIFF_SIZE - 3;
}

enum status sniff_read(enum format format, const struct graph_options *options, const char *bytes,
                       size_t size, struct reader **ret_reader)
{
    struct graph *graph = NULL;

    STATUS_TRY(reader_create(format, options, ret_reader));
    STATUS_TRY(reader_feed(*ret_reader, bytes, size, NULL));
    const enum status status =
        sniff_is_complete(size) ? reader_finish(*ret_reader, &graph, NULL) : STATUS_OK;
    graph_destroy(graph);
    return status;
}

/* Returns whether the bytes are METIS with edges; "1 0" alone is more likely an edge than METIS. */
static bool looks_like_metis(const char *bytes, size_t size)
{
    const struct graph_options options = {0};
    struct reader *reader = NULL;
    const bool is_metis = sniff_read(FORMAT_METIS, &options, bytes, size, &reader) == STATUS_OK &&
                          reader->announced_edges > 0 &&
                          (sniff_is_complete(size) || has_neighbour_lists(bytes, size));

    reader_destroy(reader);
    return is_metis;
}

/* Search state for JSON Graph Format, whose lists of nodes and edges are inside "graph" or
 * "graphs". In node-link JSON they are beside a member "graph" that contains attributes. */
struct jgf_search {
    bool in_graph; /* inside the value of the document's key "graph" */
    bool found;
};

static enum status search_token(void *context, const struct json_token *token,
                                struct problem *reterr)
{
    struct jgf_search *search = context;

    (void)reterr;
    if (token->kind == JSON_TOKEN_KEY && token->depth == 1) {
        search->in_graph = strcmp(token->text, "graph") == 0;
        search->found |= strcmp(token->text, "graphs") == 0;
    } else if (token->kind == JSON_TOKEN_KEY && token->depth == 2 && search->in_graph) {
        search->found |= strcmp(token->text, "nodes") == 0 || strcmp(token->text, "edges") == 0;
    }
    return STATUS_OK;
}

static bool looks_like_jgf(const char *bytes, size_t size)
{
    struct jgf_search search = {0};
    struct json_scanner scanner;

    json_scanner_init(&scanner);
    scanner.take = search_token;
    scanner.context = &search;
    /* Errors are ignored here, because the reader will refuse invalid JSON. */
    (void)!json_scanner_feed(&scanner, bytes, size, NULL);
    json_scanner_finish(&scanner);
    return search.found;
}

enum format sniff_format(const char *bytes, size_t size)
{
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        return FORMAT_NPY;
    }
    const size_t mark = text_mark_size(bytes, size);
    bytes += mark;
    size -= mark;
    while (size > 0 && bytes[size - 1] == READER_DOS_END) {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)bytes[i];

        if ((c < 0x20 && strchr("\t\n\v\f\r", c) == NULL) || c == 0 || c == 0x7F) {
            return FORMAT_NONE;
        }
    }
    if (size == 0) {
        return FORMAT_NONE;
    }
    if (size >= 14 && strncasecmp(bytes, "%%MatrixMarket", 14) == 0) {
        return FORMAT_MTX;
    }
    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    if (size > 0 && *bytes == '<') {
        return FORMAT_GRAPHML;
    }
    if (size > 0 && (*bytes == '{' || *bytes == '[')) {
        return looks_like_jgf(bytes, size) ? FORMAT_JGF : FORMAT_JSON;
    }
    if (looks_like_metis(bytes, size)) {
        return FORMAT_METIS;
    }
    if (looks_like_dimacs(bytes, size)) {
        return FORMAT_DIMACS;
    }
    return table_sniff(bytes, size) == TABLE_YES ? FORMAT_MATRIX : FORMAT_EDGES;
}
