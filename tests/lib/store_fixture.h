/* Fixtures for the tests of the store: a temporary folder, and small graphs. */
#pragma once

#include "proto/graph.h"
#include "server/store/store.h"
#include "tests/lib/folder_fixture.h"
#include "tests/lib/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char path[512];
    int folder;
};

/* A test with a temporary folder. */
#define FIXTURE_TEST(name)                                                                         \
    TEST_FIXTURE(name, struct fixture *fixture, fixture_setup, fixture_teardown)

int fixture_setup(void **state);

int fixture_teardown(void **state);

/* A directed path 0 -> 1 -> ... -> n-1; edge i weighs first_weight + i. Names count from 1. */
struct graph *fixture_path_graph(uint32_t vertex_count, enum weight_type type, int first_weight);

/* The number of files in a folder below the fixture's. */
size_t fixture_count_files(const struct fixture *fixture, const char *name);

/* Opens the store in "state" below the fixture's folder. */
struct store *fixture_open_store(const struct fixture *fixture);

/* The done function of a change: posts the semaphore that is its context. */
void fixture_post(struct store_change *change);

/* Carries out one change and waits for it. */
enum status fixture_apply(struct store *store, struct store_change *change);

/* An unpublished matrix of zeros, of kind i4. */
struct result *fixture_make_result(struct store *store, const char *graph_id, const char *etag,
                                   uint32_t vertex_count);

/* Changes one byte of a file, counted from its end when offset is negative. */
void fixture_flip(int folder, const char *name, off_t offset);
