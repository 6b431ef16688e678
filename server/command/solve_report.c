#include "server/command/solve_report.h"

#include "proto/writer.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct timings timings_of(const struct solve_report *report)
{
    struct timings timings = report->outcome->account.timings;
    timings.parse_s = report->parse_s;
    timings.write_s += report->write_s; /* what narrowing took is there already */
    timings.total_s = report->total_s;
    return timings;
}

/* The cycle of the outcome by the names of its vertices, as the text of a JSON array. */
static char *cycle_text(const struct solve_report *report)
{
    const struct solve_outcome *outcome = report->outcome;
    struct text text = {0};
    if (outcome->cycle == NULL || report->graph == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < outcome->cycle_length; ++i) {
        text_append_string(&text, i > 0 ? "," : "[");
        writer_append_vertex(&text, report->graph->names, outcome->cycle[i]);
    }
    text_append_string(&text, "]");
    if (text_status(&text) != STATUS_OK) {
        text_finish(&text);
        return NULL;
    }
    return text_take(&text, NULL);
}

static void fill_report(const struct solve_report *report, struct job_report *filled)
{
    const struct solve_outcome *outcome = report->outcome;
    *filled = (struct job_report){
        .timings = timings_of(report),
        .plan = outcome->plan,
        .verification = outcome->account.verification,
        .problem = *report->problem,
        .cycle = cycle_text(report),
        .cycle_weight = outcome->cycle_weight,
    };
    snprintf(filled->solver, sizeof filled->solver, "%s", outcome->device.solver);
    snprintf(filled->device, sizeof filled->device, "%s", outcome->device.name);
}

/* The document of a job that ran here, of which the members about the solve are kept: so command
 * and service cannot drift apart. */
static char *job_text(const struct solve_report *report)
{
    struct job_report filled;
    fill_report(report, &filled);
    const struct graph *graph = report->graph;
    struct job_document document = {
        .id = "",
        .graph_id = "",
        .state = report->problem->status == STATUS_OK ? JOB_DONE : JOB_FAILED,
        .eta_s = -1,
        .started_s = 1,
        .kind = report->kind,
        .vertex_count = graph != NULL ? graph->vertex_count : 0,
        .edge_count = graph != NULL ? graph->edge_count : 0,
        .directed = graph != NULL && graph->directed,
        .summary = graph != NULL ? &graph->summary : NULL,
        .report = &filled,
    };
    char *text = job_document_print(&document);
    job_report_finish(&filled);
    return text;
}

enum status solve_report_print_json(const struct solve_report *report, FILE *stream)
{
    static const char *const members[] = {"summary", "plan",     "timings",      "solver",
                                          "device",  "verified", "verification", "problem"};
    char *text = job_text(report);
    json_t *document = text != NULL ? json_loads(text, 0, NULL) : NULL;
    json_t *kept = json_object();
    int failed = document == NULL || kept == NULL;
    for (size_t i = 0; !failed && i < sizeof members / sizeof members[0]; ++i) {
        json_t *member = json_object_get(document, members[i]);
        if (member != NULL && (!json_is_null(member) || strcmp(members[i], "problem") != 0)) {
            failed = json_object_set(kept, members[i], member);
        }
    }
    failed = failed || json_dumpf(kept, stream, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0;
    json_decref(kept);
    json_decref(document);
    free(text);
    if (failed) {
        return STATUS_NO_MEMORY;
    }
    return fputc('\n', stream) == EOF || fflush(stream) == EOF ? STATUS_IO : STATUS_OK;
}

void solve_report_print_text(const struct solve_report *report, FILE *stream)
{
    const struct graph *graph = report->graph;
    const struct solve_outcome *outcome = report->outcome;
    struct timings timings = timings_of(report);
    double n = graph->vertex_count;
    fprintf(stream, "%u vertices, %" PRIu64 " edges, kind %s, %s on %s\n", graph->vertex_count,
            graph->edge_count, kind_name(report->kind), outcome->device.solver,
            outcome->device.name);
    fprintf(stream, "parse %.3f s, fill %.3f s, h2d %.3f s, compute %.3f s, d2h %.3f s, ",
            timings.parse_s, timings.fill_s, timings.h2d_s, timings.compute_s, timings.d2h_s);
    fprintf(stream, "write %.3f s, total %.3f s\n", timings.write_s, timings.total_s);
    if (timings.compute_s > 0) {
        fprintf(stream, "%.4g relaxations/s\n", n * n * n / timings.compute_s);
    }
    const struct verification *verification = &outcome->account.verification;
    if (verification->done) {
        fprintf(stream,
                "verified: %" PRIu64 " of %" PRIu64 " rows against %" PRIu64
                " edges on the %s in %.3f s\n",
                verification->rows, verification->of, verification->edges,
                verification->on_device ? "device" : "host", verification->seconds);
    }
}
