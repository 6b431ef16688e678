/* Simulates hung processes by letting their deadlines pass according to a plan (fault_plan.h).
 * Tests then need not wait, and the real deadlines can be so long that a healthy process never
 * misses them. The linker replaces worker_watch_tick with this function (--wrap). If the plan has
 * the stage `silence`, a process that sent no heartbeat since the previous tick counts as silent.
 * If the plan has the stage `stall`, a task that completed no round since the previous tick counts
 * as stalled. */
#include "server/worker/watch.h"
#include "tests/fault/fault_plan.h"

enum task_loss __real_worker_watch_tick(struct worker_watch *watch,
                                        const struct worker_shared *shared, double tick_s);
enum task_loss __wrap_worker_watch_tick(struct worker_watch *watch,
                                        const struct worker_shared *shared, double tick_s);

enum task_loss __wrap_worker_watch_tick(struct worker_watch *watch,
                                        const struct worker_shared *shared, double tick_s)
{
    struct fault fault;
    const enum task_loss loss = __real_worker_watch_tick(watch, shared, tick_s);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    if (watch->silence_s > 0 && fault_plan_find(0, "silence", &fault)) {
        return TASK_LOSS_SILENT;
    }
    return watch->round_s > 0 && fault_plan_find(0, "stall", &fault) ? TASK_LOSS_STALLED
                                                                     : TASK_LOSS_NONE;
}
