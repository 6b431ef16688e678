#include "server/http/request/upload.h"

#include "server/clock.h"

#include <jansson.h>
#include <string.h>

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
    capacity_release_share(&upload->share);
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
        problem_hint(problem, "Read here: %s.", list.bytes);
    }
    text_finish(&list);
}

/* Nothing of a refused body is kept while its rest still comes in; the decoder, which may be at
 * work, goes last. */
static void refuse(struct upload *upload)
{
    text_finish(&upload->kept);
    reader_destroy(upload->reader);
    upload->reader = NULL;
    capacity_release_share(&upload->share);
}

static void refuse_for_memory(struct upload *upload, uint64_t body_bytes)
{
    problem_set(&upload->problem, STATUS_UPLOAD_MEMORY,
                "The graphs that come in now take as much memory as they may.");
    problem_limit(&upload->problem, (double)upload->share.memory->limit_bytes,
                  (double)body_bytes * UPLOAD_MEMORY_PER_BYTE);
    problem_hint(&upload->problem, "Come back after the seconds in Retry-After.");
    refuse(upload);
}

enum status upload_check_announced(struct upload *upload)
{
    if (!capacity_has_upload_room(&upload->share, upload->rules.announced_bytes)) {
        refuse_for_memory(upload, upload->rules.announced_bytes);
    }
    return upload->problem.status;
}

static void read_bytes(struct upload *upload, const char *bytes, size_t size)
{
    if (reader_feed(upload->reader, bytes, size, &upload->problem) != STATUS_OK) {
        struct input_report report;

        upload_report(upload, &report);
        input_report_hint(&report, &upload->problem);
        refuse(upload);
    }
}

static void keep(struct upload *upload, const char *bytes, size_t size)
{
    text_append(&upload->kept, bytes, size);
    if (text_status(&upload->kept) == STATUS_OK) {
        return;
    }
    problem_set(&upload->problem, STATUS_NO_MEMORY, "There is no memory for the upload.");
    refuse(upload);
}

/* From now on the bytes go to a reader, those kept so far first. */
static void start_reader(struct upload *upload)
{
    enum status status = reader_create(upload->format, &upload->rules.options, &upload->reader);
    struct text kept = upload->kept;

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
    upload->format = reader_sniff(upload->kept.bytes, upload->kept.size);
    if (upload->rules.is_json && upload->format != FORMAT_JGF) {
        upload->format = FORMAT_JSON;
    }
    if (upload->format != FORMAT_NONE) {
        return;
    }
    problem_set(&upload->problem, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The body is not text, and no format was named.");
    upload_hint_formats(&upload->problem);
    refuse(upload);
}

/* A member edges, links or nodes: what a graph in JSON has, and a document that names one has not.
 */
static bool has_graph_member(const struct text *kept)
{
    static const char *const members[] = {"\"edges\"", "\"links\"", "\"nodes\""};
    const char *end = kept->bytes + kept->size;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        size_t size = strlen(members[i]);
        const char *at = kept->bytes;

        while ((at = memmem(at, (size_t)(end - at), members[i], size)) != NULL) {
            at += size;
            if (at[strspn(at, " \t\r\n")] == ':') {
                return true;
            }
        }
    }
    return false;
}

/* A whole line "p ..." after none but comments. */
static bool has_dimacs_header(const struct text *kept)
{
    const char *line = kept->bytes;
    const char *end = line + kept->size;
    const char *next;

    while ((next = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        if (line[0] == 'p' && line[1] == ' ') {
            return true;
        }
        if (line[0] != 'c') {
            return false;
        }
        line = next + 1;
    }
    return false;
}

/* The format can be told before READER_SNIFF_SIZE bytes: then a graph too large is refused by its
 * first line, whatever may follow. */
static bool is_plain(const struct upload *upload)
{
    return upload->kept.size >= READER_SNIFF_SIZE || has_dimacs_header(&upload->kept) ||
           has_graph_member(&upload->kept);
}

static bool may_be_document(const struct upload *upload)
{
    return upload->format == FORMAT_JSON &&
           upload->kept.size <= upload->rules.document_limit_bytes &&
           !has_graph_member(&upload->kept);
}

/* The bytes of the graph itself. */
static void take_bytes(struct upload *upload, const char *bytes, size_t size)
{
    upload->decoded_bytes += size;
    if (!capacity_charge_share(&upload->share, upload->decoded_bytes)) {
        refuse_for_memory(upload, upload->decoded_bytes);
        return;
    }
    if (upload->reader != NULL) {
        read_bytes(upload, bytes, size);
        return;
    }
    keep(upload, bytes, size);
    if (upload->problem.status == STATUS_OK && upload->format == FORMAT_NONE && is_plain(upload)) {
        find_format(upload);
    }
    if (upload->problem.status == STATUS_OK && upload->format != FORMAT_NONE &&
        !may_be_document(upload)) {
        start_reader(upload);
    }
}

static enum status take_decoded(void *context, const char *bytes, size_t size,
                                struct problem *reterr)
{
    struct upload *upload = context;

    /* reterr is unused: it points to upload->problem, which take_bytes fills. */
    (void)reterr;
    take_bytes(upload, bytes, size);
    return upload->problem.status;
}

static enum status create_decoder(struct upload *upload)
{
    const struct decoder_rules rules = {
        .coding = upload->rules.coding,
        .limit_bytes = upload->rules.decoded_limit_bytes,
        .ratio = upload->rules.decoded_ratio,
        .take = take_decoded,
        .context = upload,
    };

    if (decoder_create(&rules, &upload->decoder) == STATUS_OK) {
        return STATUS_OK;
    }
    return problem_set(&upload->problem, STATUS_NO_MEMORY, "There is no memory for the upload.");
}

static void decode_bytes(struct upload *upload, const char *bytes, size_t size)
{
    enum status status = upload->decoder == NULL ? create_decoder(upload) : STATUS_OK;

    if (status == STATUS_OK) {
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
        problem_set(&upload->problem, STATUS_BODY_TOO_LARGE, "The body is longer than is taken.");
        problem_limit(&upload->problem, (double)upload->rules.body_limit_bytes,
                      (double)upload->size_bytes);
        refuse(upload);
        return;
    }
    if (upload->rules.coding == CODING_IDENTITY) {
        take_bytes(upload, bytes, size);
    } else {
        decode_bytes(upload, bytes, size);
    }
    upload->parse_s += clock_monotonic_s() - start_s;
}

void upload_report(const struct upload *upload, struct input_report *ret_report)
{
    *ret_report = (struct input_report){
        .format = upload->format,
        .guessed = upload->rules.format == FORMAT_NONE && !upload->rules.is_json,
        .coding = upload->rules.coding,
        .bytes = upload->size_bytes,
        .decoded_bytes = upload->decoded_bytes,
        .direction = upload->rules.options.has_directed ? INPUT_DIRECTION_PARAMETER
                                                        : INPUT_DIRECTION_DEFAULT,
    };
}

/* A document names a stored graph and brings none. */
static json_t *document_of(const struct text *kept)
{
    json_t *root = json_loadb(kept->bytes, kept->size, JSON_REJECT_DUPLICATES, NULL);

    if (json_is_string(json_object_get(root, "graph")) && json_object_get(root, "edges") == NULL &&
        json_object_get(root, "links") == NULL && json_object_get(root, "nodes") == NULL) {
        return root;
    }
    json_decref(root);
    return NULL;
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
        problem_set(&upload->problem, STATUS_EMPTY_BODY, "There is nothing in the body.");
    }
    if (upload->problem.status == STATUS_OK && upload->format == FORMAT_NONE) {
        find_format(upload);
    }
    if (upload->problem.status == STATUS_OK && upload->reader == NULL) {
        document = may_be_document(upload) ? document_of(&upload->kept) : NULL;
        if (document == NULL) {
            start_reader(upload);
        }
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
