/* One solve of one edge list by one solver, and its comparison with known distances. Failures are
 * printed on standard error and returned as false, so that programs with and without a test
 * framework can use these functions. */
#pragma once

#include "server/solver/solve.h"
#include "tests/solver/edge_list.h"

struct trial {
    enum status status;
    struct matrix matrix; /* elements are owned; NULL unless STATUS_OK */
    struct solve_outcome outcome;
    struct problem problem;
    void *statistics; /* storage, owned */
    bool statistics_same;
    struct scaling scaling; /* decimals of a graph that solve_graph solved; zeroed: none */
};

/* The caller passes the trial to trial_finish, whatever its status. The solve also computes
 * statistics; statistics_same says whether they equal, byte by byte, the CPU's statistics of the
 * returned matrix, or of the integers that its distances represent. */
struct trial trial_run(struct solver *solver, const struct edge_list *list, enum kind kind,
                       bool verify);
struct trial trial_run_graph(struct solver *solver, const struct graph *graph, enum kind kind,
                             bool verify);
void trial_finish(struct trial *trial);

/* For tests that run the solve themselves. Call the first function before the solve, once the
 * matrix is allocated, and the second after it, once status and outcome are known. */
struct statistics trial_make_statistics(struct trial *trial);
void trial_compare_statistics(struct trial *trial);

/* Returns whether every entry equals the distance bit for bit, or within the relative tolerance if
 * the tolerance is above 0. */
bool trial_matrix_equals(const struct matrix *matrix, const double *distances, double relative);
bool trial_equals(const struct trial *trial, const double *distances, double relative);
/* Returns whether the trial ended with a negative cycle that consists of these edges. */
bool trial_names_negative_cycle(const struct trial *trial, const struct edge_list *list);
/* Returns whether both trials were solved and have the same matrix. This function and trial_equals
 * also require correct statistics. */
bool trial_same(const struct trial *trial, const struct trial *other);

/* Returns whether APSPD_TEST_QUICK is set: the build is slow because of a sanitizer, so fewer sizes
 * are tested. */
bool trial_is_quick(void);
/* Returns the size to test after n vertices: each size up to 70, then sizes around multiples of 16,
 * because the lengths of vectors and tiles are multiples of 16. */
uint32_t trial_next_size(uint32_t n);

/* Opens a CPU solver; ends the program if that fails. */
struct solver *trial_open_cpu(const char *isa, uint32_t threads);

/* CPU solvers for each kernel of this machine, alternately with one and with two threads. */
#define TRIAL_CPUS_MAX 8
extern struct solver *trial_cpus[TRIAL_CPUS_MAX];
extern size_t trial_cpu_count;
/* Set up and tear down a group of test functions; return 0. */
int trial_open_cpus(void **state);
int trial_close_cpus(void **state);
