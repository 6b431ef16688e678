/* Fixtures for the tests of the scheduler: the real store, the real result table and the CPU
 * solver, with their own event loop and a temporary state directory. Tests post calls in the same
 * way as HTTP threads. */
#pragma once

#include "server/clock.h"
#include "server/scheduler/scheduler.h"
#include "tests/lib/folder_fixture.h"
#include "tests/lib/test.h"

#include <jansson.h>

/* A ring of three vertices. The distance from row 0 to row 2 is 3. */
#define RING "p sp 3 3\na 1 2 1\na 2 3 2\na 3 1 4\n"
/* A path of three vertices. */
#define LINE "p sp 3 2\na 1 2 5\na 2 3 6\n"
#define NEGATIVE_RING "p sp 3 3\na 1 2 1\na 2 3 -5\na 3 1 1\n"

/* Time limit in seconds for an event that always occurs, even in a slow build with a sanitizer. */
#define LONG_S 3600

struct fixture {
    char folder[512];
    struct config config;
    uv_loop_t loop;
    struct store *store;
    struct result_table *results;
    struct scheduler *scheduler;
    bool drained;
};

void start(struct fixture *fixture);
void set_drained(void *context);
void run_until(struct fixture *fixture, const bool *condition);
void stop(struct fixture *fixture);
void restart(struct fixture *fixture);
int set_up(void **state);
int tear_down(void **state);

struct question {
    struct call call;
    bool answered;
};

void set_answered(struct call *call);

/* Allocates a call on the heap, because a call may outlive the function that posts it. */
struct question *new_question(enum call_kind kind, const char *key);
struct question *new_upload(enum call_kind kind, const char *edges);
void wait_for(struct fixture *fixture, const struct question *question);
void forget(struct question *question);

/* Posts the call, waits for its answer, and checks the answer's status and HTTP status. */
void call(struct fixture *fixture, struct question *question, enum status status,
          unsigned http_status);
void call_and_forget(struct fixture *fixture, struct question *question, enum status status,
                     unsigned http_status);

/* Posts a call of this kind and key, checks the answer's two statuses, and frees the call. */
void ask(struct fixture *fixture, enum call_kind kind, const char *key, enum status status,
         unsigned http_status);
json_t *body_of(const struct question *question);

/* Returns the body of the answer to a call of this kind with this key: a new reference. */
json_t *document(struct fixture *fixture, enum call_kind kind, const char *key);

void assert_state(const struct question *question, const char *state);

/* Submits a graph, waits for the end of its job, and copies the IDs of the job and of the graph. */
void solve(struct fixture *fixture, const char *edges, char job_id[JOB_ID_SIZE],
           char graph_id[GRAPH_ID_SIZE]);
void assert_job_state(struct fixture *fixture, const char *job_id, const char *state);

/* Waits until the job has ended, and checks that it ended in this state. Waits with long polls,
 * each of which ends when the state of the job changes. */
void finish_job(struct fixture *fixture, const char *job_id, const char *state);
void assert_distance(struct fixture *fixture, const char *key, uint32_t source, uint32_t target,
                     const char *expected);

/* Returns the text of a ring of n vertices whose edges have this weight; the caller frees it. */
char *ring_of(unsigned n, unsigned weight);
void submit_ring(struct fixture *fixture, unsigned n, unsigned weight, char job_id[JOB_ID_SIZE]);

/* Submits a job that takes seconds even on a fast machine, so that a test can cancel it while it
 * runs. The graph has many vertices, no small separator (so the dense plan is the best), and
 * distances beyond 16 bits. */
void submit_long(struct fixture *fixture, unsigned weight, char job_id[JOB_ID_SIZE]);
void cancel(struct fixture *fixture, const char *job_id);

#define SCHEDULER_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)
