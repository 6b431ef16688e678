/* Random graphs of integers beside an exact oracle in 128 bits: weights near the limits of
 * every kind, sums beyond the limits, and negative cycles, whose entries grow without end in a
 * solver that does not detect them.
 *
 *   campaign_solves [GRAPHS [SEED]]
 *
 * Each graph is solved by a back end and in a kind that chance chooses. Correct are
 * distances equal to the last bit; a negative cycle, named, if and only if the graph has one; and a
 * refusal only if a sum could leave the range of the kind. Then, of dense graphs with a cycle in
 * one block, how many rounds were begun after that block's. The exit status is 1 when anything was
 * not so. */
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VERTICES_MOST 150
#define BLOCKS 6
#define LATE_GRAPHS 300

__extension__ typedef __int128 wide;
#define UNREACHED ((wide)1 << 100)

static const char *const fates[] = {"solved", "refused", "with a negative cycle"};
enum fate { FATE_SOLVED, FATE_REFUSED, FATE_CYCLE };

static uint64_t seed;
static uint64_t counts[3];
static uint64_t wrong;

static uint64_t draw(uint64_t limit)
{
    return shapes_random(&seed, limit);
}

/* ---- Graphs ---- */

/* Small graphs, or graphs so large that paths of n edges reach about the limit of a kind. */
static int64_t draw_scale(uint32_t n)
{
    static const int64_t limits[] = {INT64_C(1) << 16, INT64_C(1) << 29, INT64_C(1) << 30,
                                     INT64_C(1) << 31, INT64_C(1) << 53};
    const int64_t limit = limits[draw(sizeof limits / sizeof limits[0])];
    const int64_t about = limit / (int64_t)(1 + draw(2 * n)) + (int64_t)draw(3) - 1;

    if (draw(3) == 0) {
        return 1 + (int64_t)draw(20);
    }
    return about < 1 ? 1 : about < (INT64_C(1) << 53) ? about : (INT64_C(1) << 53) - 1;
}

static int64_t draw_weight(int64_t scale)
{
    return draw(4) == 0 ? scale : (int64_t)draw((uint64_t)scale + 1);
}

/* Signs: no negative weights; potentials, with negative weights but no negative cycle; arbitrary;
 * or all positive except for a cycle slightly below zero. */
static struct edge_list draw_graph(void)
{
    const uint32_t n = 1 + (uint32_t)draw(draw(16) == 0 ? VERTICES_MOST : 20);
    const uint64_t count = draw(5 * n);
    const int64_t scale = draw_scale(n);
    const uint64_t signs = draw(5);
    int64_t potentials[VERTICES_MOST];
    struct edge_list list = {.vertex_count = n, .directed = draw(4) > 0};

    for (uint32_t v = 0; v < n; v++) {
        potentials[v] = signs == 1 && list.directed ? (int64_t)draw((uint64_t)scale) : 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t source = (uint32_t)draw(n);
        const uint32_t target = (uint32_t)draw(n);
        int64_t weight = draw_weight(scale);

        weight = signs == 2 && draw(2 * n) == 0 ? -weight : weight;
        weight += potentials[source] - potentials[target];
        weight = weight >= INT64_C(1) << 53 ? (INT64_C(1) << 53) - 1 : weight;
        edge_list_add(&list, source, target, (double)weight);
    }
    if (signs == 3) {
        shapes_add_negative_cycle(&list, draw(UINT64_MAX));
    }
    return list;
}

/* ---- The oracle ---- */

static bool relax(const struct edge_list *list, wide *d)
{
    bool changed = false;

    for (size_t i = 0; i < list->count; i++) {
        const struct edge edge = list->edges[i];
        const wide weight = (wide)edge.weight;

        if (d[edge.source] + weight < d[edge.target]) {
            d[edge.target] = d[edge.source] + weight;
            changed = true;
        }
        if (!list->directed && d[edge.target] + weight < d[edge.source]) {
            d[edge.source] = d[edge.target] + weight;
            changed = true;
        }
    }
    return changed;
}

/* Starts at every vertex at once: changes after n rounds are on a cycle. */
static bool has_cycle(const struct edge_list *list)
{
    wide d[VERTICES_MOST] = {0};

    for (uint32_t round = 0; round < list->vertex_count; round++) {
        if (!relax(list, d)) {
            return false;
        }
    }
    return relax(list, d);
}

/* Bellman-Ford from one vertex of a graph without a negative cycle. */
static void solve_row(const struct edge_list *list, uint32_t source, wide *d)
{
    for (uint32_t v = 0; v < list->vertex_count; v++) {
        d[v] = v == source ? 0 : UNREACHED;
    }
    while (relax(list, d)) {
    }
}

static bool is_reached(wide distance)
{
    return distance < UNREACHED / 2;
}

/* ---- Judgement ---- */

static void complain(const struct edge_list *list, enum kind kind, const char *words)
{
    if (wrong++ < 10) {
        printf("WRONG: %u vertices, %zu edges, kind %s: %s\n", list->vertex_count, list->count,
               kind_name(kind), words);
    }
}

static double most_of(const struct edge_list *list)
{
    double most = 0;

    for (size_t i = 0; i < list->count; i++) {
        most = fmax(most, fabs(list->edges[i].weight));
    }
    return most;
}

static bool is_negative(const struct edge_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->edges[i].weight < 0) {
            return true;
        }
    }
    return false;
}

/* Whether the matrix may not contain this distance. */
static bool leaves(const struct edge_list *list, double limit)
{
    wide d[VERTICES_MOST];

    for (uint32_t row = 0; row < list->vertex_count; row++) {
        solve_row(list, row, d);
        for (uint32_t column = 0; column < list->vertex_count; column++) {
            if (is_reached(d[column]) && d[column] >= (wide)limit) {
                return true;
            }
        }
    }
    return false;
}

static bool may_be_refused(const struct edge_list *list, enum kind kind, bool cycle)
{
    const double bound = most_of(list) * list->vertex_count;
    const double limit = kind == KIND_AUTO ? 0x1p53 : 0x1p29;

    return bound >= limit ||
           (kind == KIND_U2 && (is_negative(list) || cycle || leaves(list, UNREACHABLE_U2)));
}

static bool equals(const struct edge_list *list, const struct matrix *matrix)
{
    wide d[VERTICES_MOST];

    for (uint32_t row = 0; row < list->vertex_count; row++) {
        solve_row(list, row, d);
        for (uint32_t column = 0; column < list->vertex_count; column++) {
            double told = 0;
            const bool reached = matrix_distance(matrix, row, column, &told);

            if (reached != is_reached(d[column]) || (reached && (wide)told != d[column])) {
                return false;
            }
        }
    }
    return true;
}

static void judge(const struct edge_list *list, enum kind kind, const struct trial *trial)
{
    const bool cycle = has_cycle(list);

    if (trial->status == STATUS_WEIGHT_RANGE) {
        counts[FATE_REFUSED]++;
        if (!may_be_refused(list, kind, cycle)) {
            complain(list, kind, "refused without need");
        }
    } else if (trial->status == STATUS_NEGATIVE_CYCLE) {
        counts[FATE_CYCLE]++;
        if (!cycle || !trial_names_negative_cycle(trial, list)) {
            complain(list, kind, "a negative cycle that is none");
        }
    } else {
        counts[FATE_SOLVED]++;
        if (trial->status != STATUS_OK || cycle || !trial->statistics_same ||
            !equals(list, &trial->matrix)) {
            complain(list, kind, cycle ? "a negative cycle was not seen" : "not the distances");
        }
    }
}

static void try_one(struct solver *solver)
{
    static const enum kind kinds[] = {KIND_AUTO, KIND_AUTO, KIND_I4, KIND_U2};
    const enum kind kind = kinds[draw(sizeof kinds / sizeof kinds[0])];
    struct edge_list list = draw_graph();
    struct graph *graph = edge_list_build(&list);
    struct trial trial = {0};
    enum kind chosen = kind;

    trial.status = graph_choose_kind(graph, kind, &chosen, &trial.problem);
    if (trial.status == STATUS_OK) {
        trial = trial_run_graph(solver, graph, chosen, draw(4) == 0);
    }
    judge(&list, kind, &trial);
    trial_finish(&trial);
    graph_destroy(graph);
    edge_list_finish(&list);
}

/* ---- How late ---- */

static void count_round(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    uint32_t *rounds = context;

    (void)rounds_total;
    *rounds = rounds_done;
}

static bool go_on(void *context)
{
    (void)context;
    return false;
}

/* Number of rounds that were begun after that of the block with the cycle. */
static uint32_t rounds_late(struct solver *solver)
{
    const uint32_t tile = solver->class_->tile;
    const uint32_t block = (uint32_t)draw(BLOCKS);
    const uint32_t first = block * tile + (uint32_t)draw(tile - 1);
    struct edge_list list = {.vertex_count = BLOCKS * tile, .directed = true};
    uint32_t rounds = 0;
    const struct observer observer = {
        .context = &rounds, .progress = count_round, .cancelled = go_on};
    const struct solve_request request = {.kind = KIND_I4, .observer = &observer};
    struct matrix matrix = {list.vertex_count, KIND_I4, NULL};
    struct solve_outcome outcome = {0};
    struct problem problem;

    for (uint32_t v = 0; v < list.vertex_count; v++) {
        for (int i = 0; i < 4; i++) {
            edge_list_add(&list, v, (uint32_t)draw(list.vertex_count), 1000 + (double)draw(1000));
        }
    }
    edge_list_add(&list, first, first + 1, 1);
    edge_list_add(&list, first + 1, first, -2);
    struct graph *graph = edge_list_build(&list);
    matrix.elements = malloc(sizeof(int32_t) * list.vertex_count * list.vertex_count);
    CHECK(matrix.elements != NULL);
    const enum status status = solve_graph(solver, graph, &request, &matrix, &outcome, &problem);
    if (status != STATUS_NEGATIVE_CYCLE) {
        complain(&list, KIND_I4, "a negative cycle was not seen");
    }
    solve_outcome_finish(&outcome);
    free(matrix.elements);
    graph_destroy(graph);
    edge_list_finish(&list);
    return rounds > block ? rounds - block : 0;
}

int main(int argc, char **argv)
{
    const uint64_t graphs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    uint32_t latest = 0;

    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    (void)trial_open_cpus(NULL);
    const size_t count = trial_cpu_count;
    for (uint64_t i = 0; i < graphs; i++) {
        try_one(trial_cpus[draw(count)]);
    }
    for (int i = 0; i < LATE_GRAPHS; i++) {
        struct solver *solver = trial_cpus[draw(count)];

        solver->dense_only = true;
        const uint32_t late = rounds_late(solver);
        latest = late > latest ? late : latest;
    }
    (void)trial_close_cpus(NULL);
    printf("%" PRIu64 " graphs by %zu back ends:", graphs, count);
    for (size_t fate = 0; fate < sizeof fates / sizeof fates[0]; fate++) {
        printf(" %" PRIu64 " %s,", counts[fate], fates[fate]);
    }
    printf(" %" PRIu64 " wrong; of %d cycles the latest seen %u rounds behind its block's\n", wrong,
           LATE_GRAPHS, latest);
    return wrong > 0 || latest > 1;
}
