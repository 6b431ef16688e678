#include "server/command/graph_input.h"
#include "server/command/output.h"
#include "server/solver/cpu/pool.h"
#include "server/solver/plan/planner.h"
#include "server/solver/solver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JSON = GRAPH_INPUT_COUNT, OUT };

static const struct command_flag flags[] = {
    GRAPH_INPUT_FLAGS,
    [JSON] = {"json", NULL, "Print one JSON object instead of the summary."},
    [OUT] = {"out", "FILE.svg",
             "Draw the tiles, by the round that first writes to them, with parts and\n"
             "      separators on the diagonal."},
    {NULL, NULL, NULL},
};

struct planning {
    struct command_call *call;
    struct graph *graph;
    struct graph *folded;       /* NULL where it cannot be */
    const struct graph *solved; /* one of the two */
    struct plan_cost cost;
    double expected_s;  /* to solve by the plan */
    double dense_s;     /* by the dense plan */
    const char *solver; /* whose figures choose the plan */
    bool dense_only;    /* by solver.plans */
    struct plan *plan;
};

/* The figures of the solver that would be opened; assumed ones where its device is not here. */
static void choose_figures(struct planning *planning)
{
    const struct graph *graph = planning->solved;
    const struct solver_config *config = &planning->call->config->solver;
    const struct solve_options options = {.symmetric = !graph->directed};
    const uint32_t threads = config->cpu_threads > 0 ? config->cpu_threads : cpu_pool_cores();
    struct problem problem = {0};
    struct solver *solver = NULL;
    enum kind kind = KIND_AUTO;
    planning->solver = config->choice == SOLVER_GPU ? "gpu" : "cpu";
    if (solver_open(config, &solver, &problem) == STATUS_OK) {
        planning->solver = solver->class_->name;
        planning->dense_only = solver->dense_only;
    }
    if (solver != NULL && solver->class_->plan_cost != NULL &&
        graph_choose_kind(graph, KIND_AUTO, &kind, &problem) == STATUS_OK) {
        solver->class_->plan_cost(solver, graph, kind, &options, &planning->cost);
    } else {
        planning->cost = strcmp(planning->solver, "gpu") == 0 ? plan_cost_of_gpu(threads)
                                                              : plan_cost_of_cpu(threads);
    }
    solver_close(solver);
}

/* Folds and plans as solve_graph does. */
static enum status make_plan(struct planning *planning, struct problem *reterr)
{
    enum status status = graph_fold(planning->graph, &planning->folded);
    planning->solved = planning->folded != NULL ? planning->folded : planning->graph;
    if (status == STATUS_OK) {
        choose_figures(planning);
        status = planning->dense_only
                     ? planner_dense(planning->solved->vertex_count, planning->cost.tile,
                                     &planning->plan)
                     : planner_make(planning->solved, &planning->cost, NULL, &planning->plan);
    }
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "not enough memory for the plan");
    }
    const bool symmetric = !planning->solved->directed;
    planning->dense_s = plan_cost_dense(&planning->cost, planning->solved->vertex_count, symmetric);
    planning->expected_s =
        planning->plan->expected_s > 0 ? planning->plan->expected_s : planning->dense_s;
    return STATUS_OK;
}

static void print_summary(const struct planning *planning)
{
    const struct graph *graph = planning->graph;
    const struct plan *plan = planning->plan;
    const struct plan_summary *summary = &plan->summary;
    printf("%u vertices, %" PRIu64 " edges, %s, for the %s solver\n", plan->vertex_count,
           graph->edge_count, graph->directed ? "directed" : "undirected", planning->solver);
    printf("plan: %s, %u parts, largest separator %u, %.4g %% of the dense plan's work\n",
           plan_kind_name(summary->kind), summary->parts, summary->largest_separator,
           100 * summary->work_fraction);
    printf("%u x %u tiles of up to %u (%" PRIu64 " when padded), %u rounds, %zu products\n",
           plan->tile_count, plan->tile_count, plan->tile, (uint64_t)plan->tile_count * plan->tile,
           plan->round_count, plan->product_count);
    printf("planned in %.4f s; expected to solve in %.4g s, %.4g s by the dense plan\n",
           summary->planning_s, planning->expected_s, planning->dense_s);
}

/* The tile behind the last one of the part. */
static uint32_t part_end(const struct plan *plan, uint32_t part)
{
    return part + 1 < plan->summary.parts ? plan->parts[part + 1].tile : plan->tile_count;
}

static uint32_t part_count(const struct plan *plan)
{
    return plan->parts != NULL ? plan->summary.parts : 0;
}

static enum status print_json(const struct planning *planning, struct problem *reterr)
{
    const struct plan *plan = planning->plan;
    json_t *parts = json_array();
    for (uint32_t i = 0; i < part_count(plan); i++) {
        const struct plan_part *part = &plan->parts[i];
        json_array_append_new(
            parts,
            json_pack("{s:I,s:I,s:I,s:o}", "begin", (json_int_t)part->tile, "end",
                      (json_int_t)part_end(plan, i), "height", (json_int_t)part->height, "above",
                      part->above != PLAN_NO_PART ? json_integer(part->above) : json_null()));
    }
    json_t *document = json_pack(
        "{s:{s:I,s:I,s:b},s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:o}", "graph", "n",
        (json_int_t)plan->vertex_count, "m", (json_int_t)planning->graph->edge_count, "directed",
        planning->graph->directed, "solver", planning->solver, "plan",
        plan_summary_json(&plan->summary), "tile", (json_int_t)plan->tile, "tiles",
        (json_int_t)plan->tile_count, "padded", (json_int_t)plan->tile_count * plan->tile, "rounds",
        (json_int_t)plan->round_count, "products", (json_int_t)plan->product_count, "expected_s",
        planning->expected_s, "dense_s", planning->dense_s, "parts", parts);
    const enum status status = command_print_json(document, stdout);
    return status == STATUS_OK ? STATUS_OK : problem_set(reterr, status, "cannot print the plan");
}

/* The picture: the matrix as a square of cells, of one tile each or, in large plans, of several. */
#define SIDE 720
#define MARGIN 20
#define TOP 60
#define CELLS_MAX 240
#define NEVER UINT32_MAX

struct picture {
    const struct plan *plan;
    uint32_t tiles_per_cell;
    uint32_t cell_count;   /* along an edge */
    uint32_t *first_round; /* by cell: 0 = has an edge, r + 1 = first written to in round r */
};

/* A cell of several tiles shows the earliest round of any of them. */
static void note_tile(struct picture *picture, uint32_t row_tile, uint32_t column_tile,
                      uint32_t first_round)
{
    const size_t row = row_tile / picture->tiles_per_cell;
    uint32_t *cell =
        &picture->first_round[row * picture->cell_count + column_tile / picture->tiles_per_cell];
    *cell = first_round < *cell ? first_round : *cell;
}

/* A dense plan lists neither tiles nor rounds: all of its tiles count as having edges. */
static void note_tiles(struct picture *picture)
{
    const struct plan *plan = picture->plan;
    const size_t tiles = plan->tile_count;
    for (size_t bit = 0; bit < tiles * tiles; bit++) {
        if (plan->edge_tiles == NULL || (plan->edge_tiles[bit / 64] >> bit % 64 & 1) != 0) {
            note_tile(picture, (uint32_t)(bit / tiles), (uint32_t)(bit % tiles), 0);
        }
    }
    for (uint32_t i = 0; plan->rounds != NULL && i < plan->round_count; i++) {
        const struct plan_round *round = &plan->rounds[i];
        for (uint32_t j = 0; j < round->target_count; j++) {
            const struct plan_target *target = &round->targets[j];
            if (target->fresh) {
                note_tile(picture, target->row_tile, target->column_tile, i + 1);
            }
            if (target->fresh && plan->symmetric) {
                note_tile(picture, target->column_tile, target->row_tile, i + 1);
            }
        }
    }
}

/* Neighbours of one colour are one rectangle. */
static void draw_row(const struct picture *picture, uint32_t row, struct text *text)
{
    const uint32_t *cells = picture->first_round + (size_t)row * picture->cell_count;
    const double side = (double)SIDE / picture->cell_count;
    for (uint32_t begin = 0, end; begin < picture->cell_count; begin = end) {
        for (end = begin + 1; end < picture->cell_count && cells[end] == cells[begin];) {
            end++;
        }
        if (cells[begin] == NEVER) {
            continue;
        }
        const double late = (double)cells[begin] / (picture->plan->round_count + 1);
        text_printf(text,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill=\"hsl(%.0f,70%%,%.0f%%)\"/>\n",
                    MARGIN + begin * side, TOP + row * side, (end - begin) * side, side,
                    280 - 230 * late, cells[begin] == 0 ? 15 : 35 + 25 * late);
    }
}

/* A frame on the diagonal: a part of the dissection, or a separator in another colour. */
static void draw_part(const struct plan *plan, uint32_t part, struct text *text)
{
    const uint32_t begin = plan->parts[part].tile;
    const uint32_t end = part_end(plan, part);
    const bool is_separator = plan->parts[part].height > 0;
    const double scale = (double)SIDE / plan->tile_count;
    text_printf(text,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill-opacity=\"0\" "
                "stroke=\"%s\"><title>%s of %u vertices in %u tiles</title></rect>\n",
                MARGIN + begin * scale, TOP + begin * scale, (end - begin) * scale,
                (end - begin) * scale, is_separator ? "#d55e00" : "#0072b2",
                is_separator ? "separator" : "part",
                plan->tile_begin[end] - plan->tile_begin[begin], end - begin);
}

/* Draws into memory, as a picture has at most CELLS_MAX^2 cells, and writes the file at once. */
static enum status draw_plan(const struct planning *planning, struct problem *reterr)
{
    const struct plan *plan = planning->plan;
    const uint32_t tiles_per_cell = plan->tile_count / CELLS_MAX + 1;
    struct picture picture = {
        .plan = plan,
        .tiles_per_cell = tiles_per_cell,
        .cell_count = (plan->tile_count + tiles_per_cell - 1) / tiles_per_cell,
    };
    const size_t size = (size_t)picture.cell_count * picture.cell_count * sizeof(uint32_t);
    struct output_file output = {.file = -1};
    struct text text = {0};
    picture.first_round = malloc(size + 1);
    if (picture.first_round == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "not enough memory for the picture");
    }
    memset(picture.first_round, 0xFF, size);
    note_tiles(&picture);
    text_printf(&text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                "shape-rendering=\"crispEdges\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                "<text x=\"%d\" y=\"25\" font-family=\"sans-serif\" font-size=\"14\">%u vertices, "
                "%u x %u tiles of up to %u, %u rounds, %.3g %% of the work\n"
                "<tspan x=\"%d\" dy=\"20\">dark: has an edge; else by the round that first writes "
                "to it, from violet to yellow; orange frames: separators</tspan></text>\n",
                SIDE + 2 * MARGIN, SIDE + TOP + MARGIN, MARGIN, plan->vertex_count,
                plan->tile_count, plan->tile_count, plan->tile, plan->round_count,
                100 * plan->summary.work_fraction, MARGIN);
    for (uint32_t row = 0; row < picture.cell_count; row++) {
        draw_row(&picture, row, &text);
    }
    for (uint32_t part = 0; part < part_count(plan); part++) {
        draw_part(plan, part, &text);
    }
    text_append_string(&text, "</svg>\n");
    free(picture.first_round);
    planning->call->problem_path = planning->call->values[OUT];
    enum status status = output_file_open(&output, planning->call->values[OUT], reterr);
    if (status == STATUS_OK) {
        status = output_file_flush(&output, &text, 0, reterr);
    }
    if (status == STATUS_OK) {
        status = output_file_commit(&output, reterr);
    }
    output_file_finish(&output);
    text_finish(&text);
    return status;
}

static enum status run_plan(struct command_call *call, struct problem *reterr)
{
    struct planning planning = {.call = call};
    double parse_s;
    command_watch_signals();
    enum status status = graph_input_read(call, &planning.graph, &parse_s, reterr);
    if (status == STATUS_OK) {
        status = make_plan(&planning, reterr);
    }
    if (status == STATUS_OK && call->values[OUT] != NULL) {
        status = draw_plan(&planning, reterr);
    }
    if (status == STATUS_OK && call->values[JSON] != NULL) {
        status = print_json(&planning, reterr);
    } else if (status == STATUS_OK) {
        print_summary(&planning);
    }
    plan_destroy(planning.plan);
    graph_fold_destroy(planning.folded);
    graph_destroy(planning.graph);
    return status;
}

const struct command command_plan = {
    .name = "plan",
    .operand_names = {"GRAPH"},
    .summary = "Prints how GRAPH would be solved: its parts and separators, the work that is\n"
               "left of n^3, and the seconds expected, for the solver that is chosen. --solver\n"
               "gpu plans without a device too, by the figures of a large one.",
    .flags = flags,
    .run = run_plan,
};
