/* apsp get: downloads a matrix from a running service. Received bytes are kept in OUT.part and the
 * ETag of their response in OUT.part.tag, so that an interrupted download can be resumed. */
#include "server/command/client.h"
#include "server/command/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Buffer size for an ETag, with its NUL; a longer ETag is not stored. */
#define TAG_SIZE 128

enum { TO = CLIENT_COUNT };

static const struct command_flag flags[] = {
    CLIENT_FLAGS,
    [TO] = {"to", "FORMAT",
            "Format of the matrix: " COMMAND_MATRIX_FORMATS ".\n"
            "      Default: by OUT's extension, else npy."},
    {NULL, NULL, NULL},
};

struct download {
    struct client *client;
    const char *out;
    enum format format;
    char *part; /* path of OUT.part; NULL: standard output */
    char *tag;  /* path of OUT.part.tag */
    int file;
    char wanted_tag[TAG_SIZE]; /* ETag of the bytes that were in OUT.part before this attempt */
    uint64_t offset;           /* number of bytes in OUT.part */
    uint64_t received;         /* number of bytes received by this attempt */
    uint64_t size;             /* total size, from a 206 response */
    bool is_shown;             /* the matrix is printed to a terminal, escaped */
    unsigned begins; /* number of attempts that began at the first byte and were interrupted */
    bool is_other;   /* the service sent a range that was not requested */
    int error;
};

/* Stores the ETag of the response, without which the download cannot be resumed. */
static bool keep_tag(const struct download *download)
{
    const char *tag = client_header(download->client, "ETag");
    const int file =
        open(download->tag, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    const size_t size = strlen(tag) < TAG_SIZE ? strlen(tag) : 0;
    if (file < 0) {
        return false;
    }
    const bool is_written = write(file, tag, size) == (ssize_t)size;
    return close(file) == 0 && is_written;
}

/* Returns whether a 206 response begins after the bytes in OUT.part, has their ETag, and reaches
 * the end of the matrix. */
static bool goes_on(struct download *download)
{
    const struct client *client = download->client;
    uint64_t first;
    uint64_t last;
    return sscanf(client_header(client, "Content-Range"), "bytes %" SCNu64 "-%" SCNu64 "/%" SCNu64,
                  &first, &last, &download->size) == 3 &&
           first == download->offset && download->size > 0 && last == download->size - 1 &&
           strcmp(client_header(client, "ETag"), download->wanted_tag) == 0;
}

/* Called at the first bytes of a response: checks a 206's range, or empties the file for a 200. */
static bool begin_answer(struct download *download)
{
    long http_status = 0;
    curl_easy_getinfo(download->client->curl, CURLINFO_RESPONSE_CODE, &http_status);
    if (http_status == 206) {
        download->is_other = !goes_on(download);
        return !download->is_other;
    }
    download->offset = 0;
    if (download->part != NULL &&
        (ftruncate(download->file, 0) != 0 || lseek(download->file, 0, SEEK_SET) != 0 ||
         !keep_tag(download))) {
        download->error = errno;
        return false;
    }
    return true;
}

static void show_lines(const char *bytes, size_t size)
{
    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        const size_t shown = end != NULL ? (size_t)(end - bytes) : size;
        command_print_text(bytes, shown, stdout);
        if (end != NULL) {
            putchar('\n');
        }
        bytes += shown + (end != NULL);
        size -= shown + (end != NULL);
    }
}

static bool receive_bytes(void *context, const char *bytes, size_t size)
{
    struct download *download = context;
    if (download->received == 0 && !begin_answer(download)) {
        return false;
    }
    if (download->is_shown) {
        show_lines(bytes, size);
        return ferror(stdout) == 0;
    }
    if (!output_write(download->file, bytes, size)) {
        download->error = errno != EINTR ? errno : 0;
        return false;
    }
    download->offset += size;
    download->received += size;
    return true;
}

/* Finds out where an earlier download was interrupted, if its ETag is known. */
static void find_place(struct download *download)
{
    struct stat about;
    char *tag = download->wanted_tag;
    FILE *file = download->tag != NULL ? fopen(download->tag, "re") : NULL;
    tag[0] = '\0';
    download->offset = 0;
    if (file != NULL && fgets(tag, TAG_SIZE, file) != NULL && tag[0] != '\0' &&
        fstat(download->file, &about) == 0) {
        download->offset = (uint64_t)about.st_size;
    }
    if (file != NULL) {
        fclose(file);
    }
}

static enum status fetch_once(struct download *download, struct problem *reterr)
{
    struct client *client = download->client;
    find_place(download);
    if (download->offset > 0) {
        client_add_header(client, "Range: bytes=%llu-", (unsigned long long)download->offset);
        client_add_header(client, "If-Range: %s", download->wanted_tag);
    }
    if (download->part != NULL && lseek(download->file, (off_t)download->offset, SEEK_SET) < 0) {
        return output_refuse(download->part, errno, reterr);
    }
    struct text path = client_path(client, "graphs", client->call->operands[0], "/matrix");
    client_append_parameter(client, &path, "format", format_info(download->format)->name);
    client_add_header(client, "Prefer: wait=%d", CLIENT_HOLD_S);
    client->sink = receive_bytes;
    client->sink_context = download;
    download->received = 0;
    download->size = UINT64_MAX;
    download->error = 0;
    const enum status status = client_ask(client, "GET", &path, NULL, reterr);
    if (download->error != 0) {
        client->call->exit_code = 0;
        return output_refuse(download->out, download->error, reterr);
    }
    if (status == STATUS_OK && client->answer.http_status == 206) {
        download->is_other = download->offset != download->size;
    } else if (status == STATUS_OK && download->received == 0) {
        download->offset = 0; /* an empty matrix replaces the bytes in OUT.part */
    }
    if (download->is_other) {
        client->call->exit_code = EXIT_SERVICE;
        problem_set(reterr, STATUS_IO, "%.200s sent a range that was not requested", client->base);
        problem_hint(reterr, "Delete %.200s.part to restart the download.", download->out);
        return STATUS_IO;
    }
    return status;
}

/* Returns whether to continue the download after a failed attempt, which must have received bytes.
 * If the service ignores Range, every attempt begins at the first byte, and only two are made. */
static bool may_go_on(struct download *download)
{
    const struct client_answer *answer = &download->client->answer;
    if (download->part == NULL || command_interrupted()) {
        return false;
    }
    if (answer->http_status == 416) {
        /* The range was refused because all bytes had been received, or the matrix is now shorter:
         * restart. */
        return unlink(download->tag) == 0;
    }
    return answer->http_status < 300 && download->error == 0 && !download->is_other &&
           download->received > 0 && (answer->http_status == 206 || download->begins++ == 0);
}

static enum status fetch_all(struct download *download, struct problem *reterr)
{
    enum status status = fetch_once(download, reterr);
    while (status != STATUS_OK && may_go_on(download)) {
        (void)poll(NULL, 0, 1000); /* at most one attempt a second; poll ends early on a signal */
        status = fetch_once(download, reterr);
    }
    return status;
}

static enum status open_part(struct download *download, struct problem *reterr)
{
    download->file = STDOUT_FILENO;
    if (strcmp(download->out, "-") == 0) {
        download->is_shown = isatty(STDOUT_FILENO) == 1;
        return STATUS_OK;
    }
    if (asprintf(&download->part, "%s.part", download->out) < 0 ||
        asprintf(&download->tag, "%s.part.tag", download->out) < 0) {
        return STATUS_NO_MEMORY;
    }
    download->file = open(download->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    return download->file >= 0 ? STATUS_OK : output_refuse(download->part, errno, reterr);
}

static enum status download_to_file(struct download *download, struct problem *reterr)
{
    STATUS_TRY(open_part(download, reterr));
    STATUS_TRY(fetch_all(download, reterr));
    if (download->part == NULL) {
        return STATUS_OK;
    }
    const bool is_whole = ftruncate(download->file, (off_t)download->offset) == 0;
    const bool is_closed = close(download->file) == 0;
    download->file = -1;
    if (!is_whole || !is_closed || rename(download->part, download->out) != 0) {
        return output_refuse(download->out, errno, reterr);
    }
    unlink(download->tag);
    return download->client->call->values[CLIENT_JSON] == NULL
               ? STATUS_OK
               : command_print_json(json_pack("{s:s, s:I, s:s}", "file", download->out, "bytes",
                                              (json_int_t)download->offset, "format",
                                              format_info(download->format)->name),
                                    stdout, reterr);
}

static enum status download_matrix(struct client *client, struct problem *reterr)
{
    struct command_call *call = client->call;
    struct download download = {.client = client, .out = call->operands[1], .file = -1};
    STATUS_TRY(command_output_format(call, TO, download.out, &download.format, reterr));
    const enum status status = download_to_file(&download, reterr);
    if (download.file > STDERR_FILENO) {
        close(download.file);
        if (download.offset == 0) { /* nothing was received */
            unlink(download.part);
            unlink(download.tag);
        }
    }
    free(download.part);
    free(download.tag);
    return status;
}

const struct command command_get = {
    .name = "get",
    .operand_names = {"GRAPH", "OUT"},
    .summary = "Downloads the matrix of a graph to OUT; - is standard output. An interrupted\n"
               "download is resumed.",
    .flags = flags,
    .run = client_run,
    .ask = download_matrix,
};
