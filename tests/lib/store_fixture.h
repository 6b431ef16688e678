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

/* Defines a test function whose fixture is a temporary folder. */
#define FIXTURE_TEST(name)                                                                         \
    TEST_FIXTURE(name, struct fixture *fixture, fixture_setup, fixture_teardown)

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Makes a directed path of n vertices, named from 1, whose edge i has weight first_weight + i. */
struct graph *fixture_path_graph(uint32_t vertex_count, enum weight_type type, int first_weight);

/* Returns the number of files in a subfolder of the fixture's folder. */
size_t fixture_count_files(const struct fixture *fixture, const char *name);

/* Opens the store in "state" below the fixture's folder. */
struct store *fixture_open_store(const struct fixture *fixture);

/* Done function for a change: posts the semaphore that the change has as its context. */
void fixture_post(struct store_change *change);

/* Submits one change to the store and waits until it is done. */
enum status fixture_apply(struct store *store, struct store_change *change);

/* Makes an unpublished result: a matrix of kind i4 whose entries are all 0. */
struct result *fixture_make_result(struct store *store, const char *graph_id, const char *etag,
                                   uint32_t vertex_count);

/* Changes one byte of a file; a negative offset counts from the end of the file. */
void fixture_flip(int folder, const char *name, off_t offset);
