/* The file that ranks write together. */
#include "proto/npy_header.h"
#include "server/command/command.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define N 3

/* In command.c, whose signals are not tested here. */
bool command_interrupted(void)
{
    return false;
}

static uint32_t highest(void *context, uint32_t value)
{
    (void)context;
    return value;
}

struct fixture {
    char folder[32];
    char path[64];
    struct ranks ranks[2];
    struct output_matrix outputs[2];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/test_output_XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->path, sizeof(fixture->path), "%s/out.npy", fixture->folder);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct problem problem;
        fixture->ranks[rank] = (struct ranks){.rank = rank, .count = 2, .highest = highest};
        assert_int_equal(output_matrix_share(&fixture->outputs[rank], fixture->path, FORMAT_NPY,
                                             KIND_I4, N, &fixture->ranks[rank], &problem),
                         STATUS_OK);
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    for (int rank = 0; rank < 2; rank++) {
        output_matrix_finish(&fixture->outputs[rank]);
    }
    unlink(fixture->path);
    assert_int_equal(rmdir(fixture->folder), 0);
    free(fixture);
    return 0;
}

/* Over NFS a host that does sends whole pages, and with them stale rows of others. */
static void no_rank_reads_what_it_writes_by_or_writes_to_a_mapping(void **state)
{
    const struct fixture *fixture = *state;
    for (int rank = 0; rank < 2; rank++) {
        const int file = fixture->ranks[rank].file;
        struct stat about;
        assert_int_equal(fcntl(file, F_GETFL) & O_ACCMODE, O_WRONLY);
        assert_int_equal(fstat(file, &about), 0);
        assert_int_equal(about.st_size, NPY_HEADER_SIZE + N * N * 4);
    }
    assert_null(fixture->outputs[1].mapping);
    /* A system call cannot write where the process cannot. */
    const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(zeros, fixture->outputs[0].mapping, 1), -1);
    close(zeros);
}

static void rows_of_all_ranks_are_behind_the_head(void **state)
{
    struct fixture *fixture = *state;
    const int32_t rows[N][N] = {{0, 1, 2}, {3, 0, 4}, {5, 6, 0}};
    char expected[NPY_HEADER_SIZE];
    char found[NPY_HEADER_SIZE + sizeof(rows)];
    struct problem problem;
    for (uint64_t row = 0; row < N; row++) {
        const struct ranks *ranks = &fixture->ranks[row % 2];
        assert_int_equal(pwrite(ranks->file, rows[row], sizeof(rows[row]),
                                (off_t)(ranks->file_offset + row * sizeof(rows[row]))),
                         sizeof(rows[row]));
    }
    assert_memory_equal(fixture->outputs[0].matrix.elements, rows, sizeof(rows));
    for (int rank = 1; rank >= 0; rank--) {
        assert_int_equal(
            output_matrix_close_rank(&fixture->outputs[rank], &fixture->ranks[rank], &problem),
            STATUS_OK);
        assert_int_equal(output_matrix_commit(&fixture->outputs[rank], NULL, &problem), STATUS_OK);
    }
    npy_header_write(KIND_I4, N, N, (unsigned char *)expected);
    const int file = open(fixture->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, found, sizeof(found)), sizeof(found));
    close(file);
    assert_memory_equal(found, expected, sizeof(expected));
    assert_memory_equal(found + NPY_HEADER_SIZE, rows, sizeof(rows));
}

static void a_failure_that_shows_at_the_end_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct problem problem;
    close(fixture->outputs[1].file.file);
    assert_int_equal(output_matrix_close_rank(&fixture->outputs[1], &fixture->ranks[1], &problem),
                     STATUS_IO);
    assert_non_null(strstr(problem.detail, "cannot write"));
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(no_rank_reads_what_it_writes_by_or_writes_to_a_mapping),
        FIXTURE_TEST(rows_of_all_ranks_are_behind_the_head),
        FIXTURE_TEST(a_failure_that_shows_at_the_end_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
