#include "server/http/api/serve.h"

#include "server/http/api/grid_answer.h"

#include <stdlib.h>
#include <string.h>

static enum status choose_form(const struct request *request, enum format format,
                               enum grid_form *ret_form, struct problem *reterr)
{
    bool has_names = false;

    STATUS_TRY(query_flag(&request->query, "header", &has_names, reterr));
    if (has_names && format != FORMAT_CSV) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "Only csv has a header.");
    }
    *ret_form = format == FORMAT_NDJSON ? GRID_NDJSON
                : format == FORMAT_MTX  ? GRID_MTX
                : format == FORMAT_JSON ? GRID_JSON
                : has_names             ? GRID_CSV_NAMED
                                        : GRID_CSV;
    return STATUS_OK;
}

/* The vertex that the path names. */
static enum status parse_vertex(const struct request *request, struct slice *slice,
                                struct problem *reterr)
{
    const struct router_match *match = &request->match;
    char *name = strndup(match->second, match->second_size);
    enum status status;

    if (name == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    if (query_decode(name)) {
        status = slice_add(slice, result_names(request->result), name, strlen(name), reterr);
    } else {
        status = problem_set(reterr, STATUS_BAD_REQUEST,
                             "The path has a broken percent escape, or %%00.");
    }
    free(name);
    return status;
}

/* single: GRID_ROW or GRID_COLUMN for the one that the path names, or GRID_JSON. */
static enum status parse_selection(const struct request *request, enum grid_form single,
                                   struct grid_request *selection, struct problem *reterr)
{
    const struct vertex_names *names = result_names(request->result);
    const enum format first = single == GRID_JSON ? FORMAT_NPY : FORMAT_JSON;

    STATUS_TRY(grid_answer_choose(request, first, &selection->format, reterr));
    STATUS_TRY(choose_form(request, selection->format, &selection->form, reterr));
    selection->form = selection->form == GRID_JSON ? single : selection->form;
    STATUS_TRY(single == GRID_ROW ? parse_vertex(request, &selection->rows, reterr)
                                  : slice_parse(&selection->rows, names, "rows",
                                                query_value(&request->query, "rows"), reterr));
    return single == GRID_COLUMN ? parse_vertex(request, &selection->columns, reterr)
                                 : slice_parse(&selection->columns, names, "cols",
                                               query_value(&request->query, "cols"), reterr);
}

static void answer_selection(struct request *request, enum grid_form single)
{
    struct grid_request selection = {0};
    struct problem problem;

    if (parse_selection(request, single, &selection, &problem) == STATUS_OK) {
        grid_answer(request, &selection);
        return;
    }
    grid_request_finish(&selection);
    request_refuse(request, &problem);
}

void serve_matrix(struct request *request)
{
    answer_selection(request, GRID_JSON);
}

void serve_matrix_row(struct request *request)
{
    answer_selection(request, GRID_ROW);
}

void serve_matrix_column(struct request *request)
{
    answer_selection(request, GRID_COLUMN);
}
