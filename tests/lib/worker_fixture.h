/* A worker for tests. It is a thread, or a separate process that runs this program again: see
 * WORKER_MAIN. */
#pragma once

#include "proto/read/reader.h"
#include "server/worker/child.h"
#include "server/worker/worker.h"
#include "tests/lib/graph_file_fixture.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#define RING "p sp 3 3\na 1 2 1\na 2 3 2\na 3 1 4\n"
#define RING_ID "g_ring"

struct fixture {
    char path[64];
    struct solver_config solver;
    struct mailbox *home;
    sem_t woken;                      /* posted whenever the mailbox wakes its receiver */
    const struct worker_facts *facts; /* facts that opening the worker returned */
    struct worker *worker;
    int folder;
    struct task_signal signal;
};

void delivered(struct message *message);
struct graph *read_dimacs(const char *text);
struct graph *read_ring(void);
void store_ring(const struct fixture *fixture);

/* Starts the worker and waits until it has reported that its solver is open, or why the solver
 * cannot be opened. */
void start(struct fixture *fixture, enum worker_isolation isolation);
struct fixture *make_fixture(void);
int tear_down(void **state);
void give(struct fixture *fixture, struct task *task);
void carry_out(struct fixture *fixture, struct task *task);

/* Must be the first statement of main, because a worker process runs the test program again. */
#define WORKER_MAIN(argc, argv)                                                                    \
    do {                                                                                           \
        if ((argc) == 3 && strcmp((argv)[1], WORKER_FLAG) == 0) {                                  \
            return worker_child_run(WORKER_SOCKET, NULL);                                          \
        }                                                                                          \
    } while (0)
