#include "server/scheduler/pool.h"

#include "server/scheduler/scheduler_internal.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* Niceness added to the pool's threads: their priority is lower than that of threads that answer
 * requests, and higher than a solver's. */
#define POOL_NICENESS 5

/* Maximum number of threads that each class may use; libuv's pool has four. */
static const uint32_t limits[POOL_CLASS_COUNT] = {[POOL_UPLOAD] = 4, [POOL_STORED] = 2};

static void do_nothing(uv_work_t *request)
{
    (void)request;
}

/* Starts libuv's threads, by giving them work, with the pool's niceness. On Linux each thread has
 * its own niceness, inherits it from its creator, and cannot lower it again. */
static void *start_threads(void *loop)
{
    static uv_work_t first;
    const id_t thread = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + POOL_NICENESS);
    CHECK(uv_queue_work(loop, &first, do_nothing, NULL) == 0);
    return NULL;
}

enum status pool_start(struct scheduler *scheduler)
{
    static bool is_started; /* set once per process, because libuv's pool is global */
    pthread_t thread;
    STAILQ_INIT(&scheduler->pool.waiting);
    if (!is_started) {
        if (pthread_create(&thread, NULL, start_threads, scheduler->loop) != 0) {
            return STATUS_NO_MEMORY;
        }
        pthread_join(thread, NULL);
        is_started = true;
    }
    return STATUS_OK;
}

bool pool_is_free(const struct scheduler *scheduler, const struct tenant *tenant,
                  enum pool_class class_)
{
    const bool is_alone = atomic_load(&scheduler->admission.tenant_count) < 2;
    return scheduler->pool.running[class_] < limits[class_] &&
           (is_alone || tenant->pool.running[class_] < limits[class_] / 2);
}

static void run_work(uv_work_t *request)
{
    struct pool_work *work = request->data;
    work->run(work);
}

static void start_waiting(struct scheduler *scheduler);

static void end_work(uv_work_t *request, int error)
{
    struct pool_work *work = request->data;
    struct scheduler *scheduler = work->scheduler;
    CHECK(error == 0); /* work is never cancelled */
    scheduler->pool.running[work->class_]--;
    work->tenant->pool.running[work->class_]--;
    work->then(work);
    start_waiting(scheduler);
    scheduler_wake(scheduler);
}

static struct pool_work *find_next(const struct scheduler *scheduler)
{
    struct pool_work *next = NULL;
    struct pool_work *work;
    STAILQ_FOREACH(work, &scheduler->pool.waiting, in_waiting)
    {
        if ((next == NULL || work->tenant->pool.turn < next->tenant->pool.turn) &&
            pool_is_free(scheduler, work->tenant, work->class_)) {
            next = work;
        }
    }
    return next;
}

static void start_waiting(struct scheduler *scheduler)
{
    struct pool *pool = &scheduler->pool;
    struct pool_work *work;
    while ((work = find_next(scheduler)) != NULL) {
        STAILQ_REMOVE(&pool->waiting, work, pool_work, in_waiting);
        pool->running[work->class_]++;
        work->tenant->pool.running[work->class_]++;
        work->tenant->pool.turn = ++pool->last_turn;
        work->request.data = work;
        CHECK(uv_queue_work(scheduler->loop, &work->request, run_work, end_work) == 0);
    }
}

void pool_queue(struct scheduler *scheduler, struct tenant *tenant, enum pool_class class_,
                struct pool_work *work)
{
    work->scheduler = scheduler;
    work->tenant = tenant;
    work->class_ = class_;
    STAILQ_INSERT_TAIL(&scheduler->pool.waiting, work, in_waiting);
    start_waiting(scheduler);
}

bool pool_is_idle(const struct pool *pool)
{
    return STAILQ_EMPTY(&pool->waiting) && pool->running[POOL_UPLOAD] == 0 &&
           pool->running[POOL_STORED] == 0;
}
