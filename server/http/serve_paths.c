#include "server/http/serve.h"

#include "proto/path.h"
#include "proto/writer.h"
#include "server/http/intake.h"
#include "server/http/pairs.h"
#include "server/http/preference.h"
#include "server/http/stream.h"

#include <stdlib.h>
#include <string.h>

static const char *const offers[] = {"application/json", NULL};

/* Looked at for paths before what is there of an answer is sent: some tens of milliseconds, in
 * which the thread serves nobody else. */
#define EDGES_AT_ONCE (UINT64_C(1) << 21)

struct pair {
    uint32_t source;
    uint32_t target;
};

/* What the paths of one answer are walked with. */
struct walker {
    struct adjacency_cache *adjacencies;
    const struct adjacency *adjacency; /* lent by them */
    struct path_finder *finder;
    struct text pairs; /* of struct pair */
    uint64_t edges;    /* looked at since the last pause */
};

static void destroy_walker(void *context)
{
    struct walker *walker = context;

    if (walker == NULL) {
        return;
    }
    path_finder_destroy(walker->finder);
    if (walker->adjacency != NULL) {
        adjacency_cache_give_back(walker->adjacencies, walker->adjacency);
    }
    text_finish(&walker->pairs);
    free(walker);
}

static enum status fill_walker(const struct exchange *exchange, struct walker *walker,
                               struct problem *reterr)
{
    enum status status;

    walker->adjacencies = exchange->house->adjacencies;
    status = adjacency_cache_borrow(walker->adjacencies, result_graph_id(exchange->result),
                                    &walker->adjacency, reterr);
    if (status == STATUS_CORRUPT) {
        desk_note_damaged_graph(exchange->house->desk, result_graph_id(exchange->result));
        problem_hint(reterr, "Send the graph again: that heals it.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = path_finder_create(walker->adjacency, &walker->finder);
    return status == STATUS_OK ? STATUS_OK
                               : problem_set(reterr, status, "There is no memory for the request.");
}

static enum status create_walker(const struct exchange *exchange, struct walker **ret_walker,
                                 struct problem *reterr)
{
    struct walker *walker = calloc(1, sizeof *walker);
    enum status status;

    if (walker == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    status = fill_walker(exchange, walker, reterr);
    if (status != STATUS_OK) {
        destroy_walker(walker);
        return status;
    }
    *ret_walker = walker;
    return STATUS_OK;
}

/* ---- The shape of a path ---- */

static void append_path(struct text *text, const struct result *result, struct pair pair,
                        const struct path *path)
{
    text_append_string(text, "{\"distance\":");
    result_append_distance(result, pair.source, pair.target, text);
    text_append_string(text, ",\"vertices\":[");
    for (uint32_t i = 0; i < path->count; i++) {
        text_append(text, ",", i > 0);
        writer_append_vertex(text, result_names(result), path->vertices[i]);
    }
    text_append_string(text, "],\"weights\":[");
    for (uint32_t i = 0; i + 1 < path->count; i++) {
        text_append(text, ",", i > 0);
        writer_append_real(text, path->weights[i], false);
    }
    text_append_string(text, "]}");
}

static enum status walk(struct walker *walker, const struct result *result, struct pair pair,
                        struct text *text)
{
    const void *distances = result_distances(result, pair.source);
    struct path path;
    enum status status = distances == NULL ? STATUS_CORRUPT
                                           : path_find(walker->finder, result_kind(result),
                                                       distances, pair.source, pair.target, &path);

    if (status == STATUS_OK) {
        append_path(text, result, pair, &path);
        walker->edges += path.edges;
    }
    return status;
}

static enum status refuse_walk(enum status status, struct problem *reterr)
{
    return status == STATUS_NO_MEMORY
               ? problem_set(reterr, status, "There is no memory for the path.")
               : problem_set(reterr, status, "The path cannot be walked on the stored edges.");
}

/* ---- One pair ---- */

static enum status answer_one(struct exchange *exchange, struct text *text, struct problem *reterr)
{
    const char *source = query_value(&exchange->query, "source");
    const char *target = query_value(&exchange->query, "target");
    struct walker *walker = NULL;
    struct pair pair;
    enum status status =
        result_find_row(exchange->result, source, strlen(source), &pair.source, reterr);

    if (status == STATUS_OK) {
        status = result_find_row(exchange->result, target, strlen(target), &pair.target, reterr);
    }
    if (status == STATUS_OK) {
        status = create_walker(exchange, &walker, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = walk(walker, exchange->result, pair, text);
    destroy_walker(walker);
    return status == STATUS_OK ? STATUS_OK : refuse_walk(status, reterr);
}

static void serve_one(struct exchange *exchange)
{
    struct problem problem;
    struct text text = {0};

    if (answer_one(exchange, &text, &problem) != STATUS_OK) {
        text_finish(&text);
        exchange_refuse(exchange, &problem);
        return;
    }
    if (exchange_not_modified(exchange, "path")) {
        text_finish(&text);
        return;
    }
    text_append_char(&text, '\n');
    exchange_answer_text(exchange, MHD_HTTP_OK, offers[0], &text);
}

static enum status check_accept(const struct exchange *exchange, struct problem *reterr)
{
    size_t offer;

    if (preference_choose(exchange_request_header(exchange, "Accept"), offers, &offer)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE, "A path is not answered in such a form.");
    problem_hint(reterr, "Answered: %s.", offers[0]);
    return STATUS_NOT_ACCEPTABLE;
}

void serve_paths_one(struct exchange *exchange)
{
    struct problem problem = {0};

    if (query_value(&exchange->query, "source") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter source is missing.");
    } else if (query_value(&exchange->query, "target") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter target is missing.");
    } else if (check_accept(exchange, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve_one);
        return;
    }
    exchange_refuse(exchange, &problem);
}

/* ---- Many pairs ---- */

enum status serve_paths_prepare(struct exchange *exchange, struct problem *reterr)
{
    return intake_open_json(exchange, "{\"pairs\":[[source,target],...]}",
                            exchange->house->config->pairs_limit_bytes, reterr);
}

struct collector {
    const struct result *result;
    struct text *pairs;
};

static enum status collect_pair(void *context, const char *source, size_t source_size,
                                const char *target, size_t target_size, struct problem *reterr)
{
    const struct collector *collector = context;
    struct pair pair;
    enum status status =
        result_find_row(collector->result, source, source_size, &pair.source, reterr);

    if (status == STATUS_OK) {
        status = result_find_row(collector->result, target, target_size, &pair.target, reterr);
    }
    if (status == STATUS_OK) {
        text_append(collector->pairs, &pair, sizeof pair);
    }
    return status;
}

/* position counts pairs. A path that cannot be walked ends the connection, unless it is of the
 * first block: the status was sent. */
static bool make_path(struct stream *stream, struct text *text)
{
    struct walker *walker = stream->context;
    const uint64_t count = walker->pairs.size / sizeof(struct pair);
    enum status status;
    struct pair pair;

    if (stream->position == 0) {
        text_append_string(text, "{\"paths\":[");
    }
    if (stream->position == count) {
        text_append_string(text, "]}\n");
        return false;
    }
    text_append(text, ",", stream->position > 0);
    memcpy(&pair, walker->pairs.bytes + stream->position * sizeof pair, sizeof pair);
    status = walk(walker, stream->result, pair, text);
    if (status != STATUS_OK) {
        refuse_walk(status, &stream->problem);
        text->failed = true;
    }
    stream->paused = walker->edges >= EDGES_AT_ONCE;
    walker->edges = stream->paused ? 0 : walker->edges;
    stream->position++;
    return true;
}

static enum status collect(const struct exchange *exchange, struct walker *walker,
                           struct problem *reterr)
{
    struct collector collector = {exchange->result, &walker->pairs};
    struct pairs_visitor visitor = {.context = &collector, .pair = collect_pair};
    enum status status =
        pairs_walk(PAIRS_JSON, exchange->document.bytes, exchange->document.size, &visitor, reterr);

    if (status == STATUS_OK && text_status(&walker->pairs) != STATUS_OK) {
        status = problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the pairs.");
    }
    return status;
}

static void serve_many(struct exchange *exchange)
{
    struct walker *walker = NULL;
    struct problem problem;
    enum status status = create_walker(exchange, &walker, &problem);

    if (status == STATUS_OK) {
        status = collect(exchange, walker, &problem);
    }
    if (status == STATUS_OK) {
        exchange_negotiate(exchange, false);
        exchange_vary(exchange);
        stream_answer_context(exchange, offers[0], walker, destroy_walker, make_path);
        exchange_forget_question(exchange);
        return;
    }
    destroy_walker(walker);
    exchange_refuse(exchange, &problem);
}

void serve_paths_many(struct exchange *exchange)
{
    struct problem problem;

    if (check_accept(exchange, &problem) == STATUS_OK &&
        intake_check_document(exchange, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve_many);
    } else {
        exchange_refuse(exchange, &problem);
    }
}
