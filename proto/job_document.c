#include "proto/job_document.h"

#include "proto/number.h"
#include "proto/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Largest time that can be printed, because RFC 3339 has years of four digits. */
#define LAST_SECOND 253402300799.0 /* 9999-12-31T23:59:59Z */

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_QUEUED] = "queued", [JOB_RUNNING] = "running",     [JOB_DONE] = "done",
    [JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

const char *job_phase_name(enum solve_phase phase)
{
    static const char *const names[PHASE_COUNT] = {"planning", "solving",  "solving",
                                                   "writing",  "checking", "publishing"};
    return names[phase];
}

bool job_state_from_name(const char *name, enum job_state *ret_state)
{
    for (enum job_state state = JOB_QUEUED; state < JOB_STATE_COUNT; state++) {
        if (strcmp(name, state_names[state]) == 0) {
            *ret_state = state;
            return true;
        }
    }
    return false;
}

bool job_state_is_final(enum job_state state)
{
    return state != JOB_QUEUED && state != JOB_RUNNING;
}

void time_print(double seconds, char buffer[TIME_TEXT_SIZE])
{
    double shown = fmin(fmax(seconds, 0), LAST_SECOND);
    double whole = floor(shown);
    int milliseconds = (int)((shown - whole) * 1000);
    time_t clock = (time_t)whole;
    struct tm parts;
    char date[TIME_TEXT_SIZE - 8];
    CHECK(gmtime_r(&clock, &parts) != NULL &&
          strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts) > 0);
    snprintf(buffer, TIME_TEXT_SIZE, "%s.%03dZ", date, milliseconds);
}

void job_report_finish(struct job_report *report)
{
    free(report->stored);
    free(report->input);
    free(report->cycle);
    free(report->warnings);
    *report = (struct job_report){0};
}

void job_report_reset(struct job_report *report)
{
    struct job_report fresh = {.input = report->input,
                               .warnings = report->warnings,
                               .workers_lost = report->workers_lost,
                               .result = report->result};
    memcpy(fresh.traceparent, report->traceparent, sizeof(fresh.traceparent));
    memcpy(fresh.parent, report->parent, sizeof(fresh.parent));
    memcpy(fresh.moves, report->moves, sizeof(fresh.moves));
    report->input = NULL;
    report->warnings = NULL;
    job_report_finish(report);
    *report = fresh;
}

static json_t *time_or_null(double seconds)
{
    char text[TIME_TEXT_SIZE];
    if (seconds <= 0) {
        return json_null();
    }
    time_print(seconds, text);
    return json_string(text);
}

/* A member of a struct that contains seconds, and its name in documents. */
struct duration {
    const char *name;
    size_t offset;
};
#define DURATION(type, member)                                                                     \
    {                                                                                              \
#member, offsetof(struct type, member)                                                     \
    }
static const struct duration timing_durations[] = {
    DURATION(timings, queue_s), DURATION(timings, parse_s),   DURATION(timings, fill_s),
    DURATION(timings, h2d_s),   DURATION(timings, compute_s), DURATION(timings, d2h_s),
    DURATION(timings, write_s), DURATION(timings, total_s)};
static const struct duration device_durations[] = {DURATION(device_share, fill_s),
                                                   DURATION(device_share, compute_s),
                                                   DURATION(device_share, d2h_s)};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static json_t *durations_json(const struct duration *durations, size_t count, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const double *seconds = (const void *)((const char *)from + durations[i].offset);
        json_object_set_new(object, durations[i].name, json_real(number_round(*seconds)));
    }
    return object;
}

/* Returns the problem, with the members about a negative cycle if there is one. */
static json_t *report_problem_json(const struct job_report *report)
{
    json_t *problem = problem_json(&report->problem, NULL);
    if (report->cycle != NULL &&
        json_object_update_new(
            problem, json_pack("{s:o, s:o}", "cycle", json_loads(report->cycle, 0, NULL), "weight",
                               problem_number_json(report->cycle_weight))) != 0) {
        json_decref(problem);
        return NULL;
    }
    return problem;
}

/* Returns an array with the durations of the solve on each GPU of the group. */
static json_t *devices_json(const struct job_report *report)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < report->device_count; i++) {
        json_t *share =
            durations_json(device_durations, COUNT(device_durations), &report->devices[i]);
        json_object_set_new(share, "index", json_integer(i));
        json_array_append_new(list, share);
    }
    return list;
}

/* Returns the verification as JSON; NULL if no row was verified. */
static json_t *verification_json(const struct verification *verification)
{
    if (!verification->done) {
        return NULL;
    }
    return json_pack("{s:I, s:I, s:I, s:s, s:[s, s, s, s], s:o, s:f}", "rows",
                     (json_int_t)verification->rows, "of", (json_int_t)verification->of, "edges",
                     (json_int_t)verification->edges, "on", "host", "checks", "zero_diagonal",
                     "edges_relaxed", "tight_last_edge", "tight_path", "tolerance",
                     problem_number_json(verification->tolerance), "seconds",
                     number_round(verification->seconds));
}

/* Returns the report on the upload as JSON; NULL if nothing was uploaded and no result existed. */
static json_t *input_json(const struct job_report *report)
{
    json_t *input = report->input != NULL ? json_loads(report->input, 0, NULL)
                    : report->cached      ? json_object()
                                          : NULL;
    json_object_set_new(input, "cached", json_boolean(report->cached));
    return input;
}

static const char *text_or_absent(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Returns the members about the solve; json_pack omits a member marked with * if it is NULL.
 * Returns NULL on failure. */
static json_t *solve_json(const struct job_report *report)
{
    static const char *const names[] = {"solver",  "device",   "timings",      "plan",
                                        "devices", "verified", "verification", "problem"};
    const struct verification *verification = &report->verification;
    if (report->stored != NULL) {
        json_t *stored = json_loads(report->stored, 0, NULL);
        json_t *members = stored != NULL ? json_object() : NULL;
        for (size_t i = 0; i < COUNT(names); i++) {
            json_object_set(members, names[i], json_object_get(stored, names[i]));
        }
        json_decref(stored);
        return members;
    }
    json_t *verified = verification->done
                           ? json_pack("{s:I, s:f}", "rows", (json_int_t)verification->rows,
                                       "seconds", number_round(verification->seconds))
                           : NULL;
    json_t *object = json_pack(
        "{s:s*, s:s*, s:o, s:o*, s:o*, s:o*, s:o*}", "solver", text_or_absent(report->solver),
        "device", text_or_absent(report->device), "timings",
        durations_json(timing_durations, COUNT(timing_durations), &report->timings), "plan",
        report->plan.parts > 0 ? plan_summary_json(&report->plan) : NULL, "devices",
        report->device_count > 0 ? devices_json(report) : NULL, "verified", verified,
        "verification", verification_json(verification));
    if (report->problem.status != STATUS_OK &&
        json_object_set_new(object, "problem", report_problem_json(report)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Returns the members about the submission and its result, like solve_json. */
static json_t *submission_json(const struct job_report *report)
{
    return json_pack(
        "{s:s*, s:s*, s:o*, s:o*, s:o*}", "traceparent", text_or_absent(report->traceparent),
        "parent", text_or_absent(report->parent), "workers_lost",
        report->workers_lost > 0 ? json_integer(report->workers_lost) : NULL, "input",
        input_json(report), "result",
        report->result.form != RESULT_FORM_AUTO ? result_summary_json(&report->result) : NULL);
}

/* Prints and releases the object. Returns NULL if it is NULL or setting a member has failed. */
static char *print_object(json_t *object, int failed)
{
    char *text = failed == 0 ? text_print_json(object) : NULL;
    json_decref(object);
    return text;
}

char *job_report_encode(const struct job_report *report)
{
    json_t *object = json_pack("{s:s*}", "moves", text_or_absent(report->moves));
    int failed = json_object_update_new(object, solve_json(report)) |
                 json_object_update_new(object, submission_json(report));
    if (report->warnings != NULL) {
        failed |= json_object_set_new(object, "warnings", json_loads(report->warnings, 0, NULL));
    }
    return print_object(object, failed);
}

static bool decode_report(json_t *object, struct job_report *report)
{
    const char *traceparent = "";
    const char *parent = "";
    const char *moves = "";
    json_t *input = NULL;
    json_t *warnings = NULL;
    json_t *result = NULL;
    json_int_t workers_lost = 0;
    if (json_unpack(object, "{s?s, s?s, s?s, s?o, s?o, s?o, s?I}", "traceparent", &traceparent,
                    "parent", &parent, "moves", &moves, "input", &input, "warnings", &warnings,
                    "result", &result, "workers_lost", &workers_lost) != 0 ||
        workers_lost < 0 || workers_lost > UINT32_MAX ||
        (result != NULL && !result_summary_from_json(result, &report->result))) {
        return false;
    }
    const json_t *problem = json_object_get(object, "problem");
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    snprintf(report->problem.detail, sizeof(report->problem.detail), "%s",
             detail != NULL ? detail : "");
    report->workers_lost = (uint32_t)workers_lost;
    report->cached = json_is_true(json_object_get(input, "cached"));
    report->input = json_object_get(input, "format") != NULL ? text_print_json(input) : NULL;
    report->warnings = json_is_array(warnings) ? text_print_json(warnings) : NULL;
    report->verification.done = json_object_get(object, "verification") != NULL;
    snprintf(report->traceparent, sizeof(report->traceparent), "%s", traceparent);
    snprintf(report->parent, sizeof(report->parent), "%s", parent);
    snprintf(report->moves, sizeof(report->moves), "%s", moves);
    return warnings == NULL || report->warnings != NULL;
}

enum status job_report_decode(const char *text, struct job_report *ret_report)
{
    struct job_report report = {.stored = strdup(text)};
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool decoded = object != NULL && decode_report(object, &report);
    json_decref(object);
    if (!decoded || report.stored == NULL) {
        job_report_finish(&report);
        return decoded ? STATUS_NO_MEMORY : STATUS_CORRUPT;
    }
    *ret_report = report;
    return STATUS_OK;
}

/* Returns a graph as JSON. summary: NULL for a deleted graph. */
static json_t *summary_json(const struct graph_summary *summary, uint32_t vertex_count,
                            uint64_t edge_count, bool directed, enum kind kind)
{
    if (summary == NULL) {
        return json_null();
    }
    return json_pack("{s:I, s:I, s:b, s:I, s:I, s:o, s:o, s:b, s:I, s:s, s:s}", "n",
                     (json_int_t)vertex_count, "m", (json_int_t)edge_count, "directed", directed,
                     "loops_dropped", (json_int_t)summary->loops_dropped, "parallel_merged",
                     (json_int_t)summary->parallel_merged, "min_weight",
                     problem_number_json(summary->min_weight), "max_weight",
                     problem_number_json(summary->max_weight), "negative", summary->negative,
                     "components", (json_int_t)summary->components, "kind", kind_name(kind),
                     "arithmetic", graph_scaling_text(graph_scaling(summary, kind)).text);
}

static json_t *link_to(const char *collection, const char *id, const char *rest)
{
    return json_sprintf("/v1/%s/%s%s", collection, id, rest);
}

/* Parses the output of warning_print. */
static json_t *warnings_json(const char *text)
{
    return json_loads(text != NULL ? text : "[]", 0, NULL);
}

/* Unknown members are null, for example the solver before a worker starts the job. */
char *job_document_print(const struct job_document *document)
{
    static const struct job_report nothing_reported;
    const struct job_report *report =
        document->report != NULL ? document->report : &nothing_reported;
    const struct graph_summary *summary = document->summary;
    json_t *submission = submission_json(report);
    const json_t *input = json_object_get(submission, "input");
    struct graph_summary own;
    if (summary != NULL && json_object_get(input, "loops_dropped") != NULL) {
        /* The stored summary describes the first upload. This one may have dropped other edges. */
        own = *summary;
        own.loops_dropped = (uint64_t)json_integer_value(json_object_get(input, "loops_dropped"));
        own.parallel_merged =
            (uint64_t)json_integer_value(json_object_get(input, "parallel_merged"));
        summary = &own;
    }
    json_t *links =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "self", link_to("jobs", document->id, ""),
                  "events", link_to("jobs", document->id, "/events"), "graph",
                  link_to("graphs", document->graph_id, ""), "distance",
                  link_to("graphs", document->graph_id, "/distance"), "matrix",
                  link_to("graphs", document->graph_id, "/matrix"), "path",
                  link_to("graphs", document->graph_id, "/path"), "stats",
                  link_to("graphs", document->graph_id, "/stats"));
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:f, s:s?, s:o, s:b, s:i, s:o, s:o, s:o}", "id",
                  document->id, "graph", document->graph_id, "state",
                  job_state_name(document->state), "position", (json_int_t)document->position,
                  "progress", number_round(document->progress), "phase", document->phase, "eta_s",
                  document->eta_s >= 0 ? json_real(number_round(document->eta_s)) : json_null(),
                  "durable", document->durable, "priority", document->priority, "created",
                  time_or_null(document->created_s), "started", time_or_null(document->started_s),
                  "finished", time_or_null(document->finished_s));
    json_t *tail = json_pack("{s:n, s:n, s:n, s:n, s:o, s:n, s:o, s:n, s:i, s:o}", "solver",
                             "device", "timings", "plan", "summary",
                             summary_json(summary, document->vertex_count, document->edge_count,
                                          document->directed, document->kind),
                             "problem", "links", links, "input", "workers_lost", 0, "warnings",
                             warnings_json(report->warnings));
    json_t *last =
        json_pack("{s:s*, s:o*}", "name", document->graph_name, "deadline_s",
                  document->deadline_s > 0 ? problem_number_json(document->deadline_s) : NULL);
    int failed = json_object_update_new(object, tail) |
                 json_object_update_new(object, solve_json(report)) |
                 json_object_update_new(object, submission) | json_object_update_new(object, last);
    if (document->started_s <= 0) {
        failed |= json_object_set_new(object, "timings", json_null());
    }
    return print_object(object, failed);
}

static json_t *names_json(const char *const *names)
{
    json_t *array = json_array();
    for (; names != NULL && *names != NULL; names++) {
        json_array_append_new(array, json_string(*names));
    }
    return array;
}

static json_t *coordinates_json(const struct graph_document *document)
{
    if (document->coordinate_system == NULL) {
        return json_null();
    }
    return json_pack("{s:s, s:I, s:I}", "system", document->coordinate_system, "located",
                     (json_int_t)document->located, "missing",
                     (json_int_t)document->vertex_count - document->located);
}

char *graph_document_print(const struct graph_document *document)
{
    const bool has_input = document->input != NULL && document->input->known;
    json_t *links =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o*}", "self", link_to("graphs", document->id, ""),
                  "vertices", link_to("graphs", document->id, "/vertices"), "distance",
                  link_to("graphs", document->id, "/distance"), "matrix",
                  link_to("graphs", document->id, "/matrix"), "stats",
                  link_to("graphs", document->id, "/stats"), "job",
                  document->job_id != NULL ? link_to("jobs", document->job_id, "") : NULL);
    json_t *object = json_pack(
        "{s:s, s:o, s:s?, s:o, s:I, s:I, s:b, s:I, s:o, s:s?, s:s?, s:o, s:o, s:o*, s:o*}", "id",
        document->id, "names", names_json(document->names), "parent",
        text_or_absent(document->parent), "created", time_or_null(document->created_s), "n",
        (json_int_t)document->vertex_count, "m", (json_int_t)document->edge_count, "directed",
        document->directed, "bytes", (json_int_t)document->file_bytes, "summary",
        summary_json(document->summary, document->vertex_count, document->edge_count,
                     document->directed, document->kind),
        "result", document->result_kind, "job", document->job_id, "links", links, "coordinates",
        coordinates_json(document), "input", has_input ? input_report_json(document->input) : NULL,
        "warnings", has_input ? warnings_json(document->warnings) : NULL);
    return print_object(object, 0);
}

char *estimate_print(const struct estimate *estimate)
{
    json_t *seconds =
        estimate->seconds < 0 ? json_null() : json_real(number_round(estimate->seconds));
    json_t *root = json_pack(
        "{s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:s?, s:s?, s:{s:I, s:I, s:I}}",
        "n", (json_int_t)estimate->vertex_count, "m", (json_int_t)estimate->edge_count, "kind",
        kind_name(estimate->kind), "solver", estimate->solver, "device", estimate->device,
        "device_bytes", (json_int_t)estimate->device_bytes, "host_bytes",
        (json_int_t)estimate->host_bytes, "disk_bytes", (json_int_t)estimate->disk_bytes, "seconds",
        seconds, "result", result_summary_json(&estimate->result), "fits", (int)estimate->fits,
        "reason", text_or_absent(estimate->reason), "hint", text_or_absent(estimate->hint),
        "limits", "vertex_limit", (json_int_t)estimate->vertex_limit, "edge_limit",
        (json_int_t)estimate->edge_limit, "free_disk_bytes", (json_int_t)estimate->free_disk_bytes);
    return print_object(root, 0);
}
