/* libuv starts the threads of its pool with the first work that it is given, and aborts where one
 * cannot be had. So they are started with the service, and only once as many could be had. */
#pragma once

#include "proto/status.h"

#include <uv.h>

/* Before any thread: the pool has as many as are tried, whatever the environment says. */
void thread_reserve_limit(void);

/* On the loop's thread; first is work of nothing, which is over once the loop has run.
 * STATUS_NO_MEMORY: there are not as many threads, and libuv has not been asked. */
MUST_CHECK enum status thread_reserve_open(uv_loop_t *loop, uv_work_t *first);
