#include "server/store/coordinates_file.h"

#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT 10

static struct coordinates_info put(const struct fixture *fixture, const char *id, double x)
{
    struct coordinates *coordinates = NULL;
    struct coordinates_info info;
    struct draft_file file;

    assert_int_equal(coordinates_create(COUNT, &coordinates), STATUS_OK);
    for (uint32_t row = 1; row < COUNT; row++) {
        coordinates->x[row] = x + row;
        coordinates->y[row] = -(double)row;
    }
    coordinates_complete(coordinates);
    assert_int_equal(coordinates_file_write(fixture->folder, id, coordinates, &file, &info),
                     STATUS_OK);
    assert_int_equal(draft_file_publish(&file, id), STATUS_OK);
    draft_file_finish(&file);
    coordinates_destroy(coordinates);
    return info;
}

FIXTURE_TEST(coordinates_survive_a_round_trip)
{
    const struct coordinates_info written = put(fixture, "g_a", 5);
    struct coordinates *coordinates = NULL;
    struct coordinates_info info;
    struct coordinates_info looked;

    assert_int_equal(coordinates_file_read(fixture->folder, "g_a", &coordinates, &info), STATUS_OK);
    assert_int_equal(coordinates_file_look(fixture->folder, "g_a", &looked), STATUS_OK);
    assert_int_equal(coordinates->count, COUNT);
    assert_int_equal(coordinates->located, COUNT - 1);
    assert_false(coordinates_has(coordinates, 0));
    assert_true(coordinates->x[9] == 14 && coordinates->y[9] == -9);
    assert_true(info.tag == written.tag && looked.tag == written.tag);
    assert_true(info.bytes == written.bytes && info.located == COUNT - 1 && !info.is_plane);
    assert_true(put(fixture, "g_a", 6).tag != written.tag);
    coordinates_destroy(coordinates);
}

FIXTURE_TEST(a_missing_file_means_no_coordinates)
{
    struct coordinates *coordinates = NULL;
    struct coordinates_info info = {.bytes = 1};

    assert_int_equal(coordinates_file_look(fixture->folder, "g_a", &info), STATUS_OK);
    assert_int_equal(info.bytes, 0);
    assert_int_equal(coordinates_file_read(fixture->folder, "g_a", &coordinates, &info),
                     STATUS_NO_COORDINATES);
}

FIXTURE_TEST(every_damaged_byte_is_found)
{
    const struct coordinates_info written = put(fixture, "g_a", 5);
    const int file = openat(fixture->folder, "g_a", O_RDWR);

    for (off_t at = 0; at < (off_t)written.bytes; at++) {
        struct coordinates *coordinates = NULL;
        struct coordinates_info info;
        unsigned char byte;

        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x40;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        assert_int_equal(coordinates_file_read(fixture->folder, "g_a", &coordinates, &info),
                         STATUS_CORRUPT);
        byte ^= 0x40;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
    }
    assert_int_equal(ftruncate(file, (off_t)written.bytes - 1), 0);
    struct coordinates_info info;
    assert_int_equal(coordinates_file_look(fixture->folder, "g_a", &info), STATUS_CORRUPT);
    close(file);
}

FIXTURE_TEST(a_coordinates_file_of_another_graph_counts_as_damaged)
{
    struct coordinates_info info;

    put(fixture, "g_a", 5);
    assert_int_equal(renameat(fixture->folder, "g_a", fixture->folder, "g_b"), 0);
    assert_int_equal(coordinates_file_look(fixture->folder, "g_b", &info), STATUS_CORRUPT);
}
