#include "server/store/state_dir.h"

#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The version of the files and of the catalogue. No other version is read. */
#define FORMAT_VERSION 2
#define RESERVE "RESERVE"
#define RESERVE_BYTES ((off_t)4 << 20)
#define FORMAT_TEXT_SIZE 64
#define FORMAT_PREFIX "apspd state "

static enum status fail(const char *path, const char *what, struct problem *reterr)
{
    int error = errno;
    return problem_set(reterr, draft_file_status(error), "%s: cannot %s: %s", path, what,
                       strerror(error));
}

/* A new folder survives a power cut only once its parent is on the disk too. */
static enum status open_root(const char *path, struct state_dir *folder, struct problem *reterr)
{
    bool created = mkdir(path, 0700) == 0;
    if (!created && errno != EEXIST) {
        return fail(path, "create the state directory", reterr);
    }
    folder->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->root < 0) {
        return fail(path, "open the state directory", reterr);
    }
    if (!created) {
        return STATUS_OK;
    }
    int parent = openat(folder->root, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        return fail(path, "open the folder above", reterr);
    }
    bool synced = fsync(parent) == 0;
    close(parent);
    return synced ? STATUS_OK : fail(path, "write the folder above", reterr);
}

static enum status take_lock(const char *path, struct state_dir *folder, struct problem *reterr)
{
    folder->lock = openat(folder->root, "LOCK", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (folder->lock < 0) {
        return fail(path, "create LOCK", reterr);
    }
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(folder->lock, F_OFD_SETLK, &whole) == 0) {
        return STATUS_OK;
    }
    if (errno != EAGAIN && errno != EACCES) {
        return fail(path, "lock", reterr);
    }
    enum status status =
        problem_set(reterr, STATUS_CONFIG, "%s is in use by another process", path);
    problem_hint(reterr, "stop the other apspd, or choose another state directory");
    return status;
}

static enum status parse_format(const char *path, const char *text, struct state_dir *folder,
                                struct problem *reterr)
{
    unsigned version;
    char store_id[STORE_ID_SIZE];
    int fields = sscanf(text, FORMAT_PREFIX "%9u %32[0-9a-f]", &version, store_id);
    if (fields < 1) {
        return problem_set(reterr, STATUS_CONFIG,
                           "%s/FORMAT is not that of a state directory of apspd", path);
    }
    if (version < 1) {
        return problem_set(reterr, STATUS_CONFIG, "%s/FORMAT is damaged", path);
    }
    if (version != FORMAT_VERSION) {
        const bool newer = version > FORMAT_VERSION;
        enum status status = problem_set(
            reterr, STATUS_CONFIG, "%s was written by %s apspd: format %u, this one reads %d", path,
            newer ? "a newer" : "an older", version, FORMAT_VERSION);
        problem_hint(reterr,
                     "start the %s program on it, or choose another state directory and upload the "
                     "graphs again",
                     newer ? "newer" : "older");
        return status;
    }
    if (fields < 2 || strlen(store_id) != STORE_ID_SIZE - 1) {
        return problem_set(reterr, STATUS_CONFIG, "%s/FORMAT is damaged", path);
    }
    memcpy(folder->store_id, store_id, sizeof(store_id));
    return STATUS_OK;
}

static enum status write_format(const char *path, struct state_dir *folder, struct problem *reterr)
{
    uint64_t random[2];
    char text[FORMAT_TEXT_SIZE];
    struct draft_file draft;
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return fail(path, "get random bytes", reterr);
    }
    snprintf(folder->store_id, STORE_ID_SIZE, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    int length =
        snprintf(text, sizeof(text), FORMAT_PREFIX "%d %s\n", FORMAT_VERSION, folder->store_id);
    enum status status = draft_file_create(folder->root, &draft);
    if (status == STATUS_OK) {
        status = draft_file_write(draft.descriptor, 0, text, (size_t)length);
        if (status == STATUS_OK) {
            status = draft_file_publish(&draft, folder->root, "FORMAT");
        }
        if (status == STATUS_OK) {
            status = draft_file_sync_names(folder->root);
        }
        draft_file_finish(&draft);
    }
    return status == STATUS_OK ? STATUS_OK
                               : problem_set(reterr, status, "%s: cannot write FORMAT", path);
}

/* A catalogue without FORMAT is not a new directory: somebody took a file away. */
static enum status read_or_write_format(const char *path, struct state_dir *folder,
                                        struct problem *reterr)
{
    char text[FORMAT_TEXT_SIZE + 1];
    int descriptor = openat(folder->root, "FORMAT", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0 && errno != ENOENT) {
        return fail(path, "read FORMAT", reterr);
    }
    if (descriptor < 0 && faccessat(folder->root, "catalogue.db", F_OK, 0) == 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s has a catalogue but no FORMAT", path);
    }
    if (descriptor < 0) {
        return write_format(path, folder, reterr);
    }
    ssize_t length = read(descriptor, text, FORMAT_TEXT_SIZE);
    if (length < 0) {
        enum status status = fail(path, "read FORMAT", reterr);
        close(descriptor);
        return status;
    }
    close(descriptor);
    text[length] = '\0';
    return parse_format(path, text, folder, reterr);
}

static enum status open_folder(const char *path, int root, const char *name, int *ret_folder,
                               struct problem *reterr)
{
    if (mkdirat(root, name, 0700) != 0 && errno != EEXIST) {
        return fail(path, "create a folder", reterr);
    }
    int folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) {
        return fail(path, "open a folder", reterr);
    }
    *ret_folder = folder;
    return STATUS_OK;
}

static enum status open_folders(const char *path, struct state_dir *folder, struct problem *reterr)
{
    enum status status = open_folder(path, folder->root, "graphs", &folder->graphs, reterr);
    if (status == STATUS_OK) {
        status = open_folder(path, folder->root, "results", &folder->results, reterr);
    }
    if (status == STATUS_OK) {
        status = open_folder(path, folder->root, "quarantine", &folder->quarantine, reterr);
    }
    if (status == STATUS_OK && fsync(folder->root) != 0) {
        status = fail(path, "write the state directory", reterr);
    }
    return status;
}

enum status state_dir_open(const char *path, struct state_dir *ret_folder, struct problem *reterr)
{
    struct state_dir folder = {
        .root = -1, .lock = -1, .graphs = -1, .results = -1, .quarantine = -1};
    int length = snprintf(folder.catalogue_path, STATE_PATH_SIZE, "%s/catalogue.db", path);
    if (length >= STATE_PATH_SIZE) {
        return problem_set(reterr, STATUS_CONFIG, "the path of the state directory is too long");
    }
    enum status status = open_root(path, &folder, reterr);
    if (status == STATUS_OK) {
        status = take_lock(path, &folder, reterr);
    }
    if (status == STATUS_OK) {
        status = read_or_write_format(path, &folder, reterr);
    }
    if (status == STATUS_OK) {
        status = open_folders(path, &folder, reterr);
    }
    if (status != STATUS_OK) {
        state_dir_close(&folder);
        return status;
    }
    *ret_folder = folder;
    return STATUS_OK;
}

/* Twice as much must be free: what the catalogue has just been given is not taken from it again. */
static bool has_room(const struct state_dir *folder)
{
    struct statvfs info;
    return fstatvfs(folder->root, &info) == 0 &&
           (uint64_t)info.f_bavail * info.f_frsize >= 2 * RESERVE_BYTES;
}

void state_dir_keep_reserve(struct state_dir *folder)
{
    if (folder->has_reserve || !has_room(folder)) {
        return;
    }
    int file = openat(folder->root, RESERVE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return;
    }
    folder->has_reserve = fallocate(file, 0, 0, RESERVE_BYTES) == 0;
    close(file);
    if (!folder->has_reserve) {
        unlinkat(folder->root, RESERVE, 0);
    }
}

bool state_dir_drop_reserve(struct state_dir *folder)
{
    /* It may be that of an earlier run. */
    folder->has_reserve = false;
    return unlinkat(folder->root, RESERVE, 0) == 0;
}

void state_dir_close(struct state_dir *folder)
{
    int *const descriptors[] = {&folder->quarantine, &folder->results, &folder->graphs,
                                &folder->lock, &folder->root};
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
        if (*descriptors[i] >= 0) {
            close(*descriptors[i]);
        }
        *descriptors[i] = -1;
    }
}
