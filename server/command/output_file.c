#include "server/command/output_file.h"

#include "server/command/interruption.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status output_file_refuse(const struct output_file *output, int error, struct problem *reterr)
{
    enum status status = error == ENOSPC || error == EDQUOT ? STATUS_DISK_FULL
                         : error == ENOMEM                  ? STATUS_NO_MEMORY
                                                            : STATUS_IO;
    return problem_set(reterr, status, "cannot write %.200s: %s",
                       strcmp(output->path, "-") == 0 ? "standard output" : output->path,
                       strerror(error));
}

static bool is_written_in_place(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

enum status output_file_open(struct output_file *output, const char *path, struct problem *reterr)
{
    *output = (struct output_file){.file = -1, .path = path};
    if (strcmp(path, "-") == 0) {
        output->file = STDOUT_FILENO;
        return STATUS_OK;
    }
    if (is_written_in_place(path)) {
        output->file = open(path, O_WRONLY | O_CLOEXEC);
        return output->file >= 0 ? STATUS_OK : output_file_refuse(output, errno, reterr);
    }
    if (asprintf(&output->draft_path, "%s.tmp", path) < 0) {
        output->draft_path = NULL;
        return output_file_refuse(output, ENOMEM, reterr);
    }
    output->file = open(output->draft_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->file < 0) {
        int error = errno;
        free(output->draft_path);
        output->draft_path = NULL;
        return output_file_refuse(output, error, reterr);
    }
    return STATUS_OK;
}

bool output_file_is_draft(const struct output_file *output)
{
    return output->draft_path != NULL;
}

enum status output_file_write(struct output_file *output, const void *bytes, size_t size,
                              struct problem *reterr)
{
    const char *at = bytes;
    while (size > 0) {
        if (interruption_seen()) {
            return problem_set(reterr, STATUS_CANCELLED, "interrupted");
        }
        ssize_t written = write(output->file, at, size);
        if (written < 0 && errno != EINTR) {
            return output_file_refuse(output, errno, reterr);
        }
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    return STATUS_OK;
}

enum status output_file_commit(struct output_file *output, struct problem *reterr)
{
    if (output->draft_path == NULL) {
        return STATUS_OK;
    }
    /* Some file systems tell of a full disk only here. */
    int closed = close(output->file);
    output->file = -1;
    if (closed != 0 || rename(output->draft_path, output->path) != 0) {
        return output_file_refuse(output, errno, reterr);
    }
    free(output->draft_path);
    output->draft_path = NULL;
    return STATUS_OK;
}

void output_file_finish(struct output_file *output)
{
    if (output->file > STDERR_FILENO) {
        close(output->file);
    }
    if (output->draft_path != NULL) {
        unlink(output->draft_path);
        free(output->draft_path);
    }
    *output = (struct output_file){.file = -1};
}

enum status output_file_save(const char *path, const void *bytes, size_t size,
                             struct problem *reterr)
{
    struct output_file output = {.file = -1};
    enum status status = output_file_open(&output, path, reterr);
    if (status == STATUS_OK) {
        status = output_file_write(&output, bytes, size, reterr);
    }
    if (status == STATUS_OK) {
        status = output_file_commit(&output, reterr);
    }
    output_file_finish(&output);
    return status;
}
