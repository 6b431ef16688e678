/* The certificate on the GPU: right matrices pass, and every single wrong element is found in its
 * row. Graphs with weights below 0 are the host's, whole. Exit 77 without a device. */
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
/* Its rows are more than the device checks at once. */
#define LARGE_VERTICES 4100

static const uint32_t sizes[] = {1, 2, 127, 128, 129, 300, 1000};
static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F4, KIND_F8};

/* What is done to one element. */
enum damage { SMALLER = 0, LARGER, CUT_OFF, REACHED, MOVED, DAMAGE_COUNT };

static const char *const damage_names[DAMAGE_COUNT] = {
    "smaller", "larger", "unreachable", "reached", "not 0 from itself",
};

/* One solved graph. */
struct subject {
    const char *name;
    struct solver *gpu;
    const struct graph *graph;
    struct matrix *matrix;
};

static double get(const struct matrix *matrix, uint32_t row, uint32_t column)
{
    double distance = INFINITY;
    return matrix_distance(matrix, row, column, &distance) ? distance : INFINITY;
}

static void set(struct matrix *matrix, uint32_t row, uint32_t column, double distance)
{
    const size_t index = (size_t)row * matrix->vertex_count + column;
    const bool far = distance == INFINITY;
    switch (matrix->kind) {
    case KIND_I4:
        ((int32_t *)matrix->elements)[index] = far ? UNREACHABLE_I4 : (int32_t)distance;
        break;
    case KIND_U2:
        ((uint16_t *)matrix->elements)[index] = far ? UNREACHABLE_U2 : (uint16_t)distance;
        break;
    case KIND_F4:
        ((float *)matrix->elements)[index] = (float)distance;
        break;
    case KIND_F8:
        ((double *)matrix->elements)[index] = distance;
        break;
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
}

static bool complain(const struct subject *subject, const char *what, enum status status,
                     const struct verification *verification)
{
    fprintf(stderr, "%s n=%u %s, %s: %s; on the device %d, proven %llu of %llu\n", subject->name,
            subject->graph->vertex_count, kind_name(subject->matrix->kind), what,
            status_info(status)->code, (int)verification->on_device,
            (unsigned long long)verification->proven, (unsigned long long)verification->rows);
    return false;
}

/* Whose rows the device proves itself. */
static bool has_no_negative(const struct graph *graph)
{
    return graph->edge_count == 0 || graph->summary.min_weight >= 0;
}

static bool passes(const struct subject *subject, uint32_t row_count)
{
    struct verification verification = {0};
    const uint32_t n = subject->graph->vertex_count;
    const enum status status = solver_certify(subject->gpu, subject->graph, subject->matrix,
                                              row_count, NULL, &verification, NULL);
    const bool right = status == STATUS_OK && verification.done &&
                       verification.on_device == has_no_negative(subject->graph) &&
                       verification.rows == (row_count < n ? row_count : n) &&
                       verification.of == n && verification.edges == subject->graph->edge_count;
    return right || complain(subject, "right", status, &verification);
}

/* row: the one that is wrong. The device leaves exactly it open, and the host names it. */
static bool is_found(const struct subject *subject, const char *damage, uint32_t row)
{
    struct verification verification = {0};
    struct problem problem = {0};
    char name[32];
    const enum status status = solver_certify(subject->gpu, subject->graph, subject->matrix,
                                              UINT32_MAX, NULL, &verification, &problem);
    snprintf(name, sizeof(name), " from %u", row);
    const char *const place = strstr(problem.detail, name);
    const bool left_open = verification.on_device && verification.proven == row;
    const bool found = status == STATUS_NOT_VERIFIED && !verification.done &&
                       left_open == has_no_negative(subject->graph) &&
                       problem.status == STATUS_NOT_VERIFIED && place != NULL &&
                       (place[strlen(name)] == ',' || place[strlen(name)] == ' ');
    return found || complain(subject, damage, status, &verification);
}

/* False when this element cannot be damaged so. By a percent, and by 1 at least: beyond what any
 * kind tolerates. */
static bool choose_value(enum damage damage, bool on_diagonal, double distance, double *ret_value)
{
    const double much = fmax(1, floor(fabs(distance) / 100));
    switch (damage) {
    case SMALLER:
        *ret_value = distance - much;
        return !on_diagonal && distance != INFINITY;
    case LARGER:
        *ret_value = distance + much;
        return !on_diagonal && distance != INFINITY;
    case CUT_OFF:
        *ret_value = INFINITY;
        return distance != INFINITY;
    case REACHED:
        *ret_value = 12345;
        return distance == INFINITY;
    case MOVED:
        *ret_value = 1;
        return on_diagonal;
    case DAMAGE_COUNT:
        break;
    }
    return false;
}

/* 16 bits hold nothing below 0, and 65535 is unreachable. */
static bool fits(enum kind kind, double value)
{
    return kind != KIND_U2 || value == INFINITY || (value >= 0 && value < UNREACHABLE_U2);
}

/* One element of each damage, where the matrix has one to be found in a few tries. */
static bool every_damage_is_found(const struct subject *subject, uint64_t seed)
{
    const uint32_t n = subject->graph->vertex_count;
    bool right = true;
    for (int damage = 0; damage < DAMAGE_COUNT && right; ++damage) {
        for (uint32_t attempt = 0; attempt < 200; ++attempt) {
            const uint32_t row = (uint32_t)shapes_random(&seed, n);
            const uint32_t column = damage == MOVED ? row : (uint32_t)shapes_random(&seed, n);
            const double distance = get(subject->matrix, row, column);
            double value = 0;
            if (choose_value((enum damage)damage, row == column, distance, &value) &&
                fits(subject->matrix->kind, value)) {
                set(subject->matrix, row, column, value);
                right = is_found(subject, damage_names[damage], row);
                set(subject->matrix, row, column, distance);
                break;
            }
        }
    }
    return right;
}

/* NAN where floats are, and what no sum can be where integers are. */
static bool nonsense_is_found(const struct subject *subject)
{
    const double value = kind_is_float(subject->matrix->kind) ? NAN : INT32_MIN;
    const double distance = get(subject->matrix, 0, subject->graph->vertex_count - 1);
    if (subject->matrix->kind == KIND_U2 || subject->graph->vertex_count == 1) {
        return true;
    }
    set(subject->matrix, 0, subject->graph->vertex_count - 1, value);
    const bool found = is_found(subject, "nonsense", 0);
    set(subject->matrix, 0, subject->graph->vertex_count - 1, distance);
    return found;
}

/* Of every other row: one of those is damaged, then one that is not looked at. */
static bool a_sample_sees_its_rows(const struct subject *subject)
{
    const uint32_t n = subject->graph->vertex_count;
    struct verification verification = {0};
    set(subject->matrix, 3, 3, 1);
    const bool unseen = passes(subject, n / 2);
    set(subject->matrix, 3, 3, 0);
    set(subject->matrix, 4, 4, 1);
    const enum status status = solver_certify(subject->gpu, subject->graph, subject->matrix, n / 2,
                                              NULL, &verification, NULL);
    set(subject->matrix, 4, 4, 0);
    return unseen && (status == STATUS_NOT_VERIFIED ||
                      complain(subject, "a row of the sample", status, &verification));
}

static bool try_solved(struct solver *gpu, const char *name, const struct graph *graph,
                       struct matrix *matrix)
{
    const struct subject subject = {name, gpu, graph, matrix};
    return passes(&subject, UINT32_MAX) && passes(&subject, 1) &&
           every_damage_is_found(&subject, graph->vertex_count) && nonsense_is_found(&subject);
}

/* Solved by the CPU in each kind that holds the graph. */
static bool try_list(struct solver *gpu, struct solver *cpu, const char *name,
                     const struct edge_list *list)
{
    struct graph *graph = edge_list_build(list);
    bool right = true;
    for (size_t index = 0; index < sizeof(kinds) / sizeof(kinds[0]) && right; ++index) {
        enum kind kind = KIND_AUTO;
        if (graph_choose_kind(graph, kinds[index], &kind, NULL) != STATUS_OK) {
            continue;
        }
        struct trial trial = trial_run_graph(cpu, graph, kind, false);
        if (trial.status == STATUS_OK) {
            right = try_solved(gpu, name, graph, &trial.matrix);
        } else if (trial.status != STATUS_WEIGHT_RANGE) {
            right = false; /* a distance beyond 16 bits is all that may happen */
        }
        trial_finish(&trial);
    }
    graph_destroy(graph);
    return right;
}

static bool run_shapes(struct solver *gpu, struct solver *cpu)
{
    bool right = true;
    for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]) && right; ++size) {
        for (size_t index = 0; index < shape_count && right; ++index) {
            struct edge_list list = shapes_make(&shapes[index], sizes[size], 11 * index);
            right = try_list(gpu, cpu, shapes[index].name, &list);
            edge_list_finish(&list);
        }
    }
    return right;
}

/* Chains of edges of length 0, both ways and one way: no entry has a nearer neighbour, so that one
 * pass over the edges settles few of them. */
static bool run_zero_chains(struct solver *gpu, struct solver *cpu)
{
    bool right = true;
    for (int directed = 0; directed < 2 && right; ++directed) {
        struct edge_list list = {.vertex_count = 300, .directed = directed != 0};
        for (uint32_t vertex = 1; vertex < 300; ++vertex) {
            edge_list_add(&list, vertex - 1, vertex, vertex % 100 == 0 ? 5 : 0);
        }
        right = try_list(gpu, cpu, "zero chain", &list);
        edge_list_finish(&list);
    }
    return right;
}

/* Vertices on a cycle of length 0 that nothing leads to, said to be reached: each has a tight last
 * edge, from the other. The weights on the cycle are `weight` and -weight. */
static bool cycle_does_not_vouch(struct solver *gpu, struct solver *cpu, double weight,
                                 enum kind kind)
{
    struct edge_list list = {.vertex_count = 200, .directed = true};
    for (uint32_t vertex = 1; vertex < 190; ++vertex) {
        edge_list_add(&list, vertex - 1, vertex, 3);
    }
    edge_list_add(&list, 198, 199, weight);
    edge_list_add(&list, 199, 198, -weight);
    struct graph *graph = edge_list_build(&list);
    struct trial trial = trial_run_graph(cpu, graph, kind, false);
    const struct subject subject = {"cycle", gpu, graph, &trial.matrix};
    bool right = trial.status == STATUS_OK && passes(&subject, UINT32_MAX);
    if (right) {
        set(&trial.matrix, 7, 198, 17);
        set(&trial.matrix, 7, 199, 17 + weight);
        right = is_found(&subject, "a cycle that vouches for itself", 7);
    }
    trial_finish(&trial);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* A weight that vanishes in floats as large as these: entries as far as their neighbours are
 * settled after them, and two of them that nothing else leads to do not vouch for each other. */
static bool run_vanishing_weights(struct solver *gpu, struct solver *cpu)
{
    struct edge_list list = {.vertex_count = 300, .directed = false};
    for (uint32_t vertex = 1; vertex < 300; vertex++) {
        edge_list_add(&list, vertex - 1, vertex, vertex == 150 ? 1e7 : 0.001);
    }
    struct graph *graph = edge_list_build(&list);
    struct trial trial = trial_run_graph(cpu, graph, KIND_F4, false);
    const struct subject subject = {"vanishing", gpu, graph, &trial.matrix};
    bool right = trial.status == STATUS_OK && passes(&subject, UINT32_MAX);
    if (right) {
        for (uint32_t column = 150; column < 300; column++) {
            set(&trial.matrix, 0, column, get(&trial.matrix, 0, column) / 2);
        }
        right = is_found(&subject, "equals that vouch for each other", 0);
    }
    trial_finish(&trial);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

/* A cancel, and rows in several batches. */
static bool run_large(struct solver *gpu, struct solver *cpu)
{
    struct edge_list list = {.vertex_count = LARGE_VERTICES, .directed = true};
    shapes_make_dense(&list, 5);
    struct graph *graph = edge_list_build(&list);
    struct trial trial = trial_run_graph(cpu, graph, KIND_I4, false);
    const struct subject subject = {"large", gpu, graph, &trial.matrix};
    const struct observer observer = {.cancelled = always};
    struct verification verification = {0};
    const bool right = trial.status == STATUS_OK && passes(&subject, UINT32_MAX) &&
                       solver_certify(gpu, graph, &trial.matrix, UINT32_MAX, &observer,
                                      &verification, NULL) == STATUS_CANCELLED &&
                       passes(&subject, 100) && every_damage_is_found(&subject, 5);
    trial_finish(&trial);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool run_sample(struct solver *gpu, struct solver *cpu)
{
    struct edge_list list = shapes_make(&shapes[1], 300, 1);
    struct graph *graph = edge_list_build(&list);
    struct trial trial = trial_run_graph(cpu, graph, KIND_I4, false);
    const struct subject subject = {"sampled", gpu, graph, &trial.matrix};
    const bool right = trial.status == STATUS_OK && a_sample_sees_its_rows(&subject);
    trial_finish(&trial);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool run_empty(struct solver *gpu)
{
    const struct edge_list list = {.directed = true};
    struct graph *graph = edge_list_build(&list);
    struct matrix matrix = {0, KIND_F8, NULL};
    const struct subject subject = {"empty", gpu, graph, &matrix};
    const bool right = passes(&subject, UINT32_MAX);
    graph_destroy(graph);
    return right;
}

static bool run(struct solver *gpu, bool quick)
{
    struct solver *cpu = trial_open_cpu("auto", 0);
    const bool right =
        run_empty(gpu) && run_shapes(gpu, cpu) && run_zero_chains(gpu, cpu) &&
        cycle_does_not_vouch(gpu, cpu, 0, KIND_I4) && cycle_does_not_vouch(gpu, cpu, 4, KIND_I4) &&
        cycle_does_not_vouch(gpu, cpu, 0, KIND_F4) &&
        cycle_does_not_vouch(gpu, cpu, 0.25, KIND_F8) && run_vanishing_weights(gpu, cpu) &&
        run_sample(gpu, cpu) && (quick || run_large(gpu, cpu));
    solver_close(cpu);
    return right;
}

int main(void)
{
    char reason[SOLVER_REASON_SIZE];
    if (solver_gpu_count(reason) == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    struct solver *gpu = NULL;
    struct problem problem = {0};
    if (solver_gpu_open(0, 1, &gpu, &problem) != STATUS_OK) {
        fprintf(stderr, "%s\n", problem.detail);
        return EXIT_FAILURE;
    }
    const bool right = run(gpu, getenv("APSPD_TEST_QUICK") != NULL);
    solver_close(gpu);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
