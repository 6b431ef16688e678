#include "server/service.h"

#include "proto/check.h"
#include "server/http/http.h"
#include "server/job/desk.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>

enum { SIGNAL_COUNT = 3 };
static const int signal_numbers[SIGNAL_COUNT] = {SIGTERM, SIGINT, SIGHUP};

struct service {
    const struct config *config;
    const struct service_reload *reload;
    uv_loop_t loop;
    struct store *store;
    struct result_table *results;
    struct desk *desk;
    struct http *http;
    uv_signal_t signals[SIGNAL_COUNT];
    uv_timer_t reaper;   /* each second: ends connections that dawdle over their headers */
    uv_idle_t last_asks; /* runs between the drain and the stop */
    bool stopping;
    int exit_code;
};

static int exit_code_of(enum status status)
{
    if (status == STATUS_CONFIG || status == STATUS_NO_DEVICE) {
        return EX_CONFIG;
    }
    return status == STATUS_NO_MEMORY || status == STATUS_DEVICE_LOST ? EX_TEMPFAIL : EX_IOERR;
}

/* ---- The way out, in order ---- */

/* 3. No ask is open, so no connection is suspended: all can be closed. The loop ends with its
 * last handle. */
static void close_all(struct service *service)
{
    http_stop(service->http);
    service->http = NULL;
    desk_destroy(service->desk);
    service->desk = NULL;
    uv_close((uv_handle_t *)&service->reaper, NULL);
    uv_close((uv_handle_t *)&service->last_asks, NULL);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        uv_close((uv_handle_t *)&service->signals[i], NULL);
    }
}

/* 2. What was asked before the quiesce is answered by the loop in passing. */
static void check_asks(uv_idle_t *idle)
{
    struct service *service = idle->data;
    if (desk_asks_open(service->desk) == 0) {
        uv_idle_stop(idle);
        close_all(service);
    }
}

static void drained(void *context)
{
    struct service *service = context;
    if (service->http != NULL) {
        http_quiesce(service->http);
        http_refuse_asks(service->http);
    }
    uv_idle_start(&service->last_asks, check_asks);
}

/* 1. No new jobs; the running ones end, or go back into the queue. */
static void stop(struct service *service, bool fast)
{
    if (!service->stopping) {
        service->stopping = true;
        desk_drain(service->desk, drained, service);
    } else {
        fast = true;
    }
    if (fast && service->desk != NULL) {
        desk_drain_faster(service->desk);
    }
}

static void device_lost(void *context)
{
    struct service *service = context;
    service->exit_code = EX_TEMPFAIL;
    stop(service, true);
}

/* ---- Signals ---- */

static void reload_log_level(const struct service *service)
{
    struct config config;
    struct problem problem = {0};
    config_defaults(&config);
    if (service->reload->load(service->reload->context, &config, &problem) != STATUS_OK) {
        log_write(LOG_ERROR, "reload_failed", LOG_TEXT("detail", problem.detail),
                  LOG_NUMBER("line", problem.line));
        return;
    }
    log_set_level(config.log_level);
    log_write(LOG_INFO, "reloaded", LOG_TEXT("log_level", log_level_name(config.log_level)));
}

static void signalled(uv_signal_t *handle, int number)
{
    struct service *service = handle->data;
    if (number == SIGHUP) {
        reload_log_level(service);
        return;
    }
    log_write(LOG_INFO, "stopping", LOG_NUMBER("signal", number));
    stop(service, false);
}

/* Nothing here fails but for want of descriptors, before anything was started. */
static void open_handles(struct service *service)
{
    CHECK(uv_loop_init(&service->loop) == 0);
    CHECK(uv_idle_init(&service->loop, &service->last_asks) == 0);
    CHECK(uv_timer_init(&service->loop, &service->reaper) == 0);
    service->last_asks.data = service;
    service->reaper.data = service;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        CHECK(uv_signal_init(&service->loop, &service->signals[i]) == 0);
        CHECK(uv_signal_start(&service->signals[i], signalled, signal_numbers[i]) == 0);
        service->signals[i].data = service;
    }
}

/* ---- The way in, in order ---- */

static void reap(uv_timer_t *reaper)
{
    const struct service *service = reaper->data;
    http_reap(service->http);
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "http://127.", 11) == 0 || strncmp(address, "http://[::1]:", 13) == 0;
}

/* There are no keys yet: an address that others reach is open to them. */
static void warn_if_open(const char *address)
{
    if (!is_loopback(address)) {
        log_write(LOG_WARNING, "open_to_the_network", LOG_TEXT("address", address),
                  LOG_TEXT("detail", "Whoever reaches this address can use the service."));
    }
}

static enum status start_http(struct service *service, struct problem *reterr)
{
    struct http_parts parts = {
        .config = service->config,
        .desk = service->desk,
        .results = service->results,
        .store = service->store,
    };
    enum status status = http_start(&parts, &service->http, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    uv_timer_start(&service->reaper, reap, 1000, 1000);
    printf("listening on %s\n", http_address(service->http));
    fflush(stdout);
    log_write(LOG_INFO, "started", LOG_TEXT("version", APSPD_VERSION),
              LOG_TEXT("address", http_address(service->http)),
              LOG_TEXT("device", desk_devices(service->desk)->devices[0].name),
              LOG_TEXT("gpu_reason", desk_devices(service->desk)->gpu_reason));
    warn_if_open(http_address(service->http));
    return STATUS_OK;
}

/* part: what is being started, for the log. */
static enum status start_parts(struct service *service, const char **part, struct problem *reterr)
{
    *part = "store";
    enum status status = store_open(service->config->state_dir, &service->store, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    *part = "results";
    status = result_table_create(&service->results);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "There is not enough memory to start.");
    }
    *part = "desk";
    status = desk_create(&service->loop, service->config, service->store, service->results,
                         &service->desk, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    desk_on_device_lost(service->desk, device_lost, service);
    *part = "http";
    return start_http(service, reterr);
}

static void start(struct service *service)
{
    const char *part = NULL;
    struct problem problem = {0};
    if (start_parts(service, &part, &problem) == STATUS_OK) {
        return;
    }
    log_write(LOG_ERROR, "start_failed", LOG_TEXT("part", part),
              LOG_TEXT("code", status_info(problem.status)->code),
              LOG_TEXT("detail", problem.detail), LOG_TEXT("hint", problem.hint));
    service->exit_code = exit_code_of(problem.status);
    if (service->desk != NULL) {
        stop(service, true); /* a restored job may be running */
    } else {
        close_all(service);
    }
}

/* Every published result keeps its file open. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        log_write(LOG_WARNING, "file_limit_stays", LOG_NUMBER("files", limit.rlim_max));
    }
}

int service_run(const struct config *config, const struct service_reload *reload)
{
    struct service service = {.config = config, .reload = reload};
    log_set_level(config->log_level);
    log_write(LOG_INFO, "starting", LOG_TEXT("version", APSPD_VERSION),
              LOG_TEXT("listen", config->listen), LOG_TEXT("state_dir", config->state_dir));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is a full disk, and told as that */
    raise_file_limit();
    json_object_seed(0);
    open_handles(&service);
    start(&service);
    uv_run(&service.loop, UV_RUN_DEFAULT);
    store_close(service.store);
    result_table_destroy(service.results);
    CHECK(uv_loop_close(&service.loop) == 0);
    uv_library_shutdown();
    log_write(LOG_INFO, "stopped", LOG_NUMBER("exit_code", service.exit_code));
    return service.exit_code;
}
