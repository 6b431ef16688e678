#include "server/command/plan_report.h"

#include <inttypes.h>
#include <jansson.h>

static uint64_t padded_size(const struct plan *plan)
{
    return (uint64_t)plan->tile_count * plan->tile;
}

void plan_report_print_text(const struct plan_report *report, FILE *stream)
{
    const struct plan *plan = report->plan;
    const struct plan_summary *summary = &plan->summary;
    fprintf(stream, "%u vertices, %" PRIu64 " edges, %s, for the %s solver\n", plan->vertex_count,
            report->graph->edge_count, report->graph->directed ? "directed" : "undirected",
            report->solver);
    fprintf(stream, "plan: %s, %u parts, largest separator %u, %.4g %% of the dense plan's work\n",
            plan_kind_name(summary->kind), summary->parts, summary->largest_separator,
            100 * summary->work_fraction);
    fprintf(stream,
            "%u x %u tiles of up to %u (%" PRIu64 " when padded), %u rounds, %zu products\n",
            plan->tile_count, plan->tile_count, plan->tile, padded_size(plan), plan->round_count,
            plan->product_count);
    fprintf(stream, "planned in %.4f s; expected to solve in %.4g s, %.4g s by the dense plan\n",
            summary->planning_s, report->expected_s, report->dense_s);
}

enum status plan_report_print_json(const struct plan_report *report, FILE *stream)
{
    const struct plan *plan = report->plan;
    const struct plan_summary *summary = &plan->summary;
    json_t *document =
        json_pack("{s:{s:I,s:I,s:b},s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:f,s:f}", "graph", "n",
                  (json_int_t)plan->vertex_count, "m", (json_int_t)report->graph->edge_count,
                  "directed", report->graph->directed, "solver", report->solver, "plan",
                  plan_summary_json(summary), "tile", (json_int_t)plan->tile, "tiles",
                  (json_int_t)plan->tile_count, "padded", (json_int_t)padded_size(plan), "rounds",
                  (json_int_t)plan->round_count, "products", (json_int_t)plan->product_count,
                  "expected_s", report->expected_s, "dense_s", report->dense_s);
    if (document == NULL) {
        return STATUS_NO_MEMORY;
    }
    const int failed = json_dumpf(document, stream, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(document);
    return failed != 0 || fputc('\n', stream) == EOF ? STATUS_IO : STATUS_OK;
}
