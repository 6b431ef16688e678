#include "proto/read/columns.h"

#include "proto/read/reader.h"
#include "tests/lib/test.h"

/* One upload: its format, its parameters as "name value ...", and the expected outcome. An accepted
 * upload has expected weights, in the order of the graph, and may have the code of a warning. A
 * refused upload has words of the error message. */
struct upload {
    enum format format;
    const char *parameters;
    const char *text;
    const char *weights; /* expected weights; NULL: the upload is refused */
    const char *words;   /* part of the problem's or a warning's detail or hint, or "" */
};

static void set_parameters(struct graph_options *options, const char *parameters)
{
    char copy[128];
    char *rest = NULL;

    snprintf(copy, sizeof copy, "%s", parameters);
    for (char *name = strtok_r(copy, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        const char *value = strtok_r(NULL, " ", &rest);

        assert_int_equal(reader_set_option(options, name, value, NULL), STATUS_OK);
    }
}

static bool has_words(const struct problem *problem, const struct warnings *warnings,
                      const char *words)
{
    bool found = words[0] == '\0' || strstr(problem->detail, words) != NULL ||
                 strstr(problem->hint, words) != NULL;

    for (size_t i = 0; i < warnings->count; i++) {
        found |= strstr(warnings->list[i].detail, words) != NULL;
    }
    return found;
}

static void check(const struct upload *upload)
{
    struct graph_options options = {0};
    struct problem problem = {0};
    struct reader *reader;
    struct graph *graph = NULL;
    char weights[128] = "";
    size_t size = 0;

    set_parameters(&options, upload->parameters);
    assert_int_equal(reader_create(upload->format, &options, &reader), STATUS_OK);
    enum status status = reader_feed(reader, upload->text, strlen(upload->text), &problem);
    if (status == STATUS_OK) {
        status = reader_finish(reader, &graph, &problem);
    }
    for (uint64_t i = 0; graph != NULL && i < graph->edge_count; i++) {
        size += (size_t)snprintf(weights + size, sizeof weights - size, "%s%g", i > 0 ? " " : "",
                                 graph_weight(graph, i));
    }
    if ((status == STATUS_OK) != (upload->weights != NULL) ||
        (status == STATUS_OK && strcmp(weights, upload->weights) != 0) ||
        !has_words(&problem, &reader->notes.warnings, upload->words)) {
        fail_msg("%s %s: '%s' %s / %s", upload->parameters, upload->text, weights, problem.detail,
                 problem.hint);
    }
    graph_destroy(graph);
    reader_destroy(reader);
}

#define CHECK_ALL(uploads)                                                                         \
    for (size_t i = 0; i < sizeof(uploads) / sizeof((uploads)[0]); i++) {                          \
        check(&(uploads)[i]);                                                                      \
    }

TEST(unused_columns_are_refused_or_reported)
{
    static const struct upload uploads[] = {
        {FORMAT_EDGES, "", "from,to,km\na,b,5 km\n", NULL, "'5 km'"},
        {FORMAT_EDGES, "", "from,to,km\na,b,\"1,234\"\n", NULL, "decimal=,"},
        {FORMAT_EDGES, "", "from;to;km\na;b;1,5\n", NULL, "decimal=,"},
        {FORMAT_EDGES, "decimal ,", "from;to;km\na;b;1,5\n", "1.5", "km"},
        {FORMAT_EDGES, "decimal ,", "from;to;km\na;b;1.234\n", NULL, "decimal=,"},
        {FORMAT_EDGES, "", "w,from,to\n#N/A,a,b\n5,b,c\n", NULL, "begins with #"},
        {FORMAT_EDGES, "", "w,from,to\n4,a,b\n#N/A,b,c\n", NULL, "begins with #"},
        {FORMAT_EDGES, "", "w,from,to\n4,a,b\n# x,b,c\n#x\n", "4", ""},
        {FORMAT_EDGES, "decimal ,", "a b 1,5\nb c 2\n", "1.5 2", ""},
        {FORMAT_EDGES, "decimal ,", "a,b,\"1,5\"\n", "1.5", ""},
        {FORMAT_EDGES, "", "from,to,name,t\na,b,x,1:30\n", NULL, "'1:30'"},
        {FORMAT_EDGES, "", "from,to,name,t\na,b,x,$5\n", NULL, "'$5'"},
        {FORMAT_EDGES, "", "from,to,name,t\na,b,x,\xE2\x82\xAC 5\n", NULL, "Numeric columns: t"},
        {FORMAT_EDGES, "", "from,to,name,t\na,b,x,50%\n", NULL, "'50%'"},
        {FORMAT_EDGES, "", "from,to,km\na,b,n/a\na,c,5\n", NULL, "Numeric columns: km"},
        {FORMAT_EDGES, "weight none", "from,to,km\na,b,n/a\na,c,5\n", "1 1", ""},
        {FORMAT_EDGES, "", "from,to,name\na,b,x\n", "1",
         "Each edge counts as 1; these columns are not used: name."},
        {FORMAT_EDGES, "", "from,to,weight,name\na,b,5,x\n", "5", "not part of the graph: name."},
        {FORMAT_EDGES, "", ",source,target,weight\n0,a,b,5\n", "5", "column 1"},
        {FORMAT_EDGES, "", "source,target,weight\n1,2,10,\n2,3,20,\n", "10 20", ""},
        {FORMAT_EDGES, "", "a b 5 # main street\n", NULL, "Put comments on separate lines"},
        {FORMAT_EDGES, "", "// made by tool\na b 5\n", NULL, "//"},
        {FORMAT_EDGES, "", "from,to,weight,note\na,b,5,\"x\ny\"\n\"b\nb\",c,6,\n", "5 6", "note"},
        {FORMAT_EDGES, "", "sep=;\r\nsource;target;weight\r\na;b;2\r\n", "2", ""},
        {FORMAT_EDGES, "", "a b 5\r\nb c 6\r\n\x1A", "5 6", ""},
    };

    CHECK_ALL(uploads)
}

TEST(endpoint_columns_must_be_given_recognized_or_unambiguous)
{
    static const struct upload uploads[] = {
        {FORMAT_EDGES, "", "link_id,a_node,b_node,direction,distance\n1,5,7,1,3\n", NULL,
         "source_column="},
        {FORMAT_EDGES, "source_column a_node target_column b_node",
         "link_id,a_node,b_node,direction,distance\n1,5,7,1,3\n", "3", "link_id, direction"},
        {FORMAT_EDGES, "source_column 2 target_column 3", "9 1 2\n8 2 3\n", "9 8", ""},
        {FORMAT_EDGES, "source_column x target_column 3", "9 1 2\n8 2 3\n", NULL,
         "source_column=x"},
        {FORMAT_EDGES, "source_column 1", "1 2\n", NULL, "target_column="},
        {FORMAT_EDGES, "", "distance,a,b\n5,1,2\n", NULL, "target_column="},
        {FORMAT_EDGES, "", "a_id,b_id,km\nx,y,2.5\n", "2.5", "read as a header"},
        {FORMAT_EDGES, "", "1 2 3 4\n2 3 4 5\n", NULL, "weight=3"},
        {FORMAT_EDGES, "weight 3", "1 2 3 4\n2 3 4 5\n", "3 4", "not part of the graph: 4"},
        {FORMAT_EDGES, "", "node,lon,lat\n1,7.4,46.9\n", NULL, "coordinates"},
        {FORMAT_EDGES, "", "Id,Label\n1,a\n", NULL, "a table of places or nodes"},
        {FORMAT_EDGES, "", "stop_id,stop_name,stop_lat,stop_lon\nS,X,46.9,7.4\n", NULL,
         "coordinates"},
        {FORMAT_EDGES, "", "S 1\n1 T\n", "1 1", "some lines may not be edges"},
        {FORMAT_EDGES, "", "A B\n1 2\nA 3\n", NULL, "'A' is also a vertex"},
        {FORMAT_EDGES, "", "source,target,2020\na,b,5\n", "2020 5", "it may be a header"},
        {FORMAT_JSON, "source_column a target_column b",
         "{\"nodes\":[{\"id\":1},{\"id\":2}],\"links\":[{\"a\":1,\"b\":2,\"weight\":5}]}", "5", ""},
        {FORMAT_METIS, "source_column 1", "2 1\n2\n1\n", NULL, "does not apply"},
    };

    CHECK_ALL(uploads)
}

#define NODES "{\"nodes\":[{\"id\":1},{\"id\":2},{\"id\":3}],\"links\":"
#define JGF "{\"graph\":{\"nodes\":{\"1\":{},\"2\":{},\"3\":{}},\"edges\":"
#define GRAPHML(keys, data)                                                                        \
    "<graphml>" keys "<graph edgedefault='directed'><node id='1'/><node id='2'/><edge source='1' " \
    "target='2'>" data "</edge><edge source='2' target='1'/></graph></graphml>"

TEST(weights_come_from_one_column_that_all_edges_have)
{
    static const struct upload uploads[] = {
        {FORMAT_EDGES, "", "from,to,length,cost\na,b,5,0\n", NULL, "weight=length"},
        {FORMAT_EDGES, "weight length", "from,to,length,cost\na,b,5,0\n", "5", "cost"},
        {FORMAT_EDGES, "", "from,to,length,weight\na,b,5,7\n", "7", "length"},
        {FORMAT_EDGES, "", "from,to,weight,weight\na,b,5,7\n", NULL, "either may be the weight"},
        {FORMAT_EDGES, "", "from,to,weight\na,b,5\na,c,\n", NULL, "The weight is missing."},
        {FORMAT_EDGES, "", "a b {'weight': 5}\nb c {}\n", NULL, "The weight is missing."},
        {FORMAT_JSON, "",
         NODES "[{\"source\":1,\"target\":2},{\"source\":2,\"target\":3,\"weight\":4}]}", NULL,
         "The weight is missing."},
        {FORMAT_JSON, "",
         NODES
         "[{\"source\":1,\"target\":2,\"weight\":4},{\"source\":2,\"target\":3,\"weight\":null}]}",
         NULL, "The weight is missing."},
        {FORMAT_JSON, "", "{\"n\":3,\"edges\":[[0,1,5],[1,2]]}", NULL, "The weight is missing."},
        {FORMAT_JSON, "", NODES "[{\"source\":1,\"target\":2,\"length\":4,\"cost\":1}]}", NULL,
         "weight=length"},
        {FORMAT_JSON, "", NODES "[{\"source\":1,\"target\":2,\"length\":4,\"weight\":1}]}", "1",
         "length"},
        {FORMAT_JGF, "",
         JGF "[{\"source\":\"1\",\"target\":\"2\",\"metadata\":{\"weight\":2}},"
             "{\"source\":\"2\",\"target\":\"3\"}]}}",
         NULL, "The weight is missing."},
        {FORMAT_GRAPHML, "",
         GRAPHML("<key id='w' for='edge' attr.name='weight'/>", "<data key='w'>2</data>"), NULL,
         "The weight is missing."},
        {FORMAT_GRAPHML, "",
         GRAPHML("<key id='w' for='edge' attr.name='weight'><default>7</default></key>",
                 "<data key='w'>2</data>"),
         "2 7", ""},
        {FORMAT_GRAPHML, "",
         GRAPHML("<key id='s' for='edge' attr.name='stairs' attr.type='boolean'/>",
                 "<data key='s'>0</data>"),
         "1 1", "stairs"},
        {FORMAT_EDGES, "", "a,b,2147483647\nb,c,1\n", NULL, "no_edge=2147483647"},
        {FORMAT_EDGES, "no_edge 2147483647", "a,b,2147483647\nb,c,1\n", "1", ""},
        {FORMAT_EDGES, "no_edge none", "a,b,2147483647\nb,c,1\n", "2.14748e+09 1", ""},
        {FORMAT_EDGES, "no_edge 9", "1 2 9\n2 3 1\n3 1 9\n3 2 4\n", "1 4", ""},
        {FORMAT_EDGES, "", "a,b,9223372036854775807\n", NULL, "no_edge="},
        {FORMAT_DIMACS, "no_edge 9", "p sp 2 2\na 1 2 9\na 2 1 4\n", "4", ""},
        {FORMAT_MTX, "no_edge 9",
         "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 9\n3 1 4\n", "4", ""},
        {FORMAT_EDGES, "", "a,b,1e400\n", NULL, "omit the edge"},
        {FORMAT_MTX, "",
         "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 2 9\n", "9", ""},
        {FORMAT_MTX, "", "%%MatrixMarket matrix coordinate pattern general\n2 1\n3 1\n", NULL,
         "rows, columns and entries"},
    };

    CHECK_ALL(uploads)
}

TEST(one_way_and_reverse_columns_set_the_direction)
{
    static const struct upload uploads[] = {
        {FORMAT_EDGES, "", "from,to,length,oneway\n1,2,5,yes\n2,3,6,no\n3,4,7,-1\n", "5 6 6 7",
         "both directions: 1, reversed: 1"},
        {FORMAT_EDGES, "", "from,to,length,oneway\n1,2,5,maybe\n", NULL, "oneway is 'maybe'"},
        {FORMAT_EDGES, "", "source,target,cost,reverse_cost\n1,2,4,-1\n2,3,5,6\n3,4,-1,2\n",
         "4 5 6 2", "read from the column reverse_cost"},
        {FORMAT_JSON, "",
         NODES "[{\"source\":1,\"target\":2,\"weight\":4,\"oneway\":false},"
               "{\"source\":2,\"target\":3,\"weight\":5,\"oneway\":true}]}",
         "4 4 5", "read from the column oneway"},
        {FORMAT_GRAPHML, "",
         "<graphml><graph edgedefault='directed'><node id='1'/><node id='2'/>"
         "<edge source='1' target='2' directed='0'/></graph></graphml>",
         "1 1", ""},
    };

    CHECK_ALL(uploads)
}

TEST(a_json_matrix_must_be_square_and_unambiguous)
{
    static const struct upload uploads[] = {
        {FORMAT_JSON, "", "[[0,5,9],[5,0,2],[9,2,0]]", "5 9 5 2 9 2", ""},
        {FORMAT_JSON, "", "{\"code\":\"Ok\",\"durations\":[[0,5],[null,0]],\"sources\":[{},{}]}",
         "5", ""},
        {FORMAT_JSON, "", "{\"sources\":[\"a\"],\"destinations\":[\"a\"],\"distances\":[[0]]}", "",
         ""},
        {FORMAT_JSON, "", "{\"distances\":[[0,5],[6,0]],\"durations\":[[0,1],[1,0]]}", NULL,
         "weight=durations"},
        {FORMAT_JSON, "weight durations",
         "{\"distances\":[[0,5],[6,0]],\"durations\":[[0,1],[2,0]]}", "1 2", ""},
        {FORMAT_JSON, "", "[[0,1,5],[1,2,7],[2,0,3]]", NULL, "or a list of 3 edges"},
        {FORMAT_JSON, "", "[[0,1,2],[1,2,0]]", NULL, "2 rows and 3 columns"},
        {FORMAT_JSON, "", "[{\"source\":1,\"target\":2}]", NULL, "neither an object"},
        {FORMAT_JSON, "", "{\"sources\":[1,2],\"destinations\":[2,1],\"distances\":[[0,1],[1,0]]}",
         NULL, "not the same vertices"},
    };

    CHECK_ALL(uploads)
}
