#include "server/job/thread_reserve.h"

#include "proto/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* libuv's own number. */
#define THREAD_COUNT 4
#define THREAD_COUNT_TEXT "4"

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
    pthread_t threads[THREAD_COUNT];
    int count = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return STATUS_NO_MEMORY;
    }
    while (count < THREAD_COUNT && pthread_create(&threads[count], NULL, stand, &ends[0]) == 0) {
        count++;
    }
    close(ends[1]);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    close(ends[0]);
    return count == THREAD_COUNT ? STATUS_OK : STATUS_NO_MEMORY;
}

static void nothing(uv_work_t *request)
{
    (void)request;
}

static void done(uv_work_t *request, int error)
{
    (void)request;
    (void)error;
}

void thread_reserve_limit(void)
{
    CHECK(setenv("UV_THREADPOOL_SIZE", THREAD_COUNT_TEXT, 1) == 0);
}

enum status thread_reserve_open(uv_loop_t *loop, uv_work_t *first)
{
    const enum status status = try_threads();
    if (status == STATUS_OK && uv_queue_work(loop, first, nothing, done) != 0) {
        return STATUS_NO_MEMORY;
    }
    return status;
}
