#include "server/http/api/serve.h"

#include "server/http/api/grid_answer.h"
#include "server/http/api/name_scanner.h"

#define SHAPE "{\"sources\":[...],\"destinations\":[...]}"

enum status serve_table_prepare(struct request *request, struct problem *reterr)
{
    return request_expect_json(request, SHAPE, request->http_context->config->pairs_limit_bytes,
                               reterr);
}

static enum status take_names(struct name_scanner *scanner, const struct vertex_names *names,
                              struct slice *slice, struct problem *reterr)
{
    enum status status = name_scanner_expect(scanner, '[', reterr);

    if (status != STATUS_OK || name_scanner_take(scanner, ']')) {
        return status;
    }
    do {
        struct scanned_name name = {0};

        status = name_scanner_name(scanner, &name, reterr);
        if (status == STATUS_OK) {
            status = slice_add(slice, names, name.bytes, name.size, reterr);
        }
        name_scanner_release(&name);
    } while (status == STATUS_OK && name_scanner_take(scanner, ','));
    return status != STATUS_OK ? status : name_scanner_expect(scanner, ']', reterr);
}

/* Either list, in either order; what is not there is all. */
static enum status take_members(struct name_scanner *scanner, const struct vertex_names *names,
                                struct grid_request *selection, struct problem *reterr)
{
    static const char *const keys[] = {"sources", "destinations", NULL};
    struct slice *const slices[] = {&selection->rows, &selection->columns};
    bool seen[2] = {false, false};
    enum status status = name_scanner_expect(scanner, '{', reterr);

    if (status == STATUS_OK && !name_scanner_take(scanner, '}')) {
        do {
            size_t key;

            status = name_scanner_key(scanner, keys, &key, reterr);
            if (status == STATUS_OK && seen[key]) {
                status = name_scanner_refuse(scanner, "a key comes twice", reterr);
            }
            if (status == STATUS_OK) {
                seen[key] = true;
                status = take_names(scanner, names, slices[key], reterr);
            }
        } while (status == STATUS_OK && name_scanner_take(scanner, ','));
        if (status == STATUS_OK) {
            status = name_scanner_expect(scanner, '}', reterr);
        }
    }
    for (size_t i = 0; i < 2 && status == STATUS_OK; i++) {
        if (!seen[i]) {
            slice_all(slices[i], names);
        }
    }
    return status == STATUS_OK ? name_scanner_end(scanner, reterr) : status;
}

static void serve(struct request *request)
{
    struct grid_request selection = {.format = FORMAT_JSON, .form = GRID_TABLE};
    struct name_scanner scanner;
    struct problem problem;

    name_scanner_init(&scanner, request->document.bytes, request->document.size, SHAPE);
    if (take_members(&scanner, result_names(request->result), &selection, &problem) == STATUS_OK) {
        grid_answer(request, &selection);
        request_forget_question(request);
        return;
    }
    slice_finish(&selection.rows);
    slice_finish(&selection.columns);
    request_refuse(request, &problem);
}

void serve_table(struct request *request)
{
    struct problem problem;

    if (request_check_document(request, &problem) == STATUS_OK) {
        request_find_result(request, serve);
    } else {
        request_refuse(request, &problem);
    }
}
