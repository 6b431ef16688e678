#include "server/service.h"

#include "proto/read/charset.h"
#include "server/clock.h"
#include "server/http/transport/http.h"
#include "server/http/transport/listener.h"
#include "server/metrics.h"
#include "server/sandbox.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/start_stop.h"
#include "server/solver/host_memory.h"
#include "server/solver/solver.h"
#include "server/systemd.h"
#include "server/worker/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

/* Maximum time that a GPU driver may take to report its devices. */
#define DRIVER_TIMEOUT_S 60
/* Exit code after a device failed permanently in a thread of this process. */
#define EXIT_DEVICE 80

enum { SIGNAL_COUNT = 3 };
static const int signal_numbers[SIGNAL_COUNT] = {SIGTERM, SIGINT, SIGHUP};

struct service {
    struct config config; /* with the paths of credentials resolved */
    const char *path;     /* configuration file, or NULL */
    int argc;
    char **argv;
    uv_loop_t loop;
    struct store *store;
    struct result_table *results;
    struct scheduler *scheduler;
    struct worker_launcher launcher;
    struct http *http;
    struct listener listener;     /* owned here until start_http moves it to http */
    struct sandbox_policy policy; /* without the lists of paths, which enter_sandbox adds */
    struct sandbox_report sandbox;
    uv_signal_t signals[SIGNAL_COUNT];
    uv_timer_t watchdog;  /* regularly tells the service manager that the loop runs */
    uv_idle_t last_calls; /* runs check_calls between drain and stop */
    bool stopping;
    int exit_code;
};

static int exit_code_of(enum status status)
{
    if (status == STATUS_CONFIG || status == STATUS_NO_DEVICE) {
        return EX_CONFIG;
    }
    if (status == STATUS_DEVICE_LOST) {
        return EXIT_DEVICE;
    }
    return status == STATUS_NO_MEMORY ? EX_TEMPFAIL : EX_IOERR;
}

/* ---- Stop, in order ---- */

/* Stop, step 3: closes all connections after the last call. The loop ends when its last handle is
 * closed. */
static void close_all(struct service *service)
{
    http_stop(service->http);
    service->http = NULL;
    listener_close(&service->listener);
    scheduler_destroy(service->scheduler);
    service->scheduler = NULL;
    worker_launcher_stop(&service->launcher);
    uv_close((uv_handle_t *)&service->watchdog, NULL);
    uv_close((uv_handle_t *)&service->last_calls, NULL);
}

/* Stop, step 2: waits until the HTTP threads are quiesced and all open calls are answered.
 * Meanwhile the loop handles messages and signals. */
static void check_calls(uv_idle_t *idle)
{
    struct service *service = idle->data;
    if ((service->http == NULL || http_is_quiesced(service->http)) &&
        scheduler_calls_open(service->scheduler) == 0) {
        uv_idle_stop(idle);
        close_all(service);
    }
}

static void answer_last_calls(void *context)
{
    struct service *service = context;
    if (service->http != NULL) {
        http_quiesce(service->http);
    }
    uv_idle_start(&service->last_calls, check_calls);
}

/* Stop, step 1: accepts no new jobs; running jobs end or return to the queue. */
static void stop_service(struct service *service, bool fast)
{
    if (!service->stopping) {
        /* Asks the manager to wait for the drain, and 60 s longer for the later steps. */
        char state[96];
        snprintf(state, sizeof(state), "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=%llu",
                 (service->config.drain_s + 60ULL) * 1000000ULL);
        systemd_notify(state);
        service->stopping = true;
        scheduler_drain(service->scheduler, answer_last_calls, service);
    } else {
        fast = true;
    }
    if (fast && service->scheduler != NULL) {
        scheduler_drain_faster(service->scheduler);
    }
}

static void leave_after_loss(void *context, enum status why)
{
    struct service *service = context;
    service->exit_code = exit_code_of(why);
    stop_service(service, true);
}

static void log_reload(const char *part, enum status status, const struct problem *problem)
{
    if (status != STATUS_OK) {
        log_write(LOG_ERROR, "reload_failed", LOG_TEXT("part", part),
                  LOG_TEXT("detail", problem->detail), LOG_TEXT("hint", problem->hint),
                  LOG_NUMBER("line", problem->line));
    }
}

static void reload_configuration(const struct service *service)
{
    struct config config;
    struct config_request request;
    struct problem problem = {0};
    int argc = service->argc;
    /* Each part is reloaded separately; a part that fails keeps its old value. */
    if (service->http != NULL) {
        log_reload("keys", http_load_keys(service->http, &problem), &problem);
        log_reload("certificate", http_load_certificate(service->http, &problem), &problem);
    }
    enum status status =
        config_load(&config, CONFIG_DAEMON, &argc, service->argv, environ, &request, &problem);
    if (status != STATUS_OK) {
        log_reload("configuration", status, &problem);
        return;
    }
    log_set_level(config.log_level);
    log_write(LOG_INFO, "reloaded", LOG_TEXT("log_level", log_level_name(config.log_level)));
}

static void handle_signal(uv_signal_t *handle, int number)
{
    struct service *service = handle->data;
    if (number == SIGHUP) {
        reload_configuration(service);
        return;
    }
    log_write(LOG_INFO, "stopping", LOG_NUMBER("signal", number));
    stop_service(service, false);
}

/* Creates the handles of the loop. This fails only for lack of descriptors, before anything starts.
 * libuv 1.45 and later uses epoll through io_uring, whose system calls are fatal in the sandbox. */
static void open_handles(struct service *service)
{
    CHECK(setenv("UV_USE_IO_URING", "0", 1) == 0);
    CHECK(uv_loop_init(&service->loop) == 0);
    CHECK(uv_idle_init(&service->loop, &service->last_calls) == 0);
    CHECK(uv_timer_init(&service->loop, &service->watchdog) == 0);
    service->last_calls.data = service;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        CHECK(uv_signal_init(&service->loop, &service->signals[i]) == 0);
        CHECK(uv_signal_start(&service->signals[i], handle_signal, signal_numbers[i]) == 0);
        uv_unref((uv_handle_t *)&service->signals[i]); /* the handle does not keep the loop alive */
        service->signals[i].data = service;
    }
}

/* Blocks or unblocks the signals of the service. All threads are started while the signals are
 * blocked, so only the loop receives them. */
static void mask_signals(int how)
{
    sigset_t signals;
    sigemptyset(&signals);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        sigaddset(&signals, signal_numbers[i]);
    }
    pthread_sigmask(how, &signals, NULL);
}

/* Closes the handles; libuv restores the default actions. The signals are blocked by then, so that
 * another SIGTERM cannot end the process before it returns its exit code. */
static void close_signals(struct service *service)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        uv_close((uv_handle_t *)&service->signals[i], NULL);
    }
    uv_run(&service->loop, UV_RUN_DEFAULT);
}

/* Maximum number of folders: two for each of the configuration, the keys, the certificate and its
 * private key, because each file may be a link into another folder. */
enum { FOLDER_LIMIT = 8 };

struct folders {
    size_t count;
    char texts[FOLDER_LIMIT][PATH_MAX];
    const char *list[FOLDER_LIMIT + 1]; /* ends with NULL */
};

/* Adds the folder of a file. If the file is a link, also adds the folder of its target. */
static void add_folders(struct folders *folders, const char *path)
{
    char *given = folders->texts[folders->count];
    if (path == NULL || strcmp(path, CONFIG_NONE) == 0 || strlen(path) >= PATH_MAX) {
        return;
    }
    memcpy(given, path, strlen(path) + 1);
    folders->list[folders->count++] = dirname(given);
    char *real = folders->texts[folders->count];
    if (realpath(path, real) != NULL) {
        folders->list[folders->count++] = dirname(real);
    }
}

/* Counts the GPUs in a child process, so that this process never loads the driver. The driver
 * creates its device nodes now, because the sandbox will prevent that. */
static bool has_gpu_for_others(void)
{
    const pid_t child = fork();
    int ended = -1;
    if (child == 0) {
        char reason[SOLVER_REASON_SIZE];
        /* The child must end with its parent: it holds the state directory's lock and sockets. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(DRIVER_TIMEOUT_S);
        _exit(solver_gpu_count(reason) > 0 ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

/* Enters the sandbox, after loading the GPU driver, which may have to create its device nodes. */
static enum status enter_sandbox(struct service *service, struct problem *reterr)
{
    const struct config *config = &service->config;
    char reason[SOLVER_REASON_SIZE];
    struct folders readable = {0};
    struct folders writable = {.count = 1, .list = {config->state_dir}};
    if (config->confinement == CONFINEMENT_OFF) {
        return STATUS_OK;
    }
    /* Files that are read again on reload may be replaced; the Unix socket is removed at the end.
     */
    add_folders(&readable, service->path);
    add_folders(&readable, config->keys_file);
    add_folders(&readable, config->tls_certificate);
    add_folders(&readable, config->tls_key);
    if (service->listener.path[0] != '\0') {
        add_folders(&writable, service->listener.path);
    }
    service->policy.spawns = config->isolation == WORKER_PROCESS;
    service->policy.devices =
        config->solver.choice != SOLVER_CPU && service->launcher.channel < 0 &&
        (service->policy.spawns ? has_gpu_for_others() : solver_gpu_count(reason) > 0);
    charset_load();
    struct sandbox_policy policy = service->policy;
    policy.writable = writable.list;
    policy.readable = readable.list;
    sandbox_enter(&policy, &service->sandbox);
    /* Root fails here like any user, because it has given up its right to other users' files. */
    if (faccessat(AT_FDCWD, config->state_dir, R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
        return problem_refuse(
            reterr, STATUS_CONFIG,
            "run apspd as the owner of the directory, or set service.confinement to off",
            "%s belongs to another user, and a sandboxed service cannot use it", config->state_dir);
    }
    return STATUS_OK;
}

static enum status filter_calls(struct service *service, struct problem *reterr)
{
    struct sandbox_report *report = &service->sandbox;
    if (service->config.confinement == CONFINEMENT_OFF) {
        return STATUS_OK;
    }
    STATUS_TRY(problem_explain(reterr, sandbox_filter_calls(&service->policy, report),
                               "There is not enough memory to start."));
    bool whole = report->without[0] == '\0';
    if (!whole && service->config.confinement == CONFINEMENT_REQUIRED) {
        return problem_set(reterr, STATUS_CONFIG,
                           "service.confinement is required, but restrictions are missing: %s",
                           report->without);
    }
    log_write(
        whole ? LOG_INFO : LOG_WARNING, "confined", LOG_NUMBER("landlock", report->landlock_abi),
        LOG_TEXT("seccomp", report->filtered ? "on" : "off"), LOG_TEXT("without", report->without));
    return STATUS_OK;
}

/* ---- Start, in order ---- */

static void feed_watchdog(uv_timer_t *watchdog)
{
    (void)watchdog;
    systemd_notify("READY=1\nWATCHDOG=1"); /* sending the first READY=1 may have timed out */
}

static enum status start_http(struct service *service, struct problem *reterr)
{
    /* Unless configured, the limit is half of the available memory, or none if that is unknown. */
    const uint64_t set_bytes = service->config.upload_memory_bytes;
    const uint64_t available = host_memory_available();
    struct http_parts parts = {
        .config = &service->config,
        .scheduler = service->scheduler,
        .results = service->results,
        .store = service->store,
        .upload_memory_bytes = set_bytes > 0   ? set_bytes
                               : available > 0 ? available / 2
                                               : UINT64_MAX,
        .listener = service->listener,
    };
    uint64_t watchdog_us = 0;
    char state[LISTENER_ADDRESS_SIZE + 64];
    service->listener = LISTENER_CLOSED;
    STATUS_TRY(http_start(&parts, &service->http, reterr));
    printf("listening on %s\n", http_address(service->http));
    fflush(stdout);
    snprintf(state, sizeof(state), "READY=1\nSTATUS=listening on %s", http_address(service->http));
    systemd_notify(state);
    if (sd_watchdog_enabled(0, &watchdog_us) > 0) {
        const uint64_t half_ms = watchdog_us / 2000 + 1; /* a timer of 0 ms does not repeat */
        uv_timer_start(&service->watchdog, feed_watchdog, half_ms, half_ms);
    }
    log_write(LOG_INFO, "started", LOG_TEXT("version", APSPD_VERSION),
              LOG_TEXT("address", http_address(service->http)),
              LOG_TEXT("device", scheduler_devices(service->scheduler)->devices[0].name),
              LOG_TEXT("gpu_reason", scheduler_devices(service->scheduler)->gpu_reason));
    return STATUS_OK;
}

static enum status open_listener(struct service *service, struct problem *reterr)
{
    const struct config *config = &service->config;
    const unsigned mode = (unsigned)strtoul(config->socket_mode, NULL, 8);
    int given = -1;
    STATUS_TRY(systemd_receive_socket(&given, reterr));
    return given >= 0 ? listener_adopt(given, &service->listener, reterr)
                      : listener_open(config->listen, mode, &service->listener, reterr);
}

/* Starts the process of solver.launcher before the sandbox, which forbids starting programs. */
static enum status start_launcher(struct service *service, struct problem *reterr)
{
    const struct config *config = &service->config;
    if (strcmp(config->launcher, CONFIG_NONE) == 0) {
        return STATUS_OK;
    }
    if (config->isolation != WORKER_PROCESS) {
        return problem_refuse(reterr, STATUS_CONFIG, "set worker.isolation to process",
                              "solver.launcher requires the worker to be a process");
    }
    return worker_launcher_start(config->launcher, &service->launcher, reterr);
}

/* Starts the parts in order. *part is the part being started, for the log. Sockets are opened
 * first, while names can be resolved and root may bind a low port. Threads are started after
 * sandbox_enter, and requests are accepted after sandbox_filter_calls. */
static enum status start_parts(struct service *service, const char **part, struct problem *reterr)
{
    struct config *config = &service->config;
    char *const paths[] = {config->keys_file, config->tls_certificate, config->tls_key};
    *part = "credentials";
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        STATUS_TRY(systemd_find_credential(paths[i], CONFIG_TEXT_SIZE, reterr));
    }
    *part = "listener";
    STATUS_TRY(open_listener(service, reterr));
    *part = "store";
    STATUS_TRY(store_open(config->state_dir, config->path_budget_bytes, &service->store, reterr));
    *part = "launcher";
    STATUS_TRY(start_launcher(service, reterr));
    *part = "confinement";
    STATUS_TRY(enter_sandbox(service, reterr));
    *part = "threads";
    STATUS_TRY(problem_explain(reterr, result_table_create(&service->results),
                               "There is not enough memory to start."));
    *part = "scheduler";
    STATUS_TRY(scheduler_create(&service->loop, config, service->store, service->results,
                                service->launcher.channel >= 0 ? &service->launcher : NULL,
                                &service->scheduler, reterr));
    scheduler_on_lost(service->scheduler, leave_after_loss, service);
    *part = "confinement";
    STATUS_TRY(filter_calls(service, reterr));
    *part = "http";
    return start_http(service, reterr);
}

static void start_service(struct service *service)
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
    if (service->scheduler != NULL) {
        stop_service(service, true); /* a restored job may be running */
    } else {
        close_all(service);
    }
}

int service_run(const struct config *config, const char *path, int argc, char **argv)
{
    struct rlimit limit;
    struct service service = {.config = *config,
                              .path = path,
                              .argc = argc,
                              .argv = argv,
                              .listener = LISTENER_CLOSED,
                              .launcher.channel = -1,
                              .policy.role = SANDBOX_FRONT};
    log_set_level(config->log_level);
    metrics_set(METRIC_START_TIME, clock_wall_s());
    log_write(LOG_INFO, "starting", LOG_TEXT("version", APSPD_VERSION),
              LOG_TEXT("listen", config->listen), LOG_TEXT("state_dir", config->state_dir));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is reported as a full disk */
    /* Raises the limit on open files, because every published result has an open file. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
            log_write(LOG_WARNING, "file_limit_not_raised", LOG_NUMBER("files", limit.rlim_max));
        }
    }
    umask(S_IRWXG | S_IRWXO);
    json_object_seed(0);
    mask_signals(SIG_BLOCK);
    open_handles(&service);
    start_service(&service);
    mask_signals(SIG_UNBLOCK);
    uv_run(&service.loop, UV_RUN_DEFAULT);
    mask_signals(SIG_BLOCK);
    /* Destroyed before the store: the table removes unpublished drafts in a folder of the store. */
    result_table_destroy(service.results);
    store_close(service.store);
    close_signals(&service);
    CHECK(uv_loop_close(&service.loop) == 0);
    uv_library_shutdown();
    log_write(LOG_INFO, "stopped", LOG_NUMBER("exit_code", service.exit_code));
    return service.exit_code;
}
