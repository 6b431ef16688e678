#include "server/http/api/serve.h"

#include "server/http/api/grid_answer.h"

#include <stdlib.h>
#include <string.h>

/* Adds the vertex in the path to the slice. */
static enum status parse_vertex(const struct request *request, struct slice *slice,
                                struct problem *reterr)
{
    const struct router_match *match = &request->match;
    char *name = strndup(match->second, match->second_size);
    if (name == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the request.");
    }
    const enum status status =
        query_decode(name)
            ? slice_add(slice, result_names(request->result), name, strlen(name), reterr)
            : problem_set(reterr, STATUS_BAD_REQUEST,
                          "The path contains an invalid percent escape or %%00.");
    free(name);
    return status;
}

/* Opens a matrix, or the row or column of the vertex in the path. */
static enum status open_matrix(struct stream *stream, struct problem *reterr)
{
    const struct request *request = stream->request;
    const struct vertex_names *names = result_names(stream->result);
    const char *pattern = request->match.route->pattern;
    const enum grid_form single = strstr(pattern, "/row/") != NULL      ? GRID_ROW
                                  : strstr(pattern, "/column/") != NULL ? GRID_COLUMN
                                                                        : GRID_JSON;
    const enum format first = single == GRID_JSON ? FORMAT_NPY : FORMAT_JSON;
    struct grid_answer *answer = (void *)stream->context;
    STATUS_TRY(grid_answer_choose(request, first, &answer->format, reterr));
    const bool has_names = query_flag(&request->query, "header", false);
    if (has_names && answer->format != FORMAT_CSV) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "header= applies to format=csv only.");
    }
    answer->form = has_names                         ? GRID_CSV_NAMED
                   : answer->format == FORMAT_NDJSON ? GRID_NDJSON
                   : answer->format == FORMAT_MTX    ? GRID_MTX
                   : answer->format == FORMAT_JSON   ? single
                                                     : GRID_CSV;
    STATUS_TRY(single == GRID_ROW ? parse_vertex(request, &answer->rows, reterr)
                                  : slice_parse(&answer->rows, names, "rows",
                                                query_value(&request->query, "rows"), reterr));
    STATUS_TRY(single == GRID_COLUMN ? parse_vertex(request, &answer->columns, reterr)
                                     : slice_parse(&answer->columns, names, "cols",
                                                   query_value(&request->query, "cols"), reterr));
    return grid_answer_open(stream, reterr);
}

/* Opens a table for a body in the shape of OSRM's table service. */
static enum status open_table(struct stream *stream, struct problem *reterr)
{
    static const char *const keys[] = {"sources", "destinations", NULL};
    const bool is_csv = stream->request->offer == 1;
    struct grid_answer *answer = (void *)stream->context;
    struct slice *const slices[] = {&answer->rows, &answer->columns};
    answer->format = is_csv ? FORMAT_CSV : FORMAT_JSON;
    answer->form = is_csv ? GRID_CSV_NAMED : GRID_TABLE;
    STATUS_TRY(slice_scan_object(slices, keys, stream->request, NULL, reterr));
    return grid_answer_open(stream, reterr);
}

#define KIND(opens)                                                                                \
    {                                                                                              \
        .context_size = sizeof(struct grid_answer), .open = opens, .close = grid_answer_close,     \
        .divert = grid_answer_divert, .make = grid_answer_make                                     \
    }
const struct stream_kind serve_matrix = KIND(open_matrix);
const struct stream_kind serve_table = KIND(open_table);
