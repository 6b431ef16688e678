/* Estimate of the time and memory of a solve that has not been submitted: a plain value, and its
 * JSON document. */
#pragma once

#include "proto/kind.h"
#include "proto/plan.h"

#include <stdbool.h>
#include <stdint.h>

#define ESTIMATE_TEXT_SIZE 320

struct estimate {
    uint32_t vertex_count;
    uint64_t edge_count;
    enum kind kind;
    const char *solver; /* "gpu" or "cpu" */
    const char *device;
    uint64_t device_bytes; /* 0 for the CPU solver */
    uint64_t host_bytes;   /* with the graph and the mapped result */
    uint64_t disk_bytes;   /* of the graph file and the result file */
    double seconds;        /* of the solve; below 0 = not known */
    bool planned;          /* of a graph that was looked at: by the plan that it would have */
    struct plan_summary plan;
    uint32_t vertex_limit; /* the largest graph of this kind that is taken */
    uint64_t edge_limit;
    uint64_t free_disk_bytes;
    bool fits;
    char reason[ESTIMATE_TEXT_SIZE]; /* why it does not */
    char hint[ESTIMATE_TEXT_SIZE];   /* what would make it fit */
};

/* JSON text, freed by the caller; NULL when out of memory. */
char *estimate_print(const struct estimate *estimate);
