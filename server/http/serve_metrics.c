#include "server/http/process_metrics.h"
#include "server/http/request_metrics.h"
#include "server/http/serve.h"
#include "server/metrics.h"

#include <stddef.h>

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

static void print_house(const struct exchange_house *house, struct text *text)
{
    uint64_t hits;
    uint64_t misses;
    uint64_t bytes;
    adjacency_cache_figures(house->adjacencies, &hits, &misses, &bytes);
    metrics_print_head(text, "apspd_path_lookups_total", "counter",
                       "Questions for paths, by whether the edges were in memory.");
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"hit\"", (double)hits);
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"miss\"", (double)misses);
    print_one(text, "apspd_path_cache_bytes", "Edges kept in memory for paths.", (double)bytes);
    print_one(text, "apspd_path_cache_limit_bytes", "Most of them (store.path_budget).",
              (double)house->config->path_budget_bytes);
    print_one(text, "apspd_store_free_bytes", "Free on the disk of the state directory.",
              (double)store_free_bytes(house->store));
    print_one(text, "apspd_store_size_bytes", "Size of that disk.",
              (double)store_disk_bytes(house->store));
    print_one(text, "apspd_event_streams", "Streams of events that are open.",
              atomic_load(&house->watchers));
    print_one(text, "apspd_http_connections_limit", "Connections that may be open.",
              house->config->connection_limit);
}

static void print_devices(const struct device_list *devices, struct text *text)
{
    static const char name[] = "apspd_device_memory_size_bytes";
    struct text labels = {0};
    metrics_print_head(text, name, "gauge", "Memory of the devices that solve.");
    for (uint32_t i = 0; i < devices->count; i++) {
        char index[16];
        text_clear(&labels);
        snprintf(index, sizeof index, "%u", devices->devices[i].index);
        metrics_print_label(&labels, "device", index);
        metrics_print_label(&labels, "name", devices->devices[i].name);
        metrics_print_label(&labels, "solver", devices->devices[i].solver);
        metrics_print_sample(text, name, text_of(&labels),
                             (double)devices->devices[i].memory_bytes);
    }
    text->failed |= labels.failed;
    text_finish(&labels);
}

/* ---- What the driver tells ---- */

static const struct {
    const char *name;
    const char *type;
    const char *help;
    size_t offset;
} gpu_families[] = {
    {"apspd_gpu_memory_size_bytes", "gauge", "Memory of a GPU of this host.",
     offsetof(struct nvml_reading, memory_bytes)},
    {"apspd_gpu_memory_used_bytes", "gauge", "Of it in use, by any process.",
     offsetof(struct nvml_reading, memory_used_bytes)},
    {"apspd_gpu_utilization_ratio", "gauge", "Share of the last moments in which the GPU was busy.",
     offsetof(struct nvml_reading, utilization)},
    {"apspd_gpu_temperature_celsius", "gauge", "Temperature of a GPU.",
     offsetof(struct nvml_reading, temperature_c)},
    {"apspd_gpu_power_watts", "gauge", "Power that a GPU draws.",
     offsetof(struct nvml_reading, power_w)},
    {"apspd_gpu_energy_joules_total", "counter",
     "Energy that a GPU has taken since its driver was loaded.",
     offsetof(struct nvml_reading, energy_j)},
};

static double figure_of(const struct nvml_reading *reading, size_t offset)
{
    return *(const double *)(const void *)((const char *)reading + offset);
}

static void print_gpu_family(struct text *text, size_t family, const struct nvml_reading *readings,
                             uint32_t count)
{
    struct text labels = {0};
    metrics_print_head(text, gpu_families[family].name, gpu_families[family].type,
                       gpu_families[family].help);
    for (uint32_t i = 0; i < count; i++) {
        const double figure = figure_of(&readings[i], gpu_families[family].offset);
        if (figure < 0) {
            continue;
        }
        text_clear(&labels);
        metrics_print_label(&labels, "name", readings[i].name);
        metrics_print_label(&labels, "uuid", readings[i].uuid);
        metrics_print_sample(text, gpu_families[family].name, text_of(&labels), figure);
    }
    text->failed |= labels.failed;
    text_finish(&labels);
}

static void print_gpus(struct device_monitor *monitor, struct text *text)
{
    struct nvml_reading readings[DEVICE_LIMIT];
    const uint32_t count = device_monitor_read(monitor, readings);
    for (size_t i = 0; count > 0 && i < sizeof gpu_families / sizeof gpu_families[0]; i++) {
        print_gpu_family(text, i, readings, count);
    }
}

void serve_metrics(struct exchange *exchange)
{
    const struct exchange_house *house = exchange->house;
    struct text text = {0};
    print_build(&text);
    metrics_print(&text);
    print_house(house, &text);
    print_devices(desk_devices(house->desk), &text);
    print_gpus(house->monitor, &text);
    request_metrics_print(&text);
    process_metrics_print(&text);
    exchange_add_header(exchange, "Cache-Control", "no-store");
    exchange_answer_text(exchange, MHD_HTTP_OK, MEDIA_TYPE, &text);
}
