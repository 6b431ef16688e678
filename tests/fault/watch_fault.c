/* Makes the deadlines of hung processes pass according to a plan (fault_plan.h). So no test waits
 * for a deadline, and no deadline is so short that a healthy process on a busy machine misses it.
 * The linker replaces worker_watch_tick by this function (--wrap). A line of the plan with the
 * stage `silence` counts a process without a heartbeat since the previous tick as silent; a line
 * with the stage `stall` counts a task without a round since then as stalled. */
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
