#include "server/http/api/serve.h"

#include "server/http/api/grid_answer.h"

#include <stdlib.h>
#include <string.h>

static enum status choose_form(const struct request *request, enum format format,
                               enum grid_form *ret_form, struct problem *reterr)
{
    bool has_names = false;
    enum status status = query_flag(&request->query, "header", &has_names, reterr);

    if (status == STATUS_OK && has_names && format != FORMAT_CSV) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "Only csv has a header.");
        status = STATUS_BAD_PARAMETER;
    }
    *ret_form = format == FORMAT_NDJSON ? GRID_NDJSON
                : format == FORMAT_MTX  ? GRID_MTX
                : format == FORMAT_JSON ? GRID_JSON
                : has_names             ? GRID_CSV_NAMED
                                        : GRID_CSV;
    return status;
}

/* All, where the parameter is not given. */
static enum status take_slice(const struct request *request, const char *parameter,
                              struct slice *slice, struct problem *reterr)
{
    const struct vertex_names *names = result_names(request->result);
    const char *text = query_value(&request->query, parameter);

    if (text == NULL) {
        slice_all(slice, names);
        return STATUS_OK;
    }
    return slice_parse(slice, names, parameter, text, reterr);
}

static void refuse(struct request *request, struct grid_request *selection,
                   const struct problem *problem)
{
    slice_finish(&selection->rows);
    slice_finish(&selection->columns);
    request_refuse(request, problem);
}

static void serve(struct request *request)
{
    struct grid_request selection = {0};
    struct problem problem;

    if (grid_answer_choose(request, FORMAT_NPY, &selection.format, &problem) == STATUS_OK &&
        choose_form(request, selection.format, &selection.form, &problem) == STATUS_OK &&
        take_slice(request, "rows", &selection.rows, &problem) == STATUS_OK &&
        take_slice(request, "cols", &selection.columns, &problem) == STATUS_OK) {
        grid_answer(request, &selection);
    } else {
        refuse(request, &selection, &problem);
    }
}

/* A bad format or form is refused before the result is looked up. */
static void find(struct request *request, enum format first,
                 void (*serve_found)(struct request *request))
{
    struct problem problem;
    enum format format;
    enum grid_form form;

    if (grid_answer_choose(request, first, &format, &problem) == STATUS_OK &&
        choose_form(request, format, &form, &problem) == STATUS_OK) {
        request_find_result(request, serve_found);
    } else {
        request_refuse(request, &problem);
    }
}

void serve_matrix(struct request *request)
{
    find(request, FORMAT_NPY, serve);
}

/* ---- One row ---- */

static enum status take_vertex(const struct request *request, struct slice *slice,
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

static void serve_row(struct request *request)
{
    struct grid_request selection = {0};
    struct problem problem;

    if (grid_answer_choose(request, FORMAT_JSON, &selection.format, &problem) == STATUS_OK &&
        choose_form(request, selection.format, &selection.form, &problem) == STATUS_OK &&
        take_vertex(request, &selection.rows, &problem) == STATUS_OK &&
        take_slice(request, "cols", &selection.columns, &problem) == STATUS_OK) {
        selection.form = selection.form == GRID_JSON ? GRID_ROW : selection.form;
        grid_answer(request, &selection);
    } else {
        refuse(request, &selection, &problem);
    }
}

void serve_matrix_row(struct request *request)
{
    find(request, FORMAT_JSON, serve_row);
}
