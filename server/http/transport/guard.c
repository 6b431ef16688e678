#include "server/http/transport/guard.h"

#include "server/http/transport/guard_host.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Beyond this a Content-Length is not a size but an attempt on somebody's arithmetic. */
#define LENGTH_DIGITS 18

struct framing {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    bool has_content; /* a Content-Length other than 0 */
};

static bool is_token_byte(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
        return true;
    }
    return c == '-' || (c != '\0' && strchr("!#$%&'*+.^_`|~", c) != NULL);
}

static bool is_token(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!is_token_byte((unsigned char)bytes[i])) {
            return false;
        }
    }
    return size > 0;
}

/* Whether one of eight bytes is not from low to 0x7E: a borrow can only come from a byte that is
 * not, and a byte above 0x7F has its own high bit. */
static bool has_outside(uint64_t bytes, unsigned char low)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t below = bytes - low * ones;
    const uint64_t deletes = (bytes ^ (0x7F * ones)) - ones;

    return ((bytes | below | deletes) & (0x80 * ones)) != 0;
}

/* Whether all are from low to 0x7E. Eight at a time, the last eight perhaps once more: every
 * request has a target and values, and long ones. */
static bool is_within(const char *bytes, size_t size, unsigned char low)
{
    uint64_t word;

    if (size < sizeof(word)) {
        bool within = true;

        for (size_t i = 0; i < size; i++) {
            within = within && (unsigned char)bytes[i] >= low && (unsigned char)bytes[i] < 0x7F;
        }
        return within;
    }
    for (size_t at = 0; at < size - sizeof(word); at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        if (has_outside(word, low)) {
            return false;
        }
    }
    memcpy(&word, bytes + size - sizeof(word), sizeof(word));
    return !has_outside(word, low);
}

static bool is_visible(const char *text)
{
    return is_within(text, strlen(text), 0x21);
}

/* Tabs are fine too, and bytes of other alphabets. */
static bool is_clean(const char *bytes, size_t size)
{
    if (is_within(bytes, size, 0x20)) {
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}

/* The first letter tells mostly. */
static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && (word[0] != (*words)[0] || strcmp(word, *words) != 0)) {
        words++;
    }
    return *words != NULL;
}

static bool has_name(const struct guard_header *header, const char *name)
{
    return header->name_size == strlen(name) &&
           strncasecmp(header->name, name, header->name_size) == 0;
}

/* The size of the name about the message itself that the header's begins with; 0 = none. */
static size_t framing_prefix(const struct guard_header *header)
{
    static const char *const names[] = {"content-length", "transfer-encoding", "host",
                                        "authorization",  "connection",        "expect"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        /* The first letter tells nearly always. */
        if (header->name_size == 0 || (header->name[0] | 0x20) != names[i][0]) {
            continue;
        }
        size_t size = strlen(names[i]);

        if (header->name_size >= size && strncasecmp(header->name, names[i], size) == 0) {
            return size;
        }
    }
    return 0;
}

/* "Content-Length : 5" and a folded "Content-Lengthx" arrive as longer names: a proxy in front may
 * have read the short one. */
static bool imitates_framing(const struct guard_header *header)
{
    size_t size = framing_prefix(header);

    return size > 0 && header->name_size > size;
}

static enum status refuse(struct problem *reterr, const char *reason)
{
    return problem_set(reterr, STATUS_BAD_REQUEST, "%s", reason);
}

static enum status check_line(const struct guard_request *request, struct problem *reterr)
{
    static const char *const versions[] = {"HTTP/1.1", "HTTP/1.0", NULL};

    if (!is_one_of(request->version, versions)) {
        return refuse(reterr, "The protocol version is neither HTTP/1.1 nor HTTP/1.0.");
    }
    if (!is_token(request->method, strlen(request->method))) {
        return refuse(reterr, "The method is not a token.");
    }
    if (request->url[0] != '/') {
        return refuse(reterr, "The request target does not start with a slash.");
    }
    if (!is_visible(request->url) || strchr(request->url, '#') != NULL) {
        return refuse(reterr, "The request target has a byte that must be percent-encoded.");
    }
    return STATUS_OK;
}

static enum status check_length(const struct guard_header *header, struct framing *framing,
                                struct problem *reterr)
{
    if (header->value_size == 0 || header->value_size > LENGTH_DIGITS) {
        return refuse(reterr, "The Content-Length is not a length.");
    }
    for (size_t i = 0; i < header->value_size; i++) {
        if (header->value[i] < '0' || header->value[i] > '9') {
            return refuse(reterr, "The Content-Length is not a length.");
        }
        framing->has_content |= header->value[i] != '0';
    }
    framing->lengths++;
    return STATUS_OK;
}

static enum status check_encoding(const struct guard_request *request,
                                  const struct guard_header *header, struct framing *framing,
                                  struct problem *reterr)
{
    if (strcmp(request->version, "HTTP/1.0") == 0) {
        return refuse(reterr, "HTTP/1.0 has no Transfer-Encoding.");
    }
    if (header->value_size != 7 || strncasecmp(header->value, "chunked", 7) != 0) {
        return refuse(reterr, "The only Transfer-Encoding known here is chunked.");
    }
    framing->encodings++;
    framing->has_content = true;
    return STATUS_OK;
}

static enum status check_syntax(const struct guard_header *header, struct problem *reterr)
{
    if (!is_token(header->name, header->name_size)) {
        return refuse(reterr, "A header has a name that is not a token.");
    }
    if (header->value != NULL && !is_clean(header->value, header->value_size)) {
        return refuse(reterr, "A header has a control character in its value.");
    }
    return STATUS_OK;
}

static enum status check_header(const struct guard_request *request,
                                const struct guard_header *header, struct framing *framing,
                                struct problem *reterr)
{
    enum status status = check_syntax(header, reterr);

    if (status != STATUS_OK) {
        return status;
    }
    if (imitates_framing(header)) {
        return refuse(reterr, "A header has a name that starts like one about the message itself.");
    }
    if (has_name(header, "content-length")) {
        return check_length(header, framing, reterr);
    }
    if (has_name(header, "transfer-encoding")) {
        return check_encoding(request, header, framing, reterr);
    }
    if (has_name(header, "host")) {
        framing->hosts++;
        if (header->value != NULL && !guard_host_is_valid(header->value, header->value_size)) {
            return refuse(reterr, "The Host is neither a name nor an address.");
        }
    }
    return STATUS_OK;
}

static enum status check_framing(const struct guard_request *request, const struct framing *framing,
                                 struct problem *reterr)
{
    static const char *const with_body[] = {"POST", "PUT", NULL};
    static const char *const never_body[] = {"GET", "HEAD", NULL};
    unsigned announced = framing->lengths + framing->encodings;

    /* HTTP/1.0 knew no Host. */
    if (framing->hosts > 1 || (framing->hosts == 0 && strcmp(request->version, "HTTP/1.0") != 0)) {
        return refuse(reterr, "There must be exactly one Host header.");
    }
    if (announced > 1) {
        return refuse(reterr, "The length of the body is announced more than once.");
    }
    if (is_one_of(request->method, with_body)) {
        if (announced == 0) {
            return problem_set(reterr, STATUS_LENGTH_REQUIRED,
                               "A %s has a Content-Length or is sent in chunks.", request->method);
        }
        return STATUS_OK;
    }
    if (announced == 0 || strcmp(request->method, "PATCH") == 0) {
        return STATUS_OK;
    }
    /* Clients announce an empty body with DELETE: there is nothing in it to disagree about. */
    if (framing->has_content || is_one_of(request->method, never_body)) {
        return refuse(reterr, "This method takes no body.");
    }
    return STATUS_OK;
}

/* The size of a head of these strings with one blank behind each colon. libmicrohttpd 0.9 ends its
 * strings at a NUL, and the head at a header without a name: what it has skipped makes a head
 * larger. */
static size_t plain_size(const struct guard_request *request)
{
    size_t size = strlen(request->method) + strlen(request->url) + strlen(request->version) +
                  strlen("  \r\n\r\n");

    for (size_t i = 0; i < request->header_count; i++) {
        size += request->headers[i].name_size + request->headers[i].value_size + strlen(": \r\n");
    }
    return size;
}

enum status guard_check(const struct guard_request *request, bool *ret_closing,
                        struct problem *reterr)
{
    struct framing framing = {0};
    enum status status = check_line(request, reterr);

    for (size_t i = 0; status == STATUS_OK && i < request->header_count; i++) {
        status = check_header(request, &request->headers[i], &framing, reterr);
    }
    if (status == STATUS_OK) {
        status = check_framing(request, &framing, reterr);
    }
    if (status == STATUS_OK && request->head_size > plain_size(request)) {
        status = refuse(reterr, "The head has a NUL, a header without a name, or more than one "
                                "blank behind a colon.");
    }
    if (status == STATUS_OK) {
        *ret_closing = framing.has_content ||
                       (request->head_size > 0 && request->head_size < plain_size(request));
    }
    return status;
}

enum status guard_check_trailers(const struct guard_header *headers, size_t count,
                                 struct problem *reterr)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = check_syntax(&headers[i], reterr);
        if (status == STATUS_OK && framing_prefix(&headers[i]) > 0) {
            status = refuse(reterr, "A trailer is about the message itself.");
        }
    }
    return status;
}
