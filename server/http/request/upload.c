#include "server/http/request/upload.h"

#include "proto/read/sniff.h"
#include "server/clock.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Estimated memory per byte of the body: an edge takes 20 bytes, its text usually 10 or more. */
#define ANNOUNCED_BYTE_MEMORY 2

void upload_init(struct upload *upload, const struct upload_rules *rules)
{
    *upload = (struct upload){.rules = *rules, .format = rules->format};
}

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
        if (info->graph_input) {
            text_printf(&list, "%s%s (%s)", list.size == 0 ? "" : ", ", info->name,
                        info->media_types[0]);
        }
    }
    if (text_status(&list) == STATUS_OK) {
        problem_hint(problem, "Supported formats: %s.", list.bytes);
    }
    text_finish(&list);
}

/* Frees the data of a refused body at once, while its rest is still arriving. The decoder may be
 * running, so its caller frees it later. */
static void refuse(struct upload *upload)
{
    text_finish(&upload->kept);
    reader_destroy(upload->reader);
    upload->reader = NULL;
    upload_memory_release(&upload->share);
}

enum status upload_check_announced(struct upload *upload)
{
    uint64_t memory_bytes;
    if (__builtin_mul_overflow(upload->rules.announced_bytes, ANNOUNCED_BYTE_MEMORY,
                               &memory_bytes)) {
        memory_bytes = UINT64_MAX;
    }
    if (upload_memory_find_room(&upload->share, memory_bytes, &upload->problem) != STATUS_OK) {
        refuse(upload);
    }
    return upload->problem.status;
}

/* Refuses a file that curl -d sent without its line ends. */
static void check_form(struct upload *upload)
{
    if (upload->rules.is_form && reader_awaits_line(upload->reader)) {
        problem_set(&upload->problem, STATUS_BAD_GRAPH,
                    "The body is form data of one line without a line end: curl -d removes the "
                    "line ends of a file.");
        problem_hint(
            &upload->problem,
            "Send the file with --data-binary @FILE; end a body of one line with a line feed.");
    }
}

static void read_bytes(struct upload *upload, const char *bytes, size_t size)
{
    if (reader_feed(upload->reader, bytes, size, &upload->problem) != STATUS_OK) {
        struct input_report report;
        check_form(upload);
        upload_report(upload, &report);
        input_report_hint(&report, &upload->problem);
        refuse(upload);
        return;
    }
    /* Charge a piece after reading it: a piece is small compared with a step of the charge. */
    const uint64_t memory_bytes = reader_memory(upload->reader) +
                                  (upload->decoder != NULL ? decoder_memory(upload->decoder) : 0);
    if (upload_memory_admit(&upload->share, reader_announced_memory(upload->reader),
                            &upload->problem) != STATUS_OK ||
        upload_memory_charge(&upload->share, memory_bytes, &upload->problem) != STATUS_OK) {
        refuse(upload);
    }
}

/* Creates the reader and feeds it the buffered bytes; later bytes go to it directly. */
static void start_reader(struct upload *upload)
{
    upload->rules.options.format_guessed = upload->rules.format == FORMAT_NONE;
    struct text kept = upload->kept;
    if (decoder_is_utf8(upload->decoder)) {
        memcpy(upload->rules.options.charset, "utf-8", sizeof("utf-8"));
    }
    enum status status = reader_create(upload->format, &upload->rules.options, &upload->reader);
    upload->kept = (struct text){0};
    if (status != STATUS_OK) {
        problem_set(&upload->problem, status, "%s", status_info(status)->title);
        upload_hint_formats(&upload->problem);
    } else if (kept.size > 0) {
        read_bytes(upload, kept.bytes, kept.size);
    }
    text_finish(&kept);
}

static void find_format(struct upload *upload)
{
    if (upload->rules.family != FORMAT_JSON &&
        sniff_refuse(upload->kept.bytes, upload->kept.size, &upload->problem) != STATUS_OK) {
        refuse(upload);
        return;
    }
    const size_t size =
        upload->kept.size < READER_SNIFF_SIZE ? upload->kept.size : READER_SNIFF_SIZE;
    /* Detect from a fixed number of bytes, so that the received pieces do not matter. */
    upload->format = sniff_format(upload->kept.bytes, size);
    if ((upload->rules.family == FORMAT_JSON && upload->format != FORMAT_JGF) ||
        (upload->rules.family == FORMAT_EDGES && upload->format != FORMAT_MATRIX)) {
        upload->format = upload->rules.family;
    }
    if (upload->format != FORMAT_NONE) {
        return;
    }
    problem_set(&upload->problem, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The body is not text, and no format was named.");
    upload_hint_formats(&upload->problem);
    refuse(upload);
}

static bool may_be_document(const struct upload *upload)
{
    return upload->format == FORMAT_JSON && upload->kept.size <= upload->rules.document_limit_bytes;
}

static void receive_bytes(struct upload *upload, const char *bytes, size_t size)
{
    upload->decoded_bytes += size;
    if (upload->reader != NULL) {
        read_bytes(upload, bytes, size);
        return;
    }
    text_append(&upload->kept, bytes, size);
    if (text_status(&upload->kept) != STATUS_OK) {
        problem_set(&upload->problem, STATUS_NO_MEMORY, "There is no memory for the upload.");
        refuse(upload);
        return;
    }
    if (upload->format == FORMAT_NONE && upload->kept.size >= READER_SNIFF_SIZE) {
        find_format(upload);
    }
    if (upload->problem.status == STATUS_OK && upload->format != FORMAT_NONE &&
        !may_be_document(upload)) {
        start_reader(upload);
    }
}

static enum status receive_decoded(void *context, const char *bytes, size_t size,
                                   struct problem *reterr)
{
    struct upload *upload = context;
    /* reterr is unused: it points to upload->problem, which receive_bytes fills. */
    (void)reterr;
    receive_bytes(upload, bytes, size);
    return upload->problem.status;
}

static void decode_bytes(struct upload *upload, const char *bytes, size_t size)
{
    const struct decoder_rules rules = {
        .coding = upload->rules.coding,
        .is_opaque = upload->rules.format == FORMAT_NTHU,
        .charset = upload->rules.options.charset,
        .limit_bytes = upload->rules.decoded_limit_bytes,
        .ratio = upload->rules.decoded_ratio,
        .take = receive_decoded,
        .context = upload,
    };
    enum status status = STATUS_OK;
    if (upload->decoder == NULL) {
        status = decoder_create(&rules, &upload->decoder);
    }
    if (status != STATUS_OK) {
        problem_set(&upload->problem, status, "The decoder for the upload cannot be created.");
    } else {
        status = decoder_feed(upload->decoder, bytes, size, &upload->problem);
    }
    if (status != STATUS_OK) {
        refuse(upload);
        decoder_destroy(upload->decoder);
        upload->decoder = NULL;
    }
}

void upload_feed(struct upload *upload, const char *bytes, size_t size)
{
    double start_s = clock_monotonic_s();
    upload->size_bytes += size;
    if (upload->problem.status != STATUS_OK) {
        return;
    }
    if (upload->size_bytes > upload->rules.body_limit_bytes) {
        problem_set(&upload->problem, STATUS_BODY_TOO_LARGE,
                    "The body is larger than this service accepts.");
        problem_limit(&upload->problem, (double)upload->rules.body_limit_bytes,
                      (double)upload->size_bytes);
        refuse(upload);
        return;
    }
    decode_bytes(upload, bytes, size);
    upload->parse_s += clock_monotonic_s() - start_s;
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

enum status upload_end(struct upload *upload, struct reader **ret_reader,
                       struct json_t **ret_document, struct problem *reterr)
{
    json_t *document = NULL;
    if (upload->problem.status == STATUS_OK && upload->decoder != NULL &&
        decoder_end(upload->decoder, &upload->problem) != STATUS_OK) {
        refuse(upload);
    }
    if (upload->problem.status == STATUS_OK && upload->decoded_bytes == 0) {
        problem_set(&upload->problem, STATUS_EMPTY_BODY, "The body is empty.");
    }
    if (upload->problem.status == STATUS_OK && upload->format == FORMAT_NONE) {
        find_format(upload);
    }
    if (upload->problem.status == STATUS_OK && upload->reader == NULL) {
        if (may_be_document(upload) &&
            memmem(upload->kept.bytes, upload->kept.size, "\"graph\"", 7) != NULL) {
            const size_t mark = text_mark_size(upload->kept.bytes, upload->kept.size);
            document = json_loadb(upload->kept.bytes + mark, upload->kept.size - mark,
                                  JSON_REJECT_DUPLICATES, NULL);
        }
        /* A document names a stored graph, and contains neither edges nor nodes. */
        if (!json_is_string(json_object_get(document, "graph")) ||
            json_object_get(document, "edges") != NULL ||
            json_object_get(document, "links") != NULL ||
            json_object_get(document, "nodes") != NULL) {
            json_decref(document);
            document = NULL;
            start_reader(upload);
        }
    }
    if (upload->problem.status == STATUS_OK && upload->reader != NULL) {
        check_form(upload);
    }
    if (upload->problem.status != STATUS_OK) {
        *reterr = upload->problem;
        return upload->problem.status;
    }
    *ret_document = document;
    *ret_reader = upload->reader;
    upload->reader = NULL;
    return STATUS_OK;
}
