/* Reads coordinates from arbitrary bytes. The low bits of the first byte give the size of the
 * pieces. Reading the whole input and reading it in pieces must give the same coordinates or the
 * same error. */
#include "proto/read/coordinates_reader.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static enum status read_pieces(const uint8_t *bytes, size_t size, size_t piece,
                               struct coordinates **ret_coordinates, struct problem *reterr)
{
    struct vertex_names *names = NULL;
    struct coordinates_reader *reader = NULL;
    enum status status = STATUS_OK;

    CHECK(vertex_names_create_range(9, 1, &names) == STATUS_OK);
    CHECK(coordinates_reader_create(names, &reader) == STATUS_OK);
    for (size_t at = 1; at < size && status == STATUS_OK; at += piece) {
        status = coordinates_reader_feed(reader, (const char *)bytes + at,
                                         size - at < piece ? size - at : piece, reterr);
    }
    if (status == STATUS_OK) {
        status = coordinates_reader_end(reader, ret_coordinates, reterr);
    }
    coordinates_reader_destroy(reader);
    vertex_names_destroy(names);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct coordinates *coordinates[2] = {NULL, NULL};
    struct problem problems[2] = {{0}, {0}};
    enum status statuses[2];

    if (size == 0) {
        return 0;
    }
    statuses[0] = read_pieces(bytes, size, size, &coordinates[0], &problems[0]);
    statuses[1] =
        read_pieces(bytes, size, (bytes[0] & 0x0F) + (size_t)1, &coordinates[1], &problems[1]);
    CHECK(statuses[0] == statuses[1]);
    CHECK(statuses[0] == STATUS_OK || problems[0].status == statuses[0]);
    CHECK(problems[0].line == problems[1].line && problems[0].column == problems[1].column);
    CHECK(strcmp(problems[0].detail, problems[1].detail) == 0);
    if (statuses[0] == STATUS_OK) {
        const struct coordinates *whole = coordinates[0];
        uint32_t row;
        double distance;

        CHECK(whole->located == coordinates[1]->located && whole->located <= 9);
        CHECK(memcmp(whole->x, coordinates[1]->x, 9 * sizeof(double)) == 0);
        CHECK(coordinates_nearest(whole, 1, 2, &row, &distance) == (whole->located > 0));
        CHECK(whole->located == 0 || (row < 9 && distance >= 0));
    }
    coordinates_destroy(coordinates[0]);
    coordinates_destroy(coordinates[1]);
    return 0;
}
