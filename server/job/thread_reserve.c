#include "server/job/thread_reserve.h"

#include "proto/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* libuv's own number. */
#define THREAD_COUNT 4
#define THREAD_COUNT_TEXT "4"
/* And the one that starts them. */
#define TRIAL_COUNT (THREAD_COUNT + 1)
/* Of the pool, beside that of the thread that opens it. */
#define NICENESS 5

/* Until the other end of the pipe is closed: all of them are there at once. */
static void *stand(void *context)
{
    const int *end = context;
    char byte;
    (void)!read(*end, &byte, 1);
    return NULL;
}

/* What they leave behind, stacks and all, is what libuv's take. */
static enum status try_threads(void)
{
    int ends[2];
    pthread_t threads[TRIAL_COUNT];
    int count = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return STATUS_NO_MEMORY;
    }
    while (count < TRIAL_COUNT && pthread_create(&threads[count], NULL, stand, &ends[0]) == 0) {
        count++;
    }
    close(ends[1]);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    close(ends[0]);
    return count == TRIAL_COUNT ? STATUS_OK : STATUS_NO_MEMORY;
}

/* The beginning of the pool. On Linux a thread has a niceness of its own, which those that it
 * starts inherit: what the pool computes gives way to answers, and not to a solver. */
struct beginning {
    uv_loop_t *loop;
    uv_work_t *first;
    int error;
};

static void nothing(uv_work_t *request)
{
    (void)request;
}

static void done(uv_work_t *request, int error)
{
    (void)request;
    (void)error;
}

static void *begin(void *context)
{
    struct beginning *beginning = context;
    const id_t thread = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + NICENESS);
    beginning->error = uv_queue_work(beginning->loop, beginning->first, nothing, done);
    return NULL;
}

/* The loop is not run meanwhile, so another thread may give it work. */
static enum status begin_pool(uv_loop_t *loop, uv_work_t *first)
{
    struct beginning beginning = {.loop = loop, .first = first};
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin, &beginning) != 0) {
        return STATUS_NO_MEMORY;
    }
    pthread_join(thread, NULL);
    return beginning.error == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

void thread_reserve_limit(void)
{
    CHECK(setenv("UV_THREADPOOL_SIZE", THREAD_COUNT_TEXT, 1) == 0);
}

enum status thread_reserve_open(uv_loop_t *loop, uv_work_t *first)
{
    const enum status status = try_threads();
    return status == STATUS_OK ? begin_pool(loop, first) : status;
}
