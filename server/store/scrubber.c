#include "server/store/scrubber.h"

#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Before the first reading: a start is busy enough. */
#define FIRST_PAUSE_S 10.0
#define NICENESS 19
/* What reading past the page cache asks of address, offset and length. */
#define ALIGNMENT 4096
#define PROC_PATH_SIZE 32

struct scrubber {
    struct result_table *table;
    double rate_bytes;
    double pause_s;
    unsigned char *block;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stopping;
};

/* False once it is time to stop. */
static bool wait_s(struct scrubber *scrubber, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double at_s = (double)until.tv_sec + (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec = (time_t)at_s;
    until.tv_nsec = (long)((at_s - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&scrubber->lock);
    int error = 0;
    while (!scrubber->stopping && error == 0) {
        error = pthread_cond_timedwait(&scrubber->stopped, &scrubber->lock, &until);
    }
    const bool go_on = !scrubber->stopping;
    pthread_mutex_unlock(&scrubber->lock);
    return go_on;
}

/* A file system that cannot is read through the page cache. */
static int open_again(const struct result *result)
{
    char path[PROC_PATH_SIZE];
    const int descriptor = result_file_descriptor(result_matrix_file(result));
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    return direct >= 0 ? direct : open(path, O_RDONLY | O_CLOEXEC);
}

/* The last read of a file is rounded up to the alignment, past its end. */
static bool read_block(int descriptor, uint64_t index, size_t size, unsigned char *block)
{
    const size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(descriptor, block + done, whole - done,
                            (off_t)(index * BLOCK_TABLE_BLOCK_SIZE + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        /* Only whole sectors can be followed by more of the same. */
        if (got <= 0 || (done + (size_t)got < size && got % ALIGNMENT != 0)) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

/* False once it is time to stop. */
static bool read_result(struct scrubber *scrubber, const struct result *result)
{
    const struct block_table *blocks = result_file_blocks(result_matrix_file(result));
    int descriptor = open_again(result);
    bool go_on = true;
    size_t size;
    for (uint64_t i = 0; descriptor >= 0 && go_on && (size = block_table_block(blocks, i)) > 0;
         i++) {
        if (!read_block(descriptor, i, size, scrubber->block) ||
            !block_table_matches(blocks, i, scrubber->block)) {
            result_note_damage(result);
            break;
        }
        go_on = wait_s(scrubber, (double)size / scrubber->rate_bytes);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return go_on;
}

/* One result held at a time: those that go meanwhile are not kept from going. */
static void read_through(struct scrubber *scrubber)
{
    struct result_key *keys = NULL;
    size_t count = 0;
    if (result_table_list(scrubber->table, &keys, &count) != STATUS_OK) {
        return;
    }
    bool go_on = true;
    for (size_t i = 0; i < count && go_on; i++) {
        struct result *result = result_table_find(scrubber->table, keys[i].owner, keys[i].text);
        if (result != NULL && result_is_published(result) && !result_is_damaged(result)) {
            go_on = read_result(scrubber, result);
        }
        result_unref(result);
    }
    free(keys);
}

/* On Linux a thread has a niceness of its own. */
static void *run(void *context)
{
    struct scrubber *scrubber = context;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    double pause_s = scrubber->pause_s < FIRST_PAUSE_S ? scrubber->pause_s : FIRST_PAUSE_S;
    while (wait_s(scrubber, pause_s)) {
        read_through(scrubber);
        pause_s = scrubber->pause_s;
    }
    return NULL;
}

static void destroy(struct scrubber *scrubber)
{
    pthread_cond_destroy(&scrubber->stopped);
    pthread_mutex_destroy(&scrubber->lock);
    free(scrubber->block);
    free(scrubber);
}

enum status scrubber_start(struct result_table *table, uint64_t rate_bytes, double pause_s,
                           struct scrubber **ret_scrubber)
{
    struct scrubber *scrubber = calloc(1, sizeof *scrubber);
    if (scrubber == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&scrubber->lock, NULL);
    pthread_cond_init(&scrubber->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    scrubber->table = table;
    scrubber->rate_bytes = (double)rate_bytes;
    scrubber->pause_s = pause_s;
    scrubber->block = aligned_alloc(ALIGNMENT, BLOCK_TABLE_BLOCK_SIZE);
    if (scrubber->block == NULL || pthread_create(&scrubber->thread, NULL, run, scrubber) != 0) {
        destroy(scrubber);
        return STATUS_NO_MEMORY;
    }
    *ret_scrubber = scrubber;
    return STATUS_OK;
}

void scrubber_stop(struct scrubber *scrubber)
{
    if (scrubber == NULL) {
        return;
    }
    pthread_mutex_lock(&scrubber->lock);
    scrubber->stopping = true;
    pthread_cond_signal(&scrubber->stopped);
    pthread_mutex_unlock(&scrubber->lock);
    pthread_join(scrubber->thread, NULL);
    destroy(scrubber);
}
