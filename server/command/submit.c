/* apsp submit and apsp wait: submit a job to a running service, and wait for one. */
#include "server/clock.h"
#include "server/command/client.h"
#include "server/command/graph_input.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const struct command_flag wait_flags[] = {CLIENT_FLAGS, {NULL, NULL, NULL}};

static void print_warnings(const json_t *document)
{
    const json_t *warnings = json_object_get(document, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        fputs("apsp: warning: ", stderr);
        command_print_advice(client_member(warning, "detail"), client_member(warning, "hint"));
    }
}

static void draw_job(const json_t *job)
{
    const json_t *eta = json_object_get(job, "eta_s");
    const char *phase = client_member(job, "phase");
    command_draw_progress(phase[0] != '\0' ? phase : client_member(job, "state"),
                          fmin(fmax(client_number(job, "progress"), 0), 1),
                          json_is_number(eta) ? json_number_value(eta) : -1);
}

static void print_job(const json_t *job)
{
    const json_t *summary = json_object_get(job, "summary");
    client_print_member(job, "id");
    putchar(' ');
    client_print_member(job, "state");
    fputs(" graph ", stdout);
    client_print_member(job, "graph");
    if (summary != NULL && json_is_object(summary)) {
        printf(" %.0f vertices, %.0f edges, kind ", client_number(summary, "n"),
               client_number(summary, "m"));
        client_print_member(summary, "kind");
    }
    if (json_is_object(json_object_get(job, "timings"))) {
        printf(", %.3f s", client_number(json_object_get(job, "timings"), "total_s"));
    }
    putchar('\n');
}

/* Waits until the job has ended, and shows a progress bar on a terminal. */
static enum status wait_for_end(struct client *client, const char *id, json_t **ret_job,
                                struct problem *reterr)
{
    const bool has_bar = command_shows_progress();
    for (;;) {
        struct text path = client_path(client, "jobs", id, "");
        const double asked_s = clock_monotonic_s();
        /* Prefer is used because the service refuses the parameter wait above its limit. */
        client_add_header(client, "Prefer: wait=%d", has_bar ? 1 : CLIENT_HOLD_S);
        const enum status status = client_ask_json(client, "GET", &path, NULL, ret_job, reterr);
        if (has_bar && status == STATUS_OK) {
            draw_job(*ret_job);
        }
        const char *state = status == STATUS_OK ? client_member(*ret_job, "state") : "";
        if (strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
            fputs(has_bar ? WIPE_LINE : "", stderr);
            return status;
        }
        /* The service may ignore the preference, so wait here too. A signal ends the pause. */
        (void)poll(NULL, 0, (int)(1000 * fmax(asked_s + 1 - clock_monotonic_s(), 0)));
    }
}

/* Waits for the job to end. The exit code is 1 unless the job is done. */
static enum status wait_for_job(struct client *client, const char *id, struct problem *reterr)
{
    json_t *job;
    STATUS_TRY(wait_for_end(client, id, &job, reterr));
    const char *state = client_member(job, "state");
    const bool is_done = strcmp(state, "done") == 0;
    if (is_done || client->call->values[CLIENT_JSON] != NULL) {
        STATUS_TRY(client_print(client, job, print_job, reterr));
    }
    if (is_done) {
        return STATUS_OK;
    }
    const json_t *problem = json_object_get(job, "problem");
    const char *detail = client_member(problem, "detail");
    return problem_refuse(reterr, STATUS_BAD_GRAPH, client_member(problem, "hint"),
                          "The job ended in the state %s%s%s", state,
                          detail[0] != '\0' ? ": " : ".", detail);
}

static enum status wait_named(struct client *client, struct problem *reterr)
{
    return wait_for_job(client, client->call->operands[0], reterr);
}

/* Indexes of the flags. From FORMAT on, they are in the order of graph_input_flag. The flags from
 * FORMAT to DEADLINE are also parameters of the request, with the same names. */
enum {
    WAIT = CLIENT_COUNT,
    FORMAT,
    NAME = FORMAT + GRAPH_INPUT_COUNT,
    KIND,
    RESULT,
    PRIORITY,
    DEADLINE,
    VERIFY
};

static const struct command_flag submit_flags[] = {
    CLIENT_FLAGS,
    [WAIT] = {"wait", NULL, "Wait until the job has ended."},
    [FORMAT] = {"format", "FORMAT", GRAPH_INPUT_FORMATS},
    GRAPH_INPUT_PARAMETERS(FORMAT),
    [NAME] = {"name", "NAME", "Name of the graph."},
    [KIND] = {"kind", "KIND", "Kind of the distances: auto, i4, u2, f4, f8."},
    [RESULT] = {"result", "FORM", "Form of the result: auto, matrix, hierarchy."},
    [PRIORITY] = {"priority", "0..9", "Priority in the queue; 9 is the highest."},
    [DEADLINE] = {"deadline_s", "SECONDS", "Time limit; a job that takes longer fails."},
    [VERIFY] = {"verify", NULL, "Verify the result against the graph."},
    {NULL, NULL, NULL},
};

static void print_id(const json_t *job)
{
    client_print_member(job, "id");
    putchar('\n');
}

static void append_submit_parameters(const struct client *client, struct text *path)
{
    const struct command_call *call = client->call;
    const enum format format = format_from_path(call->operands[0], false);
    const char *name = call->values[FORMAT] != NULL ? call->values[FORMAT]
                       : format != FORMAT_NONE      ? format_info(format)->name
                                                    : NULL;
    client_append_parameter(client, path, "format", name);
    for (size_t i = FORMAT + 1; i <= DEADLINE; i++) {
        client_append_parameter(client, path, submit_flags[i].name, call->values[i]);
    }
    client_append_parameter(client, path, "verify", call->values[VERIFY] != NULL ? "true" : NULL);
}

/* Adds a random idempotency key, so that repeating a request whose response was lost does not
 * submit the graph twice. */
static enum status add_idempotency_key(struct client *client, struct problem *reterr)
{
    uint64_t random[2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return problem_set(reterr, STATUS_IO, "the system provides no random bytes");
    }
    client_add_header(client, "Idempotency-Key: apsp-%016llx%016llx", (unsigned long long)random[0],
                      (unsigned long long)random[1]);
    return STATUS_OK;
}

static enum status send_graph(struct client *client, json_t **ret_job, struct problem *reterr)
{
    struct command_call *call = client->call;
    const char *name = call->operands[0];
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    call->problem_path = name;
    if (file == NULL) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "%s", strerror(errno));
    }
    struct text path = client_path(client, "jobs", NULL, "");
    append_submit_parameters(client, &path);
    client_add_header(client, "Content-Type:");
    const enum status status = client_ask_json(client, "POST", &path, file, ret_job, reterr);
    if (status != STATUS_BAD_GRAPH) {
        call->problem_path = NULL;
    }
    if (file != stdin) {
        fclose(file);
    }
    return status;
}

static enum status submit_graph(struct client *client, struct problem *reterr)
{
    json_t *job;
    STATUS_TRY(add_idempotency_key(client, reterr));
    STATUS_TRY(send_graph(client, &job, reterr));
    print_warnings(job);
    if (client->call->values[WAIT] == NULL) {
        return client_print(client, job, print_id, reterr);
    }
    json_incref(job); /* kept, because its ID is used after the next request */
    const enum status status = wait_for_job(client, client_member(job, "id"), reterr);
    json_decref(job);
    return status;
}

const struct command command_submit = {
    .name = "submit",
    .operand_names = {"FILE"},
    .summary = "Sends the graph in FILE to a service and prints the job's ID. - is standard\n"
               "input.",
    .flags = submit_flags,
    .run = client_run,
    .ask = submit_graph,
};

const struct command command_wait = {
    .name = "wait",
    .operand_names = {"JOB"},
    .summary = "Waits until the job has ended. Exits with 1 if the job failed or was cancelled.",
    .flags = wait_flags,
    .run = client_run,
    .ask = wait_named,
};
