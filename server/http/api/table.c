#include "server/http/api/serve.h"

#include "server/http/api/grid_answer.h"
#include "server/http/api/name_scanner.h"

/* Either list, in either order; one that is absent is all. */
static enum status parse_members(struct name_scanner *scanner, const struct vertex_names *names,
                                 struct grid_request *selection, struct problem *reterr)
{
    static const char *const keys[] = {"sources", "destinations", NULL};
    struct slice *const slices[] = {&selection->rows, &selection->columns};
    bool seen[2] = {false, false};

    STATUS_TRY(name_scanner_expect(scanner, '{', reterr));
    if (!name_scanner_take(scanner, '}')) {
        do {
            size_t key;

            STATUS_TRY(name_scanner_key(scanner, keys, &key, reterr));
            if (seen[key]) {
                return name_scanner_refuse(scanner, "a key comes twice", reterr);
            }
            seen[key] = true;
            STATUS_TRY(slice_scan(slices[key], names, scanner, reterr));
        } while (name_scanner_take(scanner, ','));
        STATUS_TRY(name_scanner_expect(scanner, '}', reterr));
    }
    for (size_t i = 0; i < 2; i++) {
        if (!seen[i]) {
            slice_all(slices[i], names);
        }
    }
    return name_scanner_end(scanner, reterr);
}

void serve_table(struct request *request)
{
    const bool is_csv = request->offer == 1;
    struct grid_request selection = {.format = is_csv ? FORMAT_CSV : FORMAT_JSON,
                                     .form = is_csv ? GRID_CSV_NAMED : GRID_TABLE};
    const struct text *body = &request->document;
    struct name_scanner scanner;
    struct problem problem;

    name_scanner_init(&scanner, body->bytes, body->size, request->match.route->query->question);
    if (parse_members(&scanner, result_names(request->result), &selection, &problem) == STATUS_OK) {
        grid_answer(request, &selection);
        return;
    }
    grid_request_finish(&selection);
    request_refuse(request, &problem);
}
