/* One solve of one edge list by one back end, and its judgement against known distances.
 * Failures are told on standard error and by false, so that programs with and without a test
 * framework can use them. */
#pragma once

#include "server/solver/solve.h"
#include "tests/solver/edge_list.h"

struct trial {
    enum status status;
    struct matrix matrix; /* elements owned, NULL unless STATUS_OK */
    struct solve_outcome outcome;
    struct problem problem;
    void *statistics; /* storage, owned */
    bool statistics_same;
    struct scaling scaling; /* of a graph that solve_graph solved; zero: none */
};

/* To be finished by the caller, whatever its status. Statistics are asked for; statistics_same:
 * they are, byte by byte, what the CPU reduces the matrix that came back to, or the integers of
 * which its distances are a part. */
struct trial trial_run(struct solver *solver, const struct edge_list *list, enum kind kind,
                       bool verify);
struct trial trial_run_graph(struct solver *solver, const struct graph *graph, enum kind kind,
                             bool verify);
void trial_finish(struct trial *trial);

/* For a trial that is run in another way: before it, when the matrix is known, what to ask for; and
 * after it, when status and outcome are. */
struct statistics trial_make_statistics(struct trial *trial);
void trial_compare_statistics(struct trial *trial);

/* Every entry is the distance, to the last bit; with relative > 0 within that part of it. */
bool trial_matrix_equals(const struct matrix *matrix, const double *distances, double relative);
bool trial_equals(const struct trial *trial, const double *distances, double relative);
/* The trial ended with a negative cycle, and these edges have the one it names. */
bool trial_names_negative_cycle(const struct trial *trial, const struct edge_list *list);
/* Both solved, and the same bytes. (This and trial_equals also want the statistics to be right.) */
bool trial_same(const struct trial *trial, const struct trial *other);

/* Whether APSPD_TEST_QUICK is set: a build is slow by its sanitizer, and tries few sizes. */
bool trial_is_quick(void);
/* The size to try after n vertices: each to 70, then those around multiples of 16, as vectors and
 * tiles are multiples of it. */
uint32_t trial_next_size(uint32_t n);

/* A CPU solver; ends the program when it cannot be opened. */
struct solver *trial_open_cpu(const char *isa, uint32_t threads);

/* A CPU solver for each kernel of this machine, on one and on two threads. */
#define TRIAL_CPUS_MAX 8
extern struct solver *trial_cpus[TRIAL_CPUS_MAX];
extern size_t trial_cpu_count;
/* They set up and tear down a group of test functions, and return 0. */
int trial_open_cpus(void **state);
int trial_close_cpus(void **state);
