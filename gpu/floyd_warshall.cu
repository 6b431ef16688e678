/* Runs one solve, from the graph to the caller's matrix, by the dense plan or a plan that omits
 * tiles, on one device, a group of devices, or ranks. The number format depends on the kind of the
 * result, the graph and the options. */
#include "gpu/group.cuh"

/* Solves for an i4 or u2 result, in 16-bit arithmetic if it suffices, else in 32-bit arithmetic. */
template <typename result> MUST_CHECK static enum status run_integer(const struct solve *solve)
{
    return solve->options->narrow && !solve->small &&
                   solve->graph->vertex_count >= solve->gpu->tuning.narrow_vertices
               ? group_run<semiring_u2, result>(solve)
               : group_run<semiring_i4, result>(solve);
}

MUST_CHECK static enum status run_kind(const struct solve *solve)
{
    const bool any_sign = solve->graph->summary.negative;
    switch (solve_computed_kind(solve->options, solve->result->kind)) {
    case KIND_I4:
        return run_integer<int32_t>(solve);
    case KIND_U2:
        return run_integer<uint16_t>(solve);
    case KIND_F4:
        return any_sign ? group_run<semiring_f4_signed, float>(solve)
                        : group_run<semiring_f4, float>(solve);
    case KIND_F8:
        return group_run<semiring_f8, double>(solve);
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    CHECK(false);
    return STATUS_BAD_PARAMETER;
}

/* Stops the kernels that may still run after a cancellation or an error, and waits for them,
 * because the next solve reuses their memory. Stops all members of a group before it waits, because
 * members wait for each other. An error here takes precedence over the solve's status. */
MUST_CHECK static enum status drain_devices(const struct gpu *group)
{
    for (uint32_t i = 0; i < group->member_count; i++) {
        struct gpu *gpu = group->members[i];
        GPU_TRY(cudaSetDevice(gpu->ordinal));
        GPU_TRY(cudaMemcpyAsync(gpu->control, gpu->stop, sizeof(*gpu->stop), cudaMemcpyHostToDevice,
                                gpu->alarm_stream));
        GPU_TRY(cudaStreamSynchronize(gpu->alarm_stream));
    }
    for (uint32_t i = 0; i < group->member_count; i++) {
        struct gpu *gpu = group->members[i];
        for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
            GPU_TRY(cudaStreamSynchronize(gpu->half[half]));
        }
        GPU_TRY(cudaStreamSynchronize(gpu->stream));
    }
    return STATUS_OK;
}

enum status gpu_solve(struct gpu *gpu, const struct graph *graph, const struct plan *plan,
                      const struct solve_options *options, const struct observer *observer,
                      struct matrix *matrix, struct solve_account *account)
{
    CHECK(plan->tile == GPU_TILE && plan->vertex_count == graph->vertex_count);
    CHECK(matrix->vertex_count == graph->vertex_count);
    if (graph->vertex_count == 0) {
        return STATUS_OK;
    }
    struct solve solve = {};
    solve.gpu = gpu;
    solve.graph = graph;
    solve.plan = plan;
    solve.options = options;
    solve.observer = observer;
    solve.result = matrix;
    solve.account = account;
    solve.small =
        plan->summary.kind == PLAN_DENSE && graph->vertex_count <= gpu->tuning.small_vertices;
    solve.ranks = group_has_ranks(&solve) ? gpu->ranks : NULL;
    STATUS_TRY(ranks_agree(gpu->ranks, try_translate(cudaSetDevice(gpu->ordinal))));
    enum status status = STATUS_OK;
    if (solve.ranks != NULL || ranks_is_first(gpu->ranks)) {
        status = run_kind(&solve);
        /* A successful solve has already waited for all of its kernels. */
        const enum status drained = status == STATUS_OK ? STATUS_OK : drain_devices(gpu);
        for (uint32_t i = 0; i < gpu->member_count; i++) {
            (void)cudaSetDevice(gpu->members[i]->ordinal);
            workspace_release(gpu->members[i]);
        }
        status = drained == STATUS_OK ? status : drained;
    }
    return ranks_agree(gpu->ranks, status);
}
