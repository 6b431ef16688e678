#include "proto/read/sniff.h"
#include "tests/lib/test.h"

static void is(const char *text, const char *name)
{
    struct problem problem = {0};
    const enum status status = sniff_refuse(text, strlen(text), &problem);

    if (status != (name == NULL ? STATUS_OK : STATUS_BAD_GRAPH)) {
        fail_msg("'%s' is %s", text, status == STATUS_OK ? "not known" : problem.detail);
    }
    if (name != NULL) {
        assert_non_null(strstr(problem.detail, name));
        assert_true(problem.hint[0] != '\0');
        /* A hint that is too long would be truncated and end in dots. */
        assert_null(strstr(problem.hint, "..."));
    }
}

TEST(each_unsupported_format_is_recognized)
{
    char tar[512] = "g.mtx";
    struct problem problem;

    is("graph [\n  directed 1\n", "GML");
    is("\xEF\xBB\xBF"
       "graph\n[\n",
       "GML");
    is("Creator \"igraph\"\nVersion 1\r\ngraph\r\n[\r\n", "GML");
    is("*Vertices 3\n*Edges\n", "Pajek");
    is("% c\n*network x\n*vertices 2\n", "Pajek");
    is("<?xml version='1.0'?>\n<gexf xmlns=''>", "GEXF");
    is("<?xml version='1.0'?><gexf version=''>", "GEXF");
    is("/* by igraph */\ngraph {\n  0 [\n", "DOT");
    is("strict digraph  {\na;\n", "DOT");
    is("digraph G{a->b}", "DOT");
    is("strict graph \"my club\" {\n\tgraph [name=x];\n", "DOT");
    is("NAME: t\nTYPE: TSP\nDIMENSION : 3\n", "TSPLIB");
    is("NAME: t\nNODE_COORD_SECTION\n1 2 3\n", "TSPLIB");
    is("<NUMBER OF ZONES> 24\n", "TNTP");
    is("#x.py\n# GMT Mon Nov 23 08:50:55 2026\n# \na 1\nb {'weight': 5}\n", "multi-line");
    is("a 1\nb {}\n", "multi-line");
    is("#x.py\n# GMT Mon Nov 23 08:50:55 2026\n# \n0 1 3\n", "adjacency");
    is("# a\nb 3\nc 9\n# b\nc 4\n", "LGL");
    is("# a\r\nb\r\nc\r\n# b\r\nc\r\n", "LGL");
    is("a pp b c\n", "SIF");
    is("1\tpd\t2\n", "SIF");
    memcpy(tar + 257, "ustar", 5);
    assert_int_equal(sniff_refuse(tar, sizeof tar, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "tar"));
}

TEST(supported_formats_are_not_refused)
{
    static const char npy[] = "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False}\n";

    is("", NULL);
    is("\n \n", NULL);
    is("1 2\n2 3\n", NULL);
    is("c x\np sp 2 1\na 1 2 3\n", NULL);
    is("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n", NULL);
    is("{\"graph\":\n\"graph\" {\ngraph [", NULL);
    is(" [\ngraph [", NULL);
    is("<?xml version='1.0'?><graphml><graph edgedefault='directed'>", NULL);
    is("# FromNodeId\tToNodeId\n1 2\n# more of it\n2 3\n", NULL);
    is("graph,node\na,b\n", NULL);
    is("source target weight\na pp 3\n", "SIF");
    is("a,pp,b\n", NULL);
    is("1,2,{'weight': 5}\n", NULL);
    is("1;2;{}\n", NULL);
    is("LEDA.GRAPH\nvoid\nstring\n-1\n2\n|{}|\n|{}|\n1\n1 2 0 |{b}|\n", NULL);
    is("LEDA.GRAPH\nstring\nint\n-1\n2\n|{a}|\n|{b}|\n1\n1 2 0 |{5}|\n", NULL);
    is("app b 3\nb ppx 5\n", NULL);
    is("3 2\n2\n1 3\n2\n", NULL);
    assert_int_equal(sniff_refuse(npy, sizeof npy, NULL), STATUS_OK);
}
