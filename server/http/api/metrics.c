#include "server/metrics.h"
#include "server/http/api/serve.h"
#include "server/http/request/request_metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEDIA_TYPE "text/plain; version=0.0.4; charset=utf-8"

static void print_one(struct text *text, const char *name, const char *help, double value)
{
    metrics_print_head(text, name, "gauge", help);
    metrics_print_sample(text, name, "", value);
}

static void print_service(const struct http_context *http_context, struct text *text)
{
    uint64_t hits;
    uint64_t misses;
    uint64_t bytes;
    graph_cache_figures(http_context->graph_cache, &hits, &misses, &bytes);
    metrics_print_head(text, "apspd_path_lookups_total", "counter",
                       "Lookups in the cache of edges and coordinates, by outcome: hit or miss.");
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"hit\"", (double)hits);
    metrics_print_sample(text, "apspd_path_lookups_total", "outcome=\"miss\"", (double)misses);
    print_one(text, "apspd_path_cache_bytes", "Bytes of edges and coordinates cached in memory.",
              (double)bytes);
    print_one(text, "apspd_label_cache_bytes",
              "Bytes of hierarchy labels and rows cached in memory.", (double)label_cache_used());
    print_one(text, "apspd_store_free_bytes", "Free bytes on the disk with the state directory.",
              (double)store_free_bytes(http_context->store));
    print_one(text, "apspd_store_size_bytes", "Size in bytes of the disk with the state directory.",
              (double)store_disk_bytes(http_context->store));
    print_one(text, "apspd_event_streams", "Open event streams.",
              atomic_load(&http_context->watchers));
    print_one(text, "apspd_http_connections_limit", "Limit on open connections.",
              http_context->config->connection_limit);
}

/* Returns the resident bytes, from the page count in statm (proc(5)); 0 if unknown. */
static double read_resident_bytes(void)
{
    unsigned long resident = 0;
    FILE *stream = fopen("/proc/self/statm", "re");
    if (stream == NULL) {
        return 0;
    }
    const bool found = fscanf(stream, "%*u %lu", &resident) == 1;
    fclose(stream);
    return found ? (double)resident * (double)sysconf(_SC_PAGESIZE) : 0;
}

/* Prints the metrics of the process under Prometheus's standard names. */
static void print_process(struct text *text)
{
    struct rlimit limit;
    DIR *folder = opendir("/proc/self/fd");
    double files = -1; /* -1 excludes the descriptor of `folder` itself */
    print_one(text, "process_resident_memory_bytes",
              "Resident memory, including mapped pages of results.", read_resident_bytes());
    metrics_print_head(text, "process_cpu_seconds_total", "counter",
                       "User and system CPU time of the process, in seconds.");
    metrics_print_sample(text, "process_cpu_seconds_total", "",
                         (double)clock() / (double)CLOCKS_PER_SEC);
    if (folder != NULL) {
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            files += entry->d_name[0] != '.';
        }
        closedir(folder);
        print_one(text, "process_open_fds", "Open files.", files);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        print_one(text, "process_max_fds", "Limit on open files.", (double)limit.rlim_cur);
    }
}

void serve_metrics(struct request *request)
{
    const struct http_context *http_context = request->http_context;
    struct text text = {0};
    metrics_print_head(&text, "apspd_build_info", "gauge",
                       "Version of the running service; the value is 1.");
    metrics_print_sample(&text, "apspd_build_info",
                         APSPD_HAVE_CUDA ? "cuda=\"true\",version=\"" APSPD_VERSION "\""
                                         : "cuda=\"false\",version=\"" APSPD_VERSION "\"",
                         1);
    metrics_print(&text);
    print_service(http_context, &text);
    request_metrics_print(&text);
    print_process(&text);
    request_add_header(request, "Cache-Control", "no-store");
    request_answer_text(request, MHD_HTTP_OK, MEDIA_TYPE, &text);
}
