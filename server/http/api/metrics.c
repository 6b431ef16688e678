#include "server/metrics.h"
#include "server/http/api/process_metrics.h"
#include "server/http/api/serve.h"
#include "server/http/request/request_metrics.h"

#define MEDIA_TYPE "text/plain; version=0.0.4; charset=utf-8"

static void print_one(struct text *text, const char *name, const char *help, double value)
{
    metrics_print_head(text, name, "gauge", help);
    metrics_print_sample(text, name, "", value);
}

static const char *text_of(const struct text *labels)
{
    return labels->bytes != NULL ? labels->bytes : "";
}

static void print_build(struct text *text)
{
    metrics_print_head(text, "apspd_build_info", "gauge", "What runs; the value is 1.");
    metrics_print_sample(text, "apspd_build_info",
                         APSPD_HAVE_CUDA ? "cuda=\"true\",version=\"" APSPD_VERSION "\""
                                         : "cuda=\"false\",version=\"" APSPD_VERSION "\"",
                         1);
}

static void print_house(const struct http_context *http_context, struct text *text)
{
    uint64_t hits;
    uint64_t misses;
    uint64_t bytes;
    adjacency_cache_figures(http_context->adjacencies, &hits, &misses, &bytes);
    metrics_print_head(text, "apspd_path_lookups_total", "counter",
                       "Questions for paths, by whether the edges were in memory.");
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"hit\"", (double)hits);
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"miss\"", (double)misses);
    print_one(text, "apspd_path_cache_bytes", "Edges kept in memory for paths.", (double)bytes);
    print_one(text, "apspd_path_cache_limit_bytes", "Most of them (store.path_budget).",
              (double)http_context->config->path_budget_bytes);
    print_one(text, "apspd_store_free_bytes", "Free on the disk of the state directory.",
              (double)store_free_bytes(http_context->store));
    print_one(text, "apspd_store_size_bytes", "Size of that disk.",
              (double)store_disk_bytes(http_context->store));
    print_one(text, "apspd_event_streams", "Streams of events that are open.",
              atomic_load(&http_context->watchers));
    print_one(text, "apspd_http_connections_limit", "Connections that may be open.",
              http_context->config->connection_limit);
}

static void print_devices(const struct device_list *devices, struct text *text)
{
    static const char name[] = "apspd_device_memory_size_bytes";
    struct text labels = {0};
    metrics_print_head(text, name, "gauge", "Memory of the devices that solve.");
    for (uint32_t i = 0; i < devices->count; i++) {
        char index[16];
        text_clear(&labels);
        snprintf(index, sizeof(index), "%u", devices->devices[i].index);
        metrics_print_label(&labels, "device", index);
        metrics_print_label(&labels, "name", devices->devices[i].name);
        metrics_print_label(&labels, "solver", devices->devices[i].solver);
        metrics_print_sample(text, name, text_of(&labels),
                             (double)devices->devices[i].memory_bytes);
    }
    text->failed |= labels.failed;
    text_finish(&labels);
}

void serve_metrics(struct request *request)
{
    const struct http_context *http_context = request->http_context;
    struct text text = {0};
    print_build(&text);
    metrics_print(&text);
    print_house(http_context, &text);
    print_devices(scheduler_devices(http_context->scheduler), &text);
    request_metrics_print(&text);
    process_metrics_print(&text);
    request_add_header(request, "Cache-Control", "no-store");
    request_answer_text(request, MHD_HTTP_OK, MEDIA_TYPE, &text);
}
