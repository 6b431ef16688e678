#include "server/http/upload.h"

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

/* Nothing of a refused body is kept while its rest still comes in. */
static void refuse(struct upload *upload)
{
    struct problem problem = upload->problem;

    upload_finish(upload);
    upload->problem = problem;
}

static void read_bytes(struct upload *upload, const char *bytes, size_t size)
{
    double start_s = clock_monotonic_s();

    if (reader_feed(upload->reader, bytes, size, &upload->problem) != STATUS_OK) {
        refuse(upload);
    }
    upload->parse_s += clock_monotonic_s() - start_s;
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
    upload->format = format_sniff(upload->kept.bytes, upload->kept.size);
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

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
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

/* The format can be told before FORMAT_SNIFF_SIZE bytes: then a graph too large is refused by its
 * first line, whatever may follow. */
static bool is_plain(const struct upload *upload)
{
    return upload->kept.size >= FORMAT_SNIFF_SIZE || has_dimacs_header(&upload->kept) ||
           has_graph_member(&upload->kept);
}

static bool may_be_document(const struct upload *upload)
{
    return upload->format == FORMAT_JSON &&
           upload->kept.size <= upload->rules.document_limit_bytes &&
           !has_graph_member(&upload->kept);
}

void upload_feed(struct upload *upload, const char *bytes, size_t size)
{
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

    if (upload->size_bytes == 0) {
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
