/* Solves one edge list with one solver, and compares the result with known distances. Failures are
 * printed on standard error and returned as false, so that programs with and without a test
 * framework can use these functions. */
#pragma once

#include "server/solver/solve.h"
#include "tests/solver/edge_list.h"

struct trial {
    enum status status;
    struct matrix matrix; /* the trial owns its elements; NULL unless STATUS_OK */
    struct solve_outcome outcome;
    struct problem problem;
    void *statistics; /* storage of the statistics, which the trial owns */
    bool statistics_same;
    struct scaling scaling; /* how weights were scaled to integers; zero if they were not */
};

/* Solves the edge list. The caller passes the trial to trial_finish, even if it failed. The solve
 * also computes statistics. statistics_same is set if these equal, byte for byte, the statistics
 * that the CPU computes from the returned matrix, or from its scaled integers if the solve
 * used them. */
struct trial trial_run(struct solver *solver, const struct edge_list *list, enum kind kind,
                       bool verify);
struct trial trial_run_graph(struct solver *solver, const struct graph *graph, enum kind kind,
                             bool verify);
void trial_finish(struct trial *trial);

/* Compute and compare statistics in tests that run the solve themselves. Call the first function
 * when the matrix is allocated, and the second when the solve has set status and outcome. */
struct statistics trial_make_statistics(struct trial *trial);
void trial_compare_statistics(struct trial *trial);

/* Returns whether every entry equals its distance: exactly if `relative` is 0, otherwise within
 * that relative tolerance. */
bool trial_matrix_equals(const struct matrix *matrix, const double *distances, double relative);
bool trial_equals(const struct trial *trial, const double *distances, double relative);
/* Returns whether the trial ended with a negative cycle, all of whose edges are in the list. */
bool trial_names_negative_cycle(const struct trial *trial, const struct edge_list *list);
/* Returns whether both trials were solved and have the same matrix. This function and trial_equals
 * also require correct statistics. */
bool trial_same(const struct trial *trial, const struct trial *other);

/* Returns whether APSPD_TEST_QUICK is set. Builds with a slow sanitizer set it, so that tests try
 * fewer sizes. */
bool trial_is_quick(void);
/* Returns the size to test after n vertices: each size up to 70, then sizes around multiples of 16,
 * because the lengths of vectors and tiles are multiples of 16. */
uint32_t trial_next_size(uint32_t n);

/* Opens a CPU solver; ends the program if that fails. */
struct solver *trial_open_cpu(const char *isa, uint32_t threads);

/* CPU solvers: for each kernel that this machine supports, one solver with one thread and one with
 * two threads. */
#define TRIAL_CPUS_MAX 8
extern struct solver *trial_cpus[TRIAL_CPUS_MAX];
extern size_t trial_cpu_count;
/* Set up and tear down a group of test functions; return 0. */
int trial_open_cpus(void **state);
int trial_close_cpus(void **state);
