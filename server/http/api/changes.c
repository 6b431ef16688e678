#include "server/http/api/serve.h"

#include "proto/number.h"
#include "server/http/api/pairs.h"
#include "server/store/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum status complete_change(struct request *request, struct call *call,
                                   struct problem *reterr)
{
    struct edge_changes *changes = &call->submit.changes;
    const struct identity_part parts[] = {
        {changes->list, changes->count * sizeof(*changes->list)},
        {changes->weights, changes->weights_size},
    };
    if (request_header(request, "Idempotency-Key") != NULL) {
        STATUS_TRY(problem_explain(reterr, identity_of_parts(parts, 2, changes->digest),
                                   "There is not enough memory for the request."));
    }
    call->submit.share = upload_memory_move(&request->share);
    serve_jobs_describe(request, call);
    return STATUS_OK;
}

enum status serve_changes_weights(struct request *request, struct call *call,
                                  struct problem *reterr)
{
    struct edge_changes *changes = &call->submit.changes;
    changes->weights = text_take(&request->document, &changes->weights_size);
    return complete_change(request, call, reterr);
}

static enum status read_weight(const struct pairs_reader *reader, double *ret_weight,
                               struct problem *reterr)
{
    const struct scanned_name *weight = &reader->pair[2];
    const bool is_null =
        weight->size == 0 || (weight->size == 4 && memcmp(weight->bytes, "null", 4) == 0);
    *ret_weight = NAN;
    if (is_null || number_parse_real(weight->bytes, weight->size, ret_weight)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_REQUEST,
                "A weight must be a number, or null or empty to remove the edge.");
    pairs_place(reader, reterr);
    return STATUS_BAD_REQUEST;
}

static enum status add_change(struct request *request, struct edge_changes *changes, size_t *room,
                              const struct edge_change *change, struct problem *reterr)
{
    if (changes->count == *room) {
        const size_t wanted = *room > 0 ? 2 * *room : 64;
        STATUS_TRY(upload_memory_charge(
            &request->share, request->document.size + wanted * sizeof(*changes->list), reterr));
        struct edge_change *list = realloc(changes->list, wanted * sizeof(*list));
        if (list == NULL) {
            return problem_set(reterr, STATUS_NO_MEMORY,
                               "There is not enough memory for the changes.");
        }
        changes->list = list;
        *room = wanted;
    }
    changes->list[changes->count++] = *change;
    return STATUS_OK;
}

static enum status read_list(struct request *request, struct pairs_reader *reader,
                             struct edge_changes *changes, struct problem *reterr)
{
    size_t room = 0;
    size_t count;
    uint32_t rows[1][2];
    do {
        STATUS_TRY(pairs_read_rows(reader, request->names, 1, rows, &count, reterr));
        if (count > 0) {
            struct edge_change change = {.source = rows[0][0], .target = rows[0][1]};
            STATUS_TRY(read_weight(reader, &change.weight, reterr));
            STATUS_TRY(add_change(request, changes, &room, &change, reterr));
        }
    } while (count > 0);
    if (changes->count > 0) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_GRAPH, "The list contains no changes.");
    problem_hint(reterr, "The body must have the form %s.", request->match.route->shape);
    return STATUS_BAD_GRAPH;
}

enum status serve_changes_edges(struct request *request, struct call *call, struct problem *reterr)
{
    struct edge_changes *changes = &call->submit.changes;
    struct pairs_reader reader;
    STATUS_TRY(problem_explain(reterr, identity_of_names(request->names, changes->names_digest),
                               "There is not enough memory for the request."));
    const struct text *document = &request->document;
    const enum pairs_form form =
        pairs_find_form(request_header(request, "Content-Type"), request->match.route->reads,
                        document->bytes, document->size);
    pairs_open_weighted(&reader, form == PAIRS_JSON ? PAIRS_JSON : PAIRS_CSV, document->bytes,
                        document->size);
    const enum status status = read_list(request, &reader, changes, reterr);
    pairs_close(&reader);
    result_unref(request->result); /* the call, which may wait for long, needs no result */
    request->result = NULL;
    request->names = NULL;
    return status == STATUS_OK ? complete_change(request, call, reterr) : status;
}
