#include "server/job/device_monitor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct device_monitor {
    pthread_t thread;
    char library[256];

    pthread_mutex_t lock;
    pthread_cond_t asked;    /* wakes the thread */
    pthread_cond_t answered; /* wakes who asked */
    bool stopping;
    bool absent;            /* there is nothing to read, and the thread has ended */
    uint64_t asked_number;  /* of the question last put */
    uint64_t answer_number; /* of the newest question that the readings answer */
    struct nvml_reading readings[DEVICE_LIMIT];
    uint32_t count;
};

/* The lock is held before and after. */
static void read_devices(struct device_monitor *monitor, const struct nvml *nvml)
{
    struct nvml_reading readings[DEVICE_LIMIT];
    const uint64_t number = monitor->asked_number;
    pthread_mutex_unlock(&monitor->lock);
    const uint32_t count = nvml_read(nvml, readings, DEVICE_LIMIT);
    pthread_mutex_lock(&monitor->lock);
    memcpy(monitor->readings, readings, count * sizeof readings[0]);
    monitor->count = count;
    monitor->answer_number = number;
    pthread_cond_broadcast(&monitor->answered);
}

static void *run(void *context)
{
    struct device_monitor *monitor = context;
    struct nvml *nvml = NULL;
    const enum status status = nvml_open(monitor->library, &nvml);
    pthread_mutex_lock(&monitor->lock);
    while (status == STATUS_OK && !monitor->stopping) {
        if (monitor->answer_number < monitor->asked_number) {
            read_devices(monitor, nvml);
        } else {
            pthread_cond_wait(&monitor->asked, &monitor->lock);
        }
    }
    monitor->absent = true;
    pthread_cond_broadcast(&monitor->answered);
    pthread_mutex_unlock(&monitor->lock);
    nvml_close(nvml);
    return NULL;
}

static void init_locks(struct device_monitor *monitor)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&monitor->lock, NULL);
    pthread_cond_init(&monitor->asked, NULL);
    pthread_cond_init(&monitor->answered, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void finish(struct device_monitor *monitor)
{
    pthread_cond_destroy(&monitor->answered);
    pthread_cond_destroy(&monitor->asked);
    pthread_mutex_destroy(&monitor->lock);
    free(monitor);
}

enum status device_monitor_create(const char *library, struct device_monitor **ret_monitor)
{
    struct device_monitor *monitor = calloc(1, sizeof *monitor);
    if (monitor == NULL || strlen(library) >= sizeof monitor->library) {
        free(monitor);
        return STATUS_NO_MEMORY;
    }
    memcpy(monitor->library, library, strlen(library) + 1);
    init_locks(monitor);
    if (pthread_create(&monitor->thread, NULL, run, monitor) != 0) {
        finish(monitor);
        return STATUS_NO_MEMORY;
    }
    *ret_monitor = monitor;
    return STATUS_OK;
}

void device_monitor_destroy(struct device_monitor *monitor)
{
    if (monitor == NULL) {
        return;
    }
    pthread_mutex_lock(&monitor->lock);
    monitor->stopping = true;
    pthread_cond_signal(&monitor->asked);
    pthread_mutex_unlock(&monitor->lock);
    pthread_join(monitor->thread, NULL);
    finish(monitor);
}

static struct timespec deadline(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += MONITOR_WAIT_MS * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

uint32_t device_monitor_read(struct device_monitor *monitor,
                             struct nvml_reading ret_readings[DEVICE_LIMIT])
{
    const struct timespec until = deadline();
    uint32_t count = 0;
    bool late = false;
    pthread_mutex_lock(&monitor->lock);
    const uint64_t number = ++monitor->asked_number;
    pthread_cond_signal(&monitor->asked);
    while (!late && !monitor->absent && monitor->answer_number < number) {
        late = pthread_cond_timedwait(&monitor->answered, &monitor->lock, &until) != 0;
    }
    if (monitor->answer_number >= number) {
        count = monitor->count;
        memcpy(ret_readings, monitor->readings, count * sizeof ret_readings[0]);
    }
    pthread_mutex_unlock(&monitor->lock);
    return count;
}
