#include "server/http/serve.h"

#include "server/http/grid_answer.h"

#include <stdlib.h>
#include <string.h>

static enum status choose_form(const struct exchange *exchange, enum format format,
                               enum grid_form *ret_form, struct problem *reterr)
{
    bool has_names = false;
    enum status status = query_flag(&exchange->query, "header", &has_names, reterr);

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
static enum status take_slice(const struct exchange *exchange, const char *parameter,
                              struct slice *slice, struct problem *reterr)
{
    const struct vertex_names *names = result_names(exchange->result);
    const char *text = query_value(&exchange->query, parameter);

    if (text == NULL) {
        slice_all(slice, names);
        return STATUS_OK;
    }
    return slice_parse(slice, names, parameter, text, reterr);
}

static void refuse(struct exchange *exchange, struct grid_request *request,
                   const struct problem *problem)
{
    slice_finish(&request->rows);
    slice_finish(&request->columns);
    exchange_refuse(exchange, problem);
}

static void serve(struct exchange *exchange)
{
    struct grid_request request = {0};
    struct problem problem;

    if (grid_answer_choose(exchange, FORMAT_NPY, &request.format, &problem) == STATUS_OK &&
        choose_form(exchange, request.format, &request.form, &problem) == STATUS_OK &&
        take_slice(exchange, "rows", &request.rows, &problem) == STATUS_OK &&
        take_slice(exchange, "cols", &request.columns, &problem) == STATUS_OK) {
        grid_answer(exchange, &request);
    } else {
        refuse(exchange, &request, &problem);
    }
}

/* What can be refused without a result is. */
static void find(struct exchange *exchange, enum format first,
                 void (*serve_found)(struct exchange *exchange))
{
    struct problem problem;
    enum format format;
    enum grid_form form;

    if (grid_answer_choose(exchange, first, &format, &problem) == STATUS_OK &&
        choose_form(exchange, format, &form, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve_found);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

void serve_matrix(struct exchange *exchange)
{
    find(exchange, FORMAT_NPY, serve);
}

/* ---- One row ---- */

static enum status take_vertex(const struct exchange *exchange, struct slice *slice,
                               struct problem *reterr)
{
    const struct router_match *match = &exchange->match;
    char *name = strndup(match->second, match->second_size);
    enum status status;

    if (name == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    if (query_decode(name)) {
        status = slice_add(slice, result_names(exchange->result), name, strlen(name), reterr);
    } else {
        status = problem_set(reterr, STATUS_BAD_REQUEST,
                             "The path has a broken percent escape, or %%00.");
    }
    free(name);
    return status;
}

static void serve_row(struct exchange *exchange)
{
    struct grid_request request = {0};
    struct problem problem;

    if (grid_answer_choose(exchange, FORMAT_JSON, &request.format, &problem) == STATUS_OK &&
        choose_form(exchange, request.format, &request.form, &problem) == STATUS_OK &&
        take_vertex(exchange, &request.rows, &problem) == STATUS_OK &&
        take_slice(exchange, "cols", &request.columns, &problem) == STATUS_OK) {
        request.form = request.form == GRID_JSON ? GRID_ROW : request.form;
        grid_answer(exchange, &request);
    } else {
        refuse(exchange, &request, &problem);
    }
}

void serve_matrix_row(struct exchange *exchange)
{
    find(exchange, FORMAT_JSON, serve_row);
}
