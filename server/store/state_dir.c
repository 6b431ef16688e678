#include "server/store/state_dir.h"

#include "server/store/coordinates_file.h"
#include "server/store/draft_file.h"
#include "server/store/folder_budget.h"
#include "server/store/result_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The version of the files and the catalogue. No other version is read. */
#define FORMAT_VERSION 7
#define RESERVE "RESERVE"
#define RESERVE_BYTES ((off_t)4 << 20)
/* The files in quarantine/ may use one eighth of the disk. */
#define QUARANTINE_PART 8
#define FORMAT_TEXT_SIZE 64
#define FORMAT_PREFIX "apspd state "

static enum status fail_step(const char *path, const char *what, struct problem *reterr)
{
    int error = errno;
    return problem_set(reterr, draft_file_status(error), "%s: cannot %s: %s", path, what,
                       strerror(error));
}

/* Opens or creates the directory. A new folder survives a power failure only after its parent
 * folder is synced. */
static enum status open_root(const char *path, struct state_dir *folder, struct problem *reterr)
{
    bool created = mkdir(path, 0700) == 0;
    if (!created && errno != EEXIST) {
        return fail_step(path, "create the state directory", reterr);
    }
    folder->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->root < 0) {
        return fail_step(path, "open the state directory", reterr);
    }
    struct stat about;
    if (fstat(folder->root, &about) != 0) {
        return fail_step(path, "inspect the state directory", reterr);
    }
    /* Group write access is allowed: Kubernetes lets the group of a pod write its volumes. */
    if ((about.st_mode & S_IWOTH) != 0) {
        return problem_refuse(reterr, STATUS_CONFIG,
                              "run chmod 700 on the directory, or choose another state directory",
                              "other users may write to %s", path);
    }
    if (!created) {
        return STATUS_OK;
    }
    int parent = openat(folder->root, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        return fail_step(path, "open the parent folder", reterr);
    }
    bool synced = fsync(parent) == 0;
    close(parent);
    return synced ? STATUS_OK : fail_step(path, "sync the parent folder", reterr);
}

static enum status lock_root(const char *path, struct state_dir *folder, struct problem *reterr)
{
    folder->lock = openat(folder->root, "LOCK", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (folder->lock < 0) {
        return fail_step(path, "create LOCK", reterr);
    }
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(folder->lock, F_OFD_SETLK, &whole) == 0) {
        return STATUS_OK;
    }
    if (errno != EAGAIN && errno != EACCES) {
        return fail_step(path, "lock", reterr);
    }
    return problem_refuse(reterr, STATUS_CONFIG,
                          "stop the other apspd, or choose another state directory",
                          "%s is in use by another process", path);
}

static enum status parse_format(const char *path, const char *text, struct state_dir *folder,
                                struct problem *reterr)
{
    unsigned version;
    char store_id[STORE_ID_SIZE];
    int fields = sscanf(text, FORMAT_PREFIX "%9u %32[0-9a-f]", &version, store_id);
    if (fields < 1) {
        return problem_set(reterr, STATUS_CONFIG,
                           "%s/FORMAT does not belong to a state directory of apspd", path);
    }
    if (version != FORMAT_VERSION) {
        const bool newer = version > FORMAT_VERSION;
        enum status status = problem_set(
            reterr, STATUS_CONFIG,
            "%s was written by %s apspd: its format is %u, and this apspd reads format %d", path,
            newer ? "a newer" : "an older", version, FORMAT_VERSION);
        problem_hint(reterr,
                     "run the %s apspd on this directory, or choose another state directory and "
                     "upload the graphs again",
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
        return fail_step(path, "get random bytes", reterr);
    }
    snprintf(folder->store_id, STORE_ID_SIZE, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    int length =
        snprintf(text, sizeof(text), FORMAT_PREFIX "%d %s\n", FORMAT_VERSION, folder->store_id);
    const struct draft_part part = {.bytes = text, .size = (size_t)length};
    enum status status = draft_file_make(folder->root, &part, 1, &draft);
    if (status == STATUS_OK) {
        status = draft_file_publish(&draft, "FORMAT");
        draft_file_finish(&draft);
    }
    STATUS_THEN(status, draft_file_sync_names(folder->root));
    return problem_explain(reterr, status, "%s: cannot write FORMAT", path);
}

/* Reads FORMAT, or writes it in a new directory. A directory with a catalogue but no FORMAT is
 * refused: it is not new, and its FORMAT has been removed. */
static enum status read_or_write_format(const char *path, struct state_dir *folder,
                                        struct problem *reterr)
{
    char text[FORMAT_TEXT_SIZE + 1];
    int descriptor = openat(folder->root, "FORMAT", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0 && errno != ENOENT) {
        return fail_step(path, "read FORMAT", reterr);
    }
    if (descriptor < 0 && faccessat(folder->root, "catalogue.db", F_OK, 0) == 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s has a catalogue but no FORMAT file", path);
    }
    if (descriptor < 0) {
        return write_format(path, folder, reterr);
    }
    const ssize_t length = read(descriptor, text, FORMAT_TEXT_SIZE);
    const enum status status = length < 0 ? fail_step(path, "read FORMAT", reterr) : STATUS_OK;
    close(descriptor);
    STATUS_TRY(status);
    text[length] = '\0';
    return parse_format(path, text, folder, reterr);
}

static enum status open_folders(const char *path, struct state_dir *folder, struct problem *reterr)
{
    static const char *const names[STORE_FOLDERS] = {
        [STORE_GRAPHS] = "graphs",         [STORE_RESULTS] = "results",
        [STORE_ORDERS] = "orders",         [STORE_COORDINATES] = "coordinates",
        [STORE_QUARANTINE] = "quarantine",
    };
    for (size_t i = 0; i < STORE_FOLDERS; i++) {
        if (mkdirat(folder->root, names[i], 0700) != 0 && errno != EEXIST) {
            return fail_step(path, "create a folder", reterr);
        }
        folder->folders[i] =
            openat(folder->root, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (folder->folders[i] < 0) {
            return fail_step(path, "open a folder", reterr);
        }
    }
    return fsync(folder->root) == 0 ? STATUS_OK
                                    : fail_step(path, "sync the state directory", reterr);
}

enum status state_dir_open(const char *path, struct state_dir *ret_folder, struct problem *reterr)
{
    *ret_folder = (struct state_dir){.root = -1, .lock = -1};
    memset(ret_folder->folders, -1, sizeof(ret_folder->folders));
    int length = snprintf(ret_folder->catalogue_path, STATE_PATH_SIZE, "%s/catalogue.db", path);
    if (length >= STATE_PATH_SIZE) {
        return problem_set(reterr, STATUS_CONFIG, "the path of the state directory is too long");
    }
    STATUS_TRY(open_root(path, ret_folder, reterr));
    STATUS_TRY(lock_root(path, ret_folder, reterr));
    STATUS_TRY(read_or_write_format(path, ret_folder, reterr));
    return open_folders(path, ret_folder, reterr);
}

void state_dir_keep_reserve(struct state_dir *folder)
{
    struct statvfs info;
    /* Requires twice the size, so that RESERVE does not take back the space that its deletion has
     * just given to the catalogue. */
    if (folder->has_reserve || fstatvfs(folder->root, &info) != 0 ||
        (uint64_t)info.f_bavail * info.f_frsize < 2 * RESERVE_BYTES) {
        return;
    }
    int file = openat(folder->root, RESERVE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return;
    }
    folder->has_reserve = posix_fallocate(file, 0, RESERVE_BYTES) == 0;
    close(file);
    if (!folder->has_reserve) {
        unlinkat(folder->root, RESERVE, 0);
    }
}

bool state_dir_drop_reserve(struct state_dir *folder)
{
    /* The file may exist even if has_reserve is false: an earlier run may have created it. */
    folder->has_reserve = false;
    return unlinkat(folder->root, RESERVE, 0) == 0;
}

void state_dir_close(struct state_dir *folder)
{
    for (size_t i = 0; i < STORE_FOLDERS; i++) {
        close(folder->folders[i]);
    }
    close(folder->lock);
    close(folder->root);
}

static void trim_quarantine(const struct state_dir *folder)
{
    struct statvfs disk;
    if (fstatvfs(folder->root, &disk) == 0) {
        folder_budget_apply(folder->folders[STORE_QUARANTINE],
                            (uint64_t)disk.f_blocks * disk.f_frsize / QUARANTINE_PART, NULL);
    }
}

bool state_dir_quarantine(const struct state_dir *folder, enum store_folder from, const char *name)
{
    char new_name[NAME_SIZE + 16];
    snprintf(new_name, sizeof(new_name), "%.*s%s", NAME_SIZE - 1, name,
             from == STORE_COORDINATES ? ".coordinates" : "");
    if (renameat(folder->folders[from], name, folder->folders[STORE_QUARANTINE], new_name) != 0) {
        return false;
    }
    trim_quarantine(folder);
    return true;
}

void state_dir_sweep_graph(const struct state_dir *folder, struct catalogue *catalogue,
                           const char *graph_id)
{
    bool named;
    if (catalogue_has_graph(catalogue, graph_id, &named, NULL) == STATUS_OK && !named) {
        unlinkat(folder->folders[STORE_GRAPHS], graph_id, 0);
    }
}

void state_dir_sweep_result(const struct state_dir *folder, struct catalogue *catalogue,
                            const char *graph_id, enum kind kind)
{
    bool named;
    char name[RESULT_FILE_NAME_SIZE];
    char root_name[RESULT_FILE_NAME_SIZE];
    result_file_name(graph_id, kind, name);
    result_file_root_name(name, root_name);
    if (catalogue_has_result(catalogue, graph_id, kind, &named) == STATUS_OK && !named) {
        unlinkat(folder->folders[STORE_RESULTS], name, 0);
        unlinkat(folder->folders[STORE_RESULTS], root_name, 0);
    }
}

/* Damaged rows are moved or deleted after the walk, because SQLite does not define what a walk sees
 * of changes made during it. */
struct repair {
    const struct state_dir *folder;
    struct catalogue *catalogue;
    struct catalogue_damage *found;
};

static enum status note_damage(void *context, const struct catalogue_damage *damage)
{
    struct repair *repair = context;
    const struct state_dir *folder = repair->folder;
    struct catalogue_damage *noted = malloc(sizeof(*noted));
    if (noted == NULL) {
        return STATUS_NO_MEMORY;
    }
    *noted = *damage;
    noted->next = repair->found;
    repair->found = noted;
    /* A missing file is no error: the damage may have changed the ID that names the file. */
    return strcmp(damage->what, "graph") != 0 ||
                   state_dir_quarantine(folder, STORE_GRAPHS, damage->id) || errno == ENOENT
               ? STATUS_OK
               : draft_file_status(errno);
}

static enum status note_file(struct repair *repair, const char *what, const char *id,
                             enum kind kind)
{
    struct catalogue_damage damage = {.what = what, .kind = kind};
    snprintf(damage.id, sizeof(damage.id), "%.*s", NAME_SIZE - 1, id);
    return note_damage(repair, &damage);
}

static enum status check_graph(void *context, const struct graph_row *row)
{
    struct repair *repair = context;
    if (faccessat(repair->folder->folders[STORE_GRAPHS], row->id, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return STATUS_OK;
    }
    return errno == ENOENT ? note_file(repair, "graph_file", row->id, KIND_COUNT)
                           : draft_file_status(errno);
}

/* Checks the file of a result. Results are a cache: if a row is deleted, its job is solved again. A
 * missing file is not reported, because backups may leave out results. */
static enum status check_result(void *context, const struct result_row *row)
{
    struct repair *repair = context;
    const struct state_dir *folder = repair->folder;
    char name[RESULT_FILE_NAME_SIZE];
    bool has_graph = false;
    uint32_t vertex_count;
    STATUS_TRY(catalogue_has_graph(repair->catalogue, row->graph_id, &has_graph, &vertex_count));
    struct result_file *file = NULL;
    result_file_name(row->graph_id, row->kind, name);
    const enum status status = has_graph
                                   ? result_file_open(folder->folders[STORE_RESULTS], name,
                                                      vertex_count, row->kind, row->checksum, &file)
                                   : STATUS_CORRUPT;
    result_file_destroy(file);
    if (status != STATUS_CORRUPT && status != STATUS_IO) {
        return status;
    }
    const bool is_there = state_dir_quarantine(folder, STORE_RESULTS, name);
    if (!is_there && errno != ENOENT) {
        return draft_file_status(errno);
    }
    return note_file(repair, is_there ? "result_file" : "", row->graph_id, row->kind);
}

/* Sets damaged rows aside; deletes rows with a missing or damaged file, and rows that need them. */
static enum status repair_rows(struct catalogue *catalogue, const void *context)
{
    for (const struct catalogue_damage *at = context; at != NULL; at = at->next) {
        if (at->row != 0) {
            STATUS_TRY(catalogue_set_aside(catalogue, at->what, at->row));
        }
        if (at->kind != KIND_COUNT) {
            struct result_row row = {.kind = at->kind};
            snprintf(row.graph_id, sizeof(row.graph_id), "%.*s", GRAPH_ID_SIZE - 1, at->id);
            STATUS_TRY(catalogue_delete(catalogue, CATALOGUE_RESULT, &row));
        } else if (strcmp(at->what, "graph") == 0 || strcmp(at->what, "graph_file") == 0) {
            STATUS_TRY(catalogue_delete(catalogue, CATALOGUE_GRAPH, at->id));
        }
    }
    return STATUS_OK;
}

/* Returns whether a row names this file of results/. The name must be canonical. */
static enum status result_is_named(struct catalogue *catalogue, const char *name, bool *ret_named)
{
    char graph_id[GRAPH_ID_SIZE];
    char kind_text[8];
    char expected[RESULT_FILE_NAME_SIZE];
    char root[RESULT_FILE_NAME_SIZE];
    enum kind kind;
    *ret_named = false;
    if (sscanf(name, "%28[^.].%7[^.].result", graph_id, kind_text) != 2 ||
        !kind_from_name(kind_text, &kind)) {
        return STATUS_OK;
    }
    result_file_name(graph_id, kind, expected);
    result_file_root_name(expected, root);
    return strcmp(expected, name) == 0 || strcmp(root, name) == 0
               ? catalogue_has_result(catalogue, graph_id, kind, ret_named)
               : STATUS_OK;
}

/* Checks a file of coordinates, which has no row of its own: the row of its graph names it. */
static enum status check_coordinates(struct repair *repair, const char *graph_id)
{
    const struct state_dir *folder = repair->folder;
    struct coordinates_info info;
    const enum status status =
        coordinates_file_look(folder->folders[STORE_COORDINATES], graph_id, &info);
    if (status != STATUS_CORRUPT) {
        return status;
    }
    (void)state_dir_quarantine(folder, STORE_COORDINATES, graph_id);
    return note_file(repair, "coordinates_file", graph_id, KIND_COUNT);
}

static bool is_draft(const char *name)
{
    return strncmp(name, DRAFT_PREFIX, strlen(DRAFT_PREFIX)) == 0;
}

/* Returns whether a row names this file; the row's ID is the file's name. */
static enum status is_named(struct repair *repair, enum store_folder folder, const char *name,
                            bool *ret_named)
{
    *ret_named = false;
    if (is_draft(name)) {
        return STATUS_OK;
    }
    if (folder == STORE_RESULTS) {
        return result_is_named(repair->catalogue, name, ret_named);
    }
    STATUS_TRY(catalogue_has_graph(repair->catalogue, name, ret_named, NULL));
    return *ret_named && folder == STORE_COORDINATES ? check_coordinates(repair, name) : STATUS_OK;
}

/* Removes the files that no row names. A crash between the writing of a graph's file and the commit
 * of the graph's row leaves one graph, which was never acknowledged. Several such graphs mean that
 * the catalogue has lost its latest changes, so the removed graphs are reported. */
static enum status remove_orphans(struct repair *repair, enum store_folder folder)
{
    const int parent = repair->folder->folders[folder];
    int descriptor = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (stream == NULL) {
        const enum status status = draft_file_status(errno);
        close(descriptor);
        return status;
    }
    enum status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        const char *name = entry->d_name;
        bool named = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (!named) {
            status = is_named(repair, folder, name, &named);
        }
        if (status != STATUS_OK || named) {
            continue;
        }
        if (unlinkat(parent, name, 0) != 0 && errno != EISDIR) {
            status = draft_file_status(errno);
        } else if (folder == STORE_GRAPHS && !is_draft(name)) {
            status = note_file(repair, "graph_without_row", name, KIND_COUNT);
        }
    }
    closedir(stream);
    return status;
}

void state_dir_forget_damage(struct catalogue_damage *found)
{
    while (found != NULL) {
        struct catalogue_damage *next = found->next;
        free(found);
        found = next;
    }
}

static enum status repair_all(struct repair *repair)
{
    const struct state_dir *folder = repair->folder;
    const struct catalogue_visitor visitor = {
        .context = repair, .damaged = note_damage, .graph = check_graph, .result = check_result};
    STATUS_TRY(catalogue_visit(repair->catalogue, &visitor));
    /* Orphaned graphs are removed before the damaged rows, so that the next start repeats an
     * interrupted repair. */
    STATUS_TRY(remove_orphans(repair, STORE_GRAPHS));
    STATUS_TRY(catalogue_transact(repair->catalogue, repair_rows, repair->found));
    STATUS_TRY(remove_orphans(repair, STORE_RESULTS));
    STATUS_TRY(remove_orphans(repair, STORE_COORDINATES));
    trim_quarantine(folder);
    return STATUS_OK;
}

enum status state_dir_repair(const struct state_dir *folder, struct catalogue *catalogue,
                             struct catalogue_damage **ret_found, struct problem *reterr)
{
    struct repair repair = {.folder = folder, .catalogue = catalogue};
    const enum status status = repair_all(&repair);
    if (status != STATUS_OK) {
        state_dir_forget_damage(repair.found);
        return problem_set(reterr, status, "cannot repair %s and the files next to it",
                           folder->catalogue_path);
    }
    *ret_found = repair.found;
    return STATUS_OK;
}
