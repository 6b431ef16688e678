/* The commands that ask a running service. */
#include "server/command/client.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest that the service holds an answer. */
#define HOLD_S 30
#define BAR_CELLS 24
#define JSON_FLAG                                                                                  \
    {                                                                                              \
        "json", NULL, "Print the answer of the service, one JSON object as the last line."         \
    }

enum { URL, JSON, OWN };

static const struct command_flag plain_flags[] = {
    [URL] = URL_FLAG, [JSON] = JSON_FLAG, {NULL, NULL, NULL}};

/* ---- Answers ---- */

/* The document as a line, where that was asked for. */
static enum status print_document(const struct command_call *call, json_t *document,
                                  struct problem *reterr)
{
    if (call->values[JSON] == NULL) {
        return STATUS_OK;
    }
    const enum status status = command_print_json(json_incref(document), stdout);
    return status == STATUS_OK ? status : problem_set(reterr, status, "cannot print the answer");
}

static const char *member(const json_t *document, const char *name)
{
    const char *text = json_string_value(json_object_get(document, name));
    return text != NULL ? text : "";
}

static double number(const json_t *document, const char *name)
{
    return json_number_value(json_object_get(document, name));
}

static void print_warnings(const json_t *document)
{
    const json_t *warnings = json_object_get(document, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        fprintf(stderr, "apsp: warning: %s\n", member(warning, "detail"));
        if (member(warning, "hint")[0] != '\0') {
            fprintf(stderr, "  %s\n", member(warning, "hint"));
        }
    }
}

static void draw_job(const json_t *job)
{
    const json_t *eta = json_object_get(job, "eta_s");
    const double share = fmin(fmax(number(job, "progress"), 0), 1);
    char cells[BAR_CELLS + 1];
    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', (size_t)(share * BAR_CELLS));
    cells[BAR_CELLS] = '\0';
    const char *phase = member(job, "phase");
    fprintf(stderr, WIPE_LINE "%s [%s] %3.0f %%", phase[0] != '\0' ? phase : member(job, "state"),
            cells, share * 100);
    if (json_is_number(eta)) {
        fprintf(stderr, "  ETA %.1f s", json_number_value(eta));
    }
    fflush(stderr);
}

static void print_job(const json_t *job)
{
    const json_t *summary = json_object_get(job, "summary");
    printf("%s %s graph %s", member(job, "id"), member(job, "state"), member(job, "graph"));
    if (summary != NULL && json_is_object(summary)) {
        printf(" %.0f vertices, %.0f edges, kind %s", number(summary, "n"), number(summary, "m"),
               member(summary, "kind"));
    }
    if (json_is_object(json_object_get(job, "timings"))) {
        printf(", %.3f s", number(json_object_get(job, "timings"), "total_s"));
    }
    putchar('\n');
}

static bool is_final(const char *state)
{
    return strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

/* Until the job has ended; with a bar on a terminal. The exit code is 1 where it is not done. */
static enum status wait_for_job(struct client *client, const char *id, struct problem *reterr)
{
    struct command_call *call = client->call;
    const bool has_bar = command_shows_progress();
    json_t *job = NULL;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (job == NULL || !is_final(member(job, "state")))) {
        struct text path = {0};
        text_append_string(&path, "/v1/jobs/");
        client_append(client, &path, id);
        text_printf(&path, "?wait=%d", has_bar ? 1 : HOLD_S);
        status = text_status(&path);
        if (status == STATUS_OK) {
            status = client_ask(client, "GET", path.bytes, NULL, reterr);
        }
        text_finish(&path);
        if (status == STATUS_OK) {
            json_decref(job);
            job = client_json(client, reterr);
            status = job != NULL ? STATUS_OK : reterr->status;
        }
        if (status == STATUS_OK && has_bar) {
            draw_job(job);
        }
    }
    if (has_bar) {
        fputs(WIPE_LINE, stderr);
    }
    if (status == STATUS_OK) {
        status = print_document(call, job, reterr);
    }
    if (status == STATUS_OK && strcmp(member(job, "state"), "done") != 0) {
        const json_t *problem = json_object_get(job, "problem");
        const char *detail = member(problem, "detail");
        status = problem_set(reterr, STATUS_BAD_GRAPH, "The job is %s%s%s", member(job, "state"),
                             detail[0] != '\0' ? ": " : ".", detail);
        problem_hint(reterr, "%s", member(problem, "hint"));
    } else if (status == STATUS_OK && call->values[JSON] == NULL) {
        print_job(job);
    }
    json_decref(job);
    return status;
}

/* ---- Requests ---- */

/* Asks, and gives the document to print, which then says what a person reads. */
static enum status ask_document(struct command_call *call, const char *method, struct text *path,
                                struct client *client, void (*print)(const json_t *document),
                                struct problem *reterr)
{
    enum status status = text_status(path);
    if (status == STATUS_OK) {
        status = client_ask(client, method, path->bytes, NULL, reterr);
    }
    json_t *document = status == STATUS_OK ? client_json(client, reterr) : NULL;
    if (status == STATUS_OK) {
        status = document != NULL ? print_document(call, document, reterr) : reterr->status;
    }
    if (status == STATUS_OK && call->values[JSON] == NULL) {
        print(document);
    }
    json_decref(document);
    text_finish(path);
    return status;
}

/* ---- submit ---- */

enum {
    NAME = OWN,
    WAIT,
    FORMAT,
    DIRECTED,
    WEIGHT,
    N,
    CHARSET,
    KIND,
    RESULT,
    PRIORITY,
    DEADLINE,
    VERIFY
};

static const struct command_flag submit_flags[] = {
    [URL] = URL_FLAG,
    [JSON] = JSON_FLAG,
    [NAME] = {"name", "NAME", "A name to ask the graph by."},
    [WAIT] = {"wait", NULL, "Wait until the job has ended."},
    [FORMAT] = {"format", "FORMAT",
                "Format of the graph: dimacs, mtx, metis, edges, matrix, json, jgf,\n"
                "      graphml, npy, nthu. Else the file's ending, else its first bytes decide."},
    [DIRECTED] = {"directed", "true|false", "Whether edges lead one way."},
    [WEIGHT] = {"weight", "NAME", "Column or attribute to take the weights from."},
    [N] = {"n", "N", "The vertices are 0..N-1."},
    [CHARSET] = {"charset", "NAME", "Charset of the text. Default: utf-8."},
    [KIND] = {"kind", "KIND", "Numbers of the distances: auto, i4, u2, f4, f8."},
    [RESULT] = {"result", "FORM", "What is kept: auto, matrix, hierarchy."},
    [PRIORITY] = {"priority", "0..9", "Priority in the queue, 9 first."},
    [DEADLINE] = {"deadline_s", "SECONDS", "The job ends unless it is done by then."},
    [VERIFY] = {"verify", NULL, "Check the result by certificate before it counts."},
    {NULL, NULL, NULL},
};

static void append_submit_parameters(const struct client *client, struct text *path)
{
    static const int passed[] = {NAME, DIRECTED, WEIGHT,   N,       CHARSET,
                                 KIND, RESULT,   PRIORITY, DEADLINE};
    const struct command_call *call = client->call;
    const enum format format = format_from_path(call->operands[0], false);
    const char *name = call->values[FORMAT] != NULL ? call->values[FORMAT]
                       : format != FORMAT_NONE      ? format_info(format)->name
                                                    : NULL;
    client_append_parameter(client, path, "format", name);
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        client_append_parameter(client, path, submit_flags[passed[i]].name,
                                call->values[passed[i]]);
    }
    client_append_parameter(client, path, "verify", call->values[VERIFY] != NULL ? "true" : NULL);
}

/* A repeat of the request, when its answer was lost, does not submit twice. */
static enum status add_idempotency_key(struct client *client, struct problem *reterr)
{
    uint64_t random[2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return problem_set(reterr, STATUS_IO, "the system gives no random bytes");
    }
    client_add_header(client, "Idempotency-Key: apsp-%016llx%016llx", (unsigned long long)random[0],
                      (unsigned long long)random[1]);
    return STATUS_OK;
}

/* "-" is standard input. size: -1 where the file is no regular one. */
static enum status open_input(struct command_call *call, const char *path, FILE **ret_file,
                              int64_t *ret_size, struct problem *reterr)
{
    struct stat about;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        call->problem_path = path;
        return problem_set(reterr, STATUS_BAD_GRAPH, "%s", strerror(errno));
    }
    *ret_file = file;
    *ret_size = S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
    return STATUS_OK;
}

static void close_input(FILE *file)
{
    if (file != NULL && file != stdin) {
        fclose(file);
    }
}

static enum status submit(struct client *client, struct problem *reterr)
{
    struct command_call *call = client->call;
    struct text path = {0};
    FILE *file = NULL;
    int64_t size = 0;
    text_append_string(&path, "/v1/jobs");
    append_submit_parameters(client, &path);
    enum status status = text_status(&path);
    if (status == STATUS_OK) {
        status = open_input(call, call->operands[0], &file, &size, reterr);
    }
    if (status == STATUS_OK) {
        status = add_idempotency_key(client, reterr);
    }
    if (status == STATUS_OK) {
        client_add_header(client, "Content-Type:");
        status = client_send_file(client, path.bytes, file, size, reterr);
        call->problem_path = status == STATUS_BAD_GRAPH ? call->operands[0] : NULL;
    }
    close_input(file);
    text_finish(&path);
    json_t *job = status == STATUS_OK ? client_json(client, reterr) : NULL;
    if (status == STATUS_OK && job == NULL) {
        status = reterr->status;
    }
    if (status == STATUS_OK) {
        print_warnings(job);
    }
    if (status == STATUS_OK && call->values[WAIT] != NULL) {
        status = wait_for_job(client, member(job, "id"), reterr);
    } else if (status == STATUS_OK) {
        status = print_document(call, job, reterr);
        if (call->values[JSON] == NULL) {
            puts(member(job, "id"));
        }
    }
    json_decref(job);
    return status;
}

/* ---- jobs, graphs, wait, cancel, rm ---- */

static void print_jobs(const json_t *document)
{
    const json_t *jobs = json_object_get(document, "jobs");
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        printf("%s  %-9s  %3.0f %%  %s  %s\n", member(job, "id"), member(job, "state"),
               number(job, "progress") * 100, member(job, "graph"), member(job, "name"));
    }
}

static void print_graphs(const json_t *document)
{
    const json_t *graphs = json_object_get(document, "graphs");
    for (size_t i = 0; i < json_array_size(graphs); i++) {
        const json_t *graph = json_array_get(graphs, i);
        const json_t *names = json_object_get(graph, "names");
        printf("%s  %10.0f vertices  %12.0f edges  %-4s", member(graph, "id"), number(graph, "n"),
               number(graph, "m"), member(graph, "result"));
        for (size_t k = 0; k < json_array_size(names); k++) {
            printf(" %s", json_string_value(json_array_get(names, k)));
        }
        putchar('\n');
    }
}

enum { LIMIT = OWN, CURSOR };

static const struct command_flag list_flags[] = {
    [URL] = URL_FLAG,
    [JSON] = JSON_FLAG,
    [LIMIT] = {"limit", "N", "So many, newest first: 1 to 1000. Default: 50."},
    [CURSOR] = {"cursor", "ID", "Those behind this one: next of an answer in JSON."},
    {NULL, NULL, NULL},
};

static enum status list(struct client *client, const char *address,
                        void (*print)(const json_t *document), struct problem *reterr)
{
    const struct command_call *call = client->call;
    struct text path = {0};
    text_append_string(&path, address);
    client_append_parameter(client, &path, "limit", call->values[LIMIT]);
    client_append_parameter(client, &path, "cursor", call->values[CURSOR]);
    return ask_document(client->call, "GET", &path, client, print, reterr);
}

static enum status list_jobs(struct client *client, struct problem *reterr)
{
    return list(client, "/v1/jobs", print_jobs, reterr);
}

static enum status list_graphs(struct client *client, struct problem *reterr)
{
    return list(client, "/v1/graphs", print_graphs, reterr);
}

static enum status wait_named(struct client *client, struct problem *reterr)
{
    return wait_for_job(client, client->call->operands[0], reterr);
}

static enum status cancel(struct client *client, struct problem *reterr)
{
    struct text path = client_path(client, "jobs", client->call->operands[0], "");
    return ask_document(client->call, "DELETE", &path, client, print_job, reterr);
}

static enum status remove_graph(struct client *client, struct problem *reterr)
{
    struct text path = client_path(client, "graphs", client->call->operands[0], "");
    enum status status = text_status(&path);
    if (status == STATUS_OK) {
        status = client_ask(client, "DELETE", path.bytes, NULL, reterr);
    }
    text_finish(&path);
    return status;
}

/* ---- ask, path, pairs ---- */

static struct text path_between(const struct client *client, const char *rest)
{
    const struct command_call *call = client->call;
    struct text path = client_path(client, "graphs", call->operands[0], rest);
    client_append_parameter(client, &path, "source", call->operands[1]);
    client_append_parameter(client, &path, "target", call->operands[2]);
    return path;
}

static enum status print_body(const struct client *client, struct problem *reterr)
{
    const struct text *body = &client->answer.body;
    return fwrite(body->bytes, 1, body->size, stdout) == body->size
               ? STATUS_OK
               : problem_set(reterr, STATUS_IO, "cannot write standard output");
}

/* The bare number. */
static enum status ask_distance(struct client *client, struct problem *reterr)
{
    const bool is_json = client->call->values[JSON] != NULL;
    struct text path = path_between(client, "/distance");
    enum status status = text_status(&path);
    client_add_header(client, "Accept: %s", is_json ? "application/json" : "text/plain");
    client_add_header(client, "Prefer: wait=%d", HOLD_S);
    if (status == STATUS_OK) {
        status = client_ask(client, "GET", path.bytes, NULL, reterr);
    }
    if (status == STATUS_OK) {
        status = print_body(client, reterr);
    }
    text_finish(&path);
    return status;
}

static void print_value(const json_t *value)
{
    char *text =
        json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    fputs(json_is_string(value) ? json_string_value(value) : text != NULL ? text : "", stdout);
    free(text);
}

/* The distance, and on the next line the vertices. */
static void print_path(const json_t *document)
{
    const json_t *distance = json_object_get(document, "distance");
    const json_t *vertices = json_object_get(document, "vertices");
    if (json_is_null(distance)) {
        puts("unreachable");
        return;
    }
    print_value(distance);
    for (size_t i = 0; i < json_array_size(vertices); i++) {
        putchar(i == 0 ? '\n' : ' ');
        print_value(json_array_get(vertices, i));
    }
    putchar('\n');
}

static enum status ask_path(struct client *client, struct problem *reterr)
{
    struct text path = path_between(client, "/path");
    client_add_header(client, "Prefer: wait=%d", HOLD_S);
    return ask_document(client->call, "GET", &path, client, print_path, reterr);
}

static enum status ask_pairs(struct client *client, struct problem *reterr)
{
    struct command_call *call = client->call;
    struct text path = client_path(client, "graphs", call->operands[0], "/distances");
    FILE *file = NULL;
    int64_t size = 0;
    enum status status = text_status(&path);
    if (status == STATUS_OK) {
        status = open_input(call, call->operands[1], &file, &size, reterr);
    }
    if (status == STATUS_OK) {
        client_add_header(client, "Content-Type: text/csv");
        client_add_header(client, "Accept: %s",
                          call->values[JSON] != NULL ? "application/json" : "text/csv");
        client_add_header(client, "Prefer: wait=%d", HOLD_S);
        status = client_send_file(client, path.bytes, file, size, reterr);
    }
    if (status == STATUS_OK) {
        status = print_body(client, reterr);
    }
    close_input(file);
    text_finish(&path);
    return status;
}

/* ---- The commands ---- */

static const struct {
    const struct command *command;
    enum status (*ask)(struct client *client, struct problem *reterr);
} verbs[] = {
    {&command_submit, submit},       {&command_jobs, list_jobs},     {&command_wait, wait_named},
    {&command_cancel, cancel},       {&command_graphs, list_graphs}, {&command_rm, remove_graph},
    {&command_ask, ask_distance},    {&command_path, ask_path},      {&command_pairs, ask_pairs},
    {&command_get, download_matrix},
};

enum status service_run(struct command_call *call, struct problem *reterr)
{
    struct client client;
    size_t verb = 0;
    if (call->command == &command_ask && matrix_file_is_named(call->operands[0])) {
        return matrix_file_ask(call, reterr);
    }
    while (verbs[verb].command != call->command) {
        verb++;
    }
    command_watch_signals();
    enum status status = client_open(call, URL, &client, reterr);
    if (status == STATUS_OK) {
        status = verbs[verb].ask(&client, reterr);
    }
    client_close(&client);
    return status;
}

const struct command command_submit = {
    .name = "submit",
    .operand_names = {"FILE"},
    .summary = "Sends the graph in FILE, - being standard input, to a running service and\n"
               "prints the id of its job.",
    .flags = submit_flags,
    .run = service_run,
};

const struct command command_jobs = {
    .name = "jobs",
    .summary = "Lists the jobs of the service: id, state, progress, graph and name.",
    .flags = list_flags,
    .run = service_run,
};

const struct command command_wait = {
    .name = "wait",
    .operand_names = {"JOB"},
    .summary = "Waits until the job has ended. Exit code 1 where it is not done then.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command command_cancel = {
    .name = "cancel",
    .operand_names = {"JOB"},
    .summary = "Cancels a job that waits or runs.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command command_graphs = {
    .name = "graphs",
    .summary = "Lists the graphs of the service: id, size, kind of the result, names.",
    .flags = list_flags,
    .run = service_run,
};

const struct command command_rm = {
    .name = "rm",
    .operand_names = {"GRAPH"},
    .summary = "Deletes a graph and its results from the service.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command command_ask = {
    .name = "ask",
    .operand_names = {"GRAPH", "SOURCE", "TARGET"},
    .summary = "Prints the distance from SOURCE to TARGET, or unreachable. GRAPH is a graph of\n"
               "the service, by id, name or job, or a matrix in a file, MATRIX.npy, whose rows\n"
               "are counted from 0.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command command_path = {
    .name = "path",
    .operand_names = {"GRAPH", "SOURCE", "TARGET"},
    .summary = "Prints the distance from SOURCE to TARGET and, on the next line, the vertices\n"
               "of a shortest path.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command command_pairs = {
    .name = "pairs",
    .operand_names = {"GRAPH", "FILE"},
    .summary = "Prints the distances of the pairs in FILE, a line source,target each, as\n"
               "source,target,distance.",
    .flags = plain_flags,
    .run = service_run,
};

const struct command *const command_client_list[] = {
    &command_submit, &command_jobs, &command_wait, &command_cancel,
    &command_graphs, &command_rm,   &command_ask,  &command_path,
    &command_pairs,  &command_get,  NULL,
};
