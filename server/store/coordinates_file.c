#include "server/store/coordinates_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define VERSION 2
#define ID_ROOM 48

static const char magic[8] = "apspdxy";

struct header {
    char magic[8];
    char id[ID_ROOM]; /* ID of the graph, to detect a file under the name of another graph */
    uint32_t version;
    uint32_t count;
    uint32_t located;
    uint32_t is_plane;
    uint64_t checksum;        /* checksum of x and y */
    uint64_t header_checksum; /* set by draft_file_seal_header */
};

static_assert(sizeof(struct header) == 88, "no padding");
static_assert(GRAPH_ID_SIZE <= ID_ROOM, "an id fits");

static size_t array_size(uint32_t count)
{
    return (size_t)count * 2 * sizeof(double);
}

static struct coordinates_info info_of(const struct header *header)
{
    return (struct coordinates_info){
        .bytes = sizeof(*header) + array_size(header->count),
        .tag = header->header_checksum,
        .located = header->located,
        .is_plane = header->is_plane != 0,
    };
}

enum status coordinates_file_write(int folder, const char *id,
                                   const struct coordinates *coordinates,
                                   struct draft_file *ret_file, struct coordinates_info *ret_info)
{
    const size_t size = array_size(coordinates->count);
    struct header header = {
        .version = VERSION,
        .count = coordinates->count,
        .located = coordinates->located,
        .is_plane = coordinates->is_plane,
        .checksum = XXH3_64bits(coordinates->x, size),
    };
    memcpy(header.id, id, strnlen(id, ID_ROOM - 1));
    draft_file_seal_header(magic, &header, sizeof(header));
    const struct draft_part parts[] = {{0, &header, sizeof(header)},
                                       {sizeof(header), coordinates->x, size}};
    STATUS_TRY(draft_file_make(folder, parts, 2, ret_file));
    *ret_info = info_of(&header);
    return STATUS_OK;
}

/* Opens the file and checks its header, so that the count cannot cause an allocation larger than
 * the file. */
static enum status open_file(int folder, const char *id, int *ret_descriptor,
                             struct header *ret_header)
{
    uint64_t file_size;
    const int descriptor = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) {
        return errno == ENOENT ? STATUS_NO_COORDINATES : draft_file_status(errno);
    }
    enum status status =
        draft_file_read_header(descriptor, magic, ret_header, sizeof(*ret_header), &file_size);
    if (status == STATUS_OK &&
        (ret_header->version != VERSION || strncmp(ret_header->id, id, ID_ROOM) != 0 ||
         info_of(ret_header).bytes != file_size)) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        close(descriptor);
        return status;
    }
    *ret_descriptor = descriptor;
    return STATUS_OK;
}

enum status coordinates_file_look(int folder, const char *id, struct coordinates_info *ret_info)
{
    struct header header;
    int descriptor = -1;
    const enum status status = open_file(folder, id, &descriptor, &header);
    if (status == STATUS_NO_COORDINATES) {
        *ret_info = (struct coordinates_info){0};
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        close(descriptor);
        *ret_info = info_of(&header);
    }
    return status;
}

enum status coordinates_file_read(int folder, const char *id, struct coordinates **ret_coordinates,
                                  struct coordinates_info *ret_info)
{
    struct coordinates *coordinates = NULL;
    struct header header;
    int descriptor = -1;
    STATUS_TRY(open_file(folder, id, &descriptor, &header));
    const size_t size = array_size(header.count);
    enum status status = coordinates_create(header.count, &coordinates);
    if (status == STATUS_OK) {
        coordinates->is_plane = header.is_plane != 0;
        status = draft_file_read(descriptor, sizeof(header), coordinates->x, size);
    }
    close(descriptor);
    if (status == STATUS_OK && XXH3_64bits(coordinates->x, size) != header.checksum) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        coordinates_destroy(coordinates);
        return status;
    }
    coordinates_complete(coordinates);
    *ret_coordinates = coordinates;
    *ret_info = info_of(&header);
    return STATUS_OK;
}
