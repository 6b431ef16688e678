#include "server/http/request/upload.h"

#include "proto/read/sniff.h"
#include "server/clock.h"

#include <jansson.h>
#include <string.h>

/* Estimated memory per byte of the body: an edge takes 20 bytes, its text usually 10 or more. */
#define ANNOUNCED_BYTE_MEMORY 2

void upload_finish(struct upload *upload)
{
    text_finish(&upload->kept);
    reader_destroy(upload->reader);
    upload->reader = NULL;
    decoder_destroy(upload->decoder);
    upload->decoder = NULL;
    upload_memory_release(&upload->share);
}

void upload_hint_formats(struct problem *problem)
{
    struct text list = {0};
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        const struct format_info *info = format_info((enum format)format);
        if (info->parameters != NULL) {
            text_printf(&list, "%s%s (%s)", list.size == 0 ? "" : ", ", info->name,
                        info->media_types[0]);
        }
    }
    if (text_status(&list) == STATUS_OK) {
        problem_hint(problem, "Supported formats: %s.", list.bytes);
    }
    text_finish(&list);
}

/* Refuses the upload and frees its data at once, while the rest of the body is still arriving. */
static enum status refuse(struct upload *upload, enum status status)
{
    upload->problem.status = status;
    upload_finish(upload);
    return status;
}

enum status upload_check_announced(struct upload *upload)
{
    /* A Content-Length has at most 18 digits, so the product does not overflow. */
    const uint64_t memory_bytes = upload->rules.announced_bytes * ANNOUNCED_BYTE_MEMORY;
    const enum status status =
        upload_memory_find_room(&upload->share, memory_bytes, &upload->problem);
    return status == STATUS_OK ? status : refuse(upload, status);
}

/* Refuses a file that curl -d sent without its newlines. */
static enum status check_form(const struct upload *upload, struct problem *reterr)
{
    if (!upload->rules.is_form || !reader_awaits_line(upload->reader)) {
        return STATUS_OK;
    }
    return problem_refuse(
        reterr, STATUS_BAD_GRAPH,
        "Send the file with --data-binary @FILE; a one-line body must end with a newline.",
        "The body is one line of form data without a newline: curl -d @FILE strips newlines.");
}

static enum status read_bytes(struct upload *upload, const char *bytes, size_t size)
{
    struct problem *problem = &upload->problem;
    const enum status status = reader_feed(upload->reader, bytes, size, problem);
    if (status != STATUS_OK) {
        struct input_report report;
        upload_report(upload, &report);
        STATUS_TRY(check_form(upload, problem));
        input_report_hint(&report, problem);
        return status;
    }
    /* Charging a piece only after reading it is safe: a piece is smaller than a charging step. */
    const uint64_t memory_bytes = reader_memory(upload->reader) + decoder_memory(upload->decoder);
    STATUS_TRY(
        upload_memory_admit(&upload->share, reader_announced_memory(upload->reader), problem));
    return upload_memory_charge(&upload->share, memory_bytes, problem);
}

/* Creates the reader and feeds it the buffered bytes; later bytes go to it directly. */
static enum status start_reader(struct upload *upload)
{
    struct text *kept = &upload->kept;
    upload->rules.options.format_guessed = upload->rules.format == FORMAT_NONE;
    if (decoder_is_utf8(upload->decoder)) {
        memcpy(upload->rules.options.charset, "utf-8", sizeof("utf-8"));
    }
    enum status status = reader_create(upload->format, &upload->rules.options, &upload->reader);
    if (status != STATUS_OK) {
        problem_set(&upload->problem, status, "%s", status_info(status)->title);
        upload_hint_formats(&upload->problem);
    } else if (kept->size > 0) {
        status = read_bytes(upload, kept->bytes, kept->size);
    }
    text_finish(kept);
    return status;
}

static enum status find_format(struct upload *upload)
{
    const struct text *kept = &upload->kept;
    const enum format family = upload->rules.family;
    if (family != FORMAT_JSON) {
        STATUS_TRY(sniff_refuse(kept->bytes, kept->size, &upload->problem));
    }
    /* Detect from a fixed number of bytes, so that the sizes of the pieces do not matter. */
    upload->format =
        sniff_format(kept->bytes, kept->size < READER_SNIFF_SIZE ? kept->size : READER_SNIFF_SIZE);
    if ((family == FORMAT_JSON && upload->format != FORMAT_JGF) ||
        (family == FORMAT_EDGES && upload->format != FORMAT_MATRIX)) {
        upload->format = family;
    }
    if (upload->format != FORMAT_NONE) {
        return STATUS_OK;
    }
    problem_set(&upload->problem, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The body is not text, and the request does not name its format.");
    upload_hint_formats(&upload->problem);
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static bool may_be_document(const struct upload *upload)
{
    return upload->format == FORMAT_JSON && upload->kept.size <= upload->rules.document_limit_bytes;
}

/* Receives bytes from the decoder. reterr is upload->problem, which is set directly. */
static enum status receive_decoded(void *context, const char *bytes, size_t size,
                                   struct problem *reterr)
{
    struct upload *upload = context;
    (void)reterr;
    upload->decoded_bytes += size;
    if (upload->reader != NULL) {
        return read_bytes(upload, bytes, size);
    }
    text_append(&upload->kept, bytes, size);
    STATUS_TRY(text_status(&upload->kept));
    if (upload->format == FORMAT_NONE && upload->kept.size >= READER_SNIFF_SIZE) {
        STATUS_TRY(find_format(upload));
    }
    return upload->format == FORMAT_NONE || may_be_document(upload) ? STATUS_OK
                                                                    : start_reader(upload);
}

static enum status feed(struct upload *upload, const char *bytes, size_t size)
{
    const uint64_t limit_bytes = upload->rules.body_limit_bytes;
    const struct decoder_rules rules = {
        .coding = upload->rules.coding,
        .is_opaque = upload->rules.format == FORMAT_NTHU,
        .charset = upload->rules.options.charset,
        .limit_bytes = upload->rules.decoded_limit_bytes,
        .ratio = upload->rules.decoded_ratio,
        .take = receive_decoded,
        .context = upload,
    };
    if (upload->size_bytes > limit_bytes) {
        return problem_refuse_limit(&upload->problem, STATUS_BODY_TOO_LARGE, (double)limit_bytes,
                                    (double)upload->size_bytes, NULL,
                                    "The body is larger than this service accepts.");
    }
    if (upload->decoder == NULL) {
        STATUS_TRY(decoder_create(&rules, &upload->decoder));
    }
    return decoder_feed(upload->decoder, bytes, size, &upload->problem);
}

void upload_feed(struct upload *upload, const char *bytes, size_t size)
{
    const double start_s = clock_monotonic_s();
    upload->size_bytes += size;
    if (upload->problem.status == STATUS_OK) {
        const enum status status = feed(upload, bytes, size);
        if (status != STATUS_OK) {
            refuse(upload, status);
        }
        upload->parse_s += clock_monotonic_s() - start_s;
    }
}

void upload_report(const struct upload *upload, struct input_report *ret_report)
{
    *ret_report = (struct input_report){
        .format = upload->format,
        .guessed = upload->rules.format == FORMAT_NONE && upload->rules.family == FORMAT_NONE,
        .coding = upload->decoder != NULL ? decoder_coding(upload->decoder) : upload->rules.coding,
        .bytes = upload->size_bytes,
        .decoded_bytes = upload->decoded_bytes,
        .direction = upload->rules.options.has_directed ? INPUT_DIRECTION_PARAMETER
                                                        : INPUT_DIRECTION_DEFAULT,
    };
}

/* Returns the buffered body as a JSON document if it names a stored graph and contains neither
 * edges nor nodes; else NULL. */
static json_t *parse_document(const struct upload *upload)
{
    static const char *const graph_members[] = {"edges", "links", "nodes"};
    const struct text *kept = &upload->kept;
    json_t *document = NULL;
    if (may_be_document(upload) && memmem(kept->bytes, kept->size, "\"graph\"", 7) != NULL) {
        const size_t mark = text_mark_size(kept->bytes, kept->size);
        document = json_loadb(kept->bytes + mark, kept->size - mark, JSON_REJECT_DUPLICATES, NULL);
    }
    bool is_document = json_is_string(json_object_get(document, "graph"));
    for (size_t i = 0; i < 3; i++) {
        is_document = is_document && json_object_get(document, graph_members[i]) == NULL;
    }
    if (!is_document) {
        json_decref(document);
    }
    return is_document ? document : NULL;
}

static enum status end_body(struct upload *upload, json_t **ret_document)
{
    STATUS_TRY(upload->problem.status);
    if (upload->decoder != NULL) {
        STATUS_TRY(decoder_end(upload->decoder, &upload->problem));
    }
    if (upload->decoded_bytes == 0) {
        return problem_set(&upload->problem, STATUS_EMPTY_BODY, "The body is empty.");
    }
    if (upload->format == FORMAT_NONE) {
        STATUS_TRY(find_format(upload));
    }
    if (upload->reader == NULL) {
        *ret_document = parse_document(upload);
        if (*ret_document != NULL) {
            return STATUS_OK;
        }
        STATUS_TRY(start_reader(upload));
    }
    return check_form(upload, &upload->problem);
}

enum status upload_end(struct upload *upload, struct reader **ret_reader,
                       struct json_t **ret_document, struct problem *reterr)
{
    json_t *document = NULL;
    const enum status status = end_body(upload, &document);
    if (status != STATUS_OK) {
        refuse(upload, status);
        *reterr = upload->problem;
        return status;
    }
    *ret_document = document;
    *ret_reader = upload->reader;
    upload->reader = NULL;
    return STATUS_OK;
}
