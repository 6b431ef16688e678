#include "proto/input_report.h"

#include "proto/text.h"

#include <jansson.h>
#include <string.h>

static const char *const directions[INPUT_DIRECTION_COUNT] = {
    [INPUT_DIRECTION_DEFAULT] = "default",
    [INPUT_DIRECTION_FORMAT] = "format",
    [INPUT_DIRECTION_PARAMETER] = "parameter",
};

void input_report_complete(struct input_report *report, const struct reader_notes *notes,
                           const struct graph *graph)
{
    if (report->direction != INPUT_DIRECTION_PARAMETER) {
        report->direction =
            notes->says_direction ? INPUT_DIRECTION_FORMAT : INPUT_DIRECTION_DEFAULT;
    }
    report->directed = graph->directed;
    report->loops_dropped = graph->summary.loops_dropped;
    report->parallel_merged = graph->summary.parallel_merged;
    report->numeric_names = vertex_names_numeric(graph->names);
    memcpy(report->variant, notes->variant, sizeof(report->variant));
    memcpy(report->weight, notes->weight, sizeof(report->weight));
    report->known = report->format != FORMAT_NONE;
}

/* Returns whether the weights of a matrix or of pgRouting's column "cost" include -1, which may
 * mark a missing edge, and no other negative weight. */
static bool has_negative_costs(const struct input_report *report, const struct graph *graph)
{
    bool found = graph->summary.min_weight == -1 &&
                 (strcmp(report->weight, "cost") == 0 || report->format == FORMAT_MATRIX ||
                  strcmp(report->variant, "matrix") == 0);

    for (uint64_t i = 0; i < graph->edge_count && found; i++) {
        found = graph_weight(graph, i) >= 0 || graph_weight(graph, i) == -1;
    }
    return found;
}

static void warn_weights(const struct input_report *report, const struct graph *graph,
                         struct warnings *warnings)
{
    const uint64_t arcs = graph->directed ? graph->edge_count : 2 * graph->edge_count;
    const uint64_t pairs = (uint64_t)graph->vertex_count * (graph->vertex_count - 1);
    const bool is_array = report->format == FORMAT_NPY || report->format == FORMAT_MTX ||
                          strcmp(report->variant, "matrix") == 0;

    if (is_array && arcs > 0 && arcs == pairs && graph->summary.min_weight == 0) {
        warning_hint(
            warning_add(warnings, WARNING_ZEROS_ARE_EDGES,
                        "Each 0 off the diagonal was read as an edge of weight 0, and no entry "
                        "marks a missing edge."),
            "Mark missing edges with inf (null in JSON): a = numpy.where(a == 0, numpy.inf, a).");
    } else if (!is_array && arcs > 0 && graph->summary.min_weight == 0 &&
               graph->summary.max_weight == 0) {
        warning_hint(
            warning_add(warnings, WARNING_ALL_WEIGHTS_ZERO,
                        "All weights are 0, so all finite distances are 0."),
            "Choose another column with weight=, or count each edge as 1 with weight=none.");
    }
    if (has_negative_costs(report, graph)) {
        warning_hint(warning_add(warnings, WARNING_NEGATIVE_COSTS,
                                 "-1 was read as a weight, but pgRouting and many matrices use -1 "
                                 "to mark a missing edge."),
                     "no_edge=-1 omits edges of weight -1.");
    }
}

void input_report_warn(const struct input_report *report, const struct graph *graph,
                       struct warnings *warnings)
{
    const bool is_list = report->format == FORMAT_EDGES || report->format == FORMAT_JSON ||
                         report->format == FORMAT_MATRIX || report->format == FORMAT_GRAPHML;
    if (is_list && report->direction == INPUT_DIRECTION_DEFAULT && graph->directed &&
        graph->edge_count > 0 && !graph_has_reverse(graph)) {
        warning_hint(
            warning_add(warnings, WARNING_DIRECTED_ASSUMED,
                        "The file does not say whether the edges are directed. They were read as "
                        "directed. No edge has a reverse edge, so many pairs may have no path."),
            "directed=false makes every edge undirected; directed=true confirms that the edges are "
            "directed.");
    }
    if (graph->summary.parallel_differing > 0) {
        warning_hint(
            warning_add(warnings, WARNING_PARALLEL_MERGED,
                        "Some edges have the same endpoints but different weights. The smallest "
                        "weight was kept; edges dropped: %llu.",
                        (unsigned long long)graph->summary.parallel_differing),
            "Merge parallel edges before the upload if their weights should be added or averaged.");
    }
    warn_weights(report, graph, warnings);
}

void input_report_hint(const struct input_report *report, struct problem *problem)
{
    if (!report->guessed || problem->status != STATUS_BAD_GRAPH || problem->hint[0] != '\0') {
        return;
    }
    if (report->format == FORMAT_METIS) {
        problem_hint(problem, "The file was read as METIS, because its first lines look like "
                              "METIS. If the file is a list of edges, specify format=edges.");
    } else if (report->format == FORMAT_EDGES) {
        problem_hint(problem,
                     "The file was read as a list of edges, because its first bytes match no other "
                     "format. Each line must have a source, a target and an optional weight.");
    }
}

/* Returns the text as JSON; null if it is empty or not UTF-8. */
static json_t *text_or_null(const char *text)
{
    json_t *string = text[0] != '\0' ? json_string(text) : NULL;

    return string != NULL ? string : json_null();
}

json_t *input_report_json(const struct input_report *report)
{
    const char *coding =
        report->coding == CODING_IDENTITY ? "" : decoder_coding_name(report->coding);

    if (!report->known) {
        return json_null();
    }
    return json_pack("{s:s, s:b, s:o, s:o, s:o, s:b, s:s, s:s, s:I, s:I, s:I, s:I}", "format",
                     format_info(report->format)->name, "guessed", report->guessed, "encoding",
                     text_or_null(coding), "variant", text_or_null(report->variant), "weight",
                     text_or_null(report->weight), "directed", report->directed, "directed_by",
                     directions[report->direction], "names",
                     report->numeric_names ? "integers" : "strings", "bytes",
                     (json_int_t)report->bytes, "decoded_bytes", (json_int_t)report->decoded_bytes,
                     "loops_dropped", (json_int_t)report->loops_dropped, "parallel_merged",
                     (json_int_t)report->parallel_merged);
}

char *input_report_print(const struct input_report *report)
{
    json_t *object = report->known ? input_report_json(report) : NULL;
    char *text = text_print_json(object);
    json_decref(object);
    return text;
}
