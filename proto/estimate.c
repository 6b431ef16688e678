#include "proto/estimate.h"

#include "proto/text.h"

#include <jansson.h>

static json_t *text_or_null(const char *text)
{
    return text[0] == '\0' ? json_null() : json_string(text);
}

char *estimate_print(const struct estimate *estimate)
{
    json_t *seconds = estimate->seconds < 0 ? json_null() : json_real(estimate->seconds);
    json_t *plan = estimate->planned ? plan_summary_json(&estimate->plan) : json_null();
    json_t *root = json_pack(
        "{s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:o, s:o, s:{s:I, s:I, s:I}}", "n",
        (json_int_t)estimate->vertex_count, "m", (json_int_t)estimate->edge_count, "kind",
        kind_name(estimate->kind), "solver", estimate->solver, "device", estimate->device,
        "device_bytes", (json_int_t)estimate->device_bytes, "host_bytes",
        (json_int_t)estimate->host_bytes, "disk_bytes", (json_int_t)estimate->disk_bytes, "seconds",
        seconds, "plan", plan, "fits", (int)estimate->fits, "reason",
        text_or_null(estimate->reason), "hint", text_or_null(estimate->hint), "limits",
        "vertex_limit", (json_int_t)estimate->vertex_limit, "edge_limit",
        (json_int_t)estimate->edge_limit, "free_disk_bytes", (json_int_t)estimate->free_disk_bytes);
    char *text = text_print_json(root, JSON_COMPACT | JSON_REAL_PRECISION(6));

    json_decref(root);
    return text;
}
