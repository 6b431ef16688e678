/* The worker's loop: opens its solver, tells of it, and does one task after the other. It knows
 * neither mailbox nor socket: a line brings it works and takes them back, be it to a thread of the
 * same process (worker.c) or from one process to another (worker_child.c). It opens no file: the
 * line has done that. */
#pragma once

#include "server/job/worker/setup.h"
#include "server/job/worker/task.h"

struct worker_line {
    void *context;
    /* Once. The solver's figures can be had from it; NULL when it was not opened. */
    void (*opened)(void *context, const struct worker_facts *facts, const struct solver *solver);
    /* The next work; NULL ends the loop. With STATUS_OK it has its result file, and a graph or the
     * descriptor of its file. */
    struct task *(*next)(void *context);
    /* The task has its status, and its graph still. */
    void (*done)(void *context, struct task *task, const struct solver *solver);
};

/* Returns once the line has no more to do. */
void worker_loop_run(const struct worker_setup *setup, const struct worker_line *line);
