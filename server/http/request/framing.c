#include "server/http/request/framing.h"

#include "server/http/request/router.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Maximum number of digits of Content-Length: 18 digits fit in 63 bits without overflow. */
#define LENGTH_DIGITS 18

struct framing_counts {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    bool has_content; /* the body is chunked, or its Content-Length is not 0 */
};

static bool is_token(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char c = bytes[i];
        if (!isalnum((unsigned char)c) && c != '-' &&
            (c == '\0' || strchr("!#$%&'*+.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return size > 0;
}

/* Returns whether the value has no control characters. Tabs and bytes above 0x7F are allowed. */
static bool is_clean(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}

static const char *const framing_names[] = {"content-length", "transfer-encoding", "host",
                                            "authorization",  "connection",        "expect"};
/* Indexes of the framing_names that this file tests for. */
enum framing_name { CONTENT_LENGTH, TRANSFER_ENCODING, HOST, FRAMING_NAMES = 6 };

/* Returns the index of the framing name that this header's name starts with, else FRAMING_NAMES. */
static unsigned find_framing_name(const struct framing_header *header)
{
    unsigned i = 0;
    while (i < FRAMING_NAMES &&
           (header->name_size < strlen(framing_names[i]) ||
            strncasecmp(header->name, framing_names[i], strlen(framing_names[i])) != 0)) {
        i++;
    }
    return i;
}

/* Returns the size of the host name at the start of the value: unreserved bytes, percent escapes
 * and sub-delimiters except the comma, because a server could read "a,b" as a list of two hosts. */
static size_t name_size(const char *value, size_t size)
{
    size_t at = 0;
    while (at < size) {
        if (isalnum((unsigned char)value[at]) ||
            (value[at] != '\0' && strchr(".-_~!$&'()*+;=", value[at]) != NULL)) {
            at++;
        } else if (value[at] == '%' && size - at > 2 && isxdigit((unsigned char)value[at + 1]) &&
                   isxdigit((unsigned char)value[at + 2])) {
            at += 3;
        } else {
            break;
        }
    }
    return at;
}

/* Returns whether the value is a name or an address with an optional port; the empty value is valid
 * (RFC 9110 section 7.2, RFC 3986 section 3.2). */
static bool is_valid_host(const char *value, size_t size)
{
    size_t at = 0;
    if (size > 0 && value[0] == '[') {
        for (at = 1; at < size && (isxdigit((unsigned char)value[at]) || value[at] == ':' ||
                                   value[at] == '.');) {
            at++;
        }
        if (at == size || value[at] != ']' || at < 3) {
            return false;
        }
        at++;
    } else {
        at = name_size(value, size);
    }
    if (at < size && value[at] == ':') {
        for (at++; at < size && isdigit((unsigned char)value[at]);) {
            at++;
        }
    }
    return at == size;
}

static enum status refuse_head(struct problem *reterr, const char *reason)
{
    return problem_set(reterr, STATUS_BAD_REQUEST, "%s", reason);
}

static enum status check_line(const struct framing_head *request, struct problem *reterr)
{
    if (strcmp(request->version, "HTTP/1.1") != 0 && strcmp(request->version, "HTTP/1.0") != 0) {
        return refuse_head(reterr, "The protocol version is neither HTTP/1.1 nor HTTP/1.0.");
    }
    if (!is_token(request->method, strlen(request->method))) {
        return refuse_head(reterr, "The method is not a valid HTTP token.");
    }
    if (request->url[0] != '/') {
        return refuse_head(reterr, "The request target does not start with a slash.");
    }
    bool is_encoded = true;
    for (const char *at = request->url; *at != '\0'; at++) {
        is_encoded = is_encoded && *at > 0x20 && *at < 0x7F && *at != '#';
    }
    return is_encoded
               ? STATUS_OK
               : refuse_head(reterr,
                             "The request target contains a byte that must be percent-encoded.");
}

static enum status check_length(const struct framing_header *header, struct framing_counts *framing,
                                struct problem *reterr)
{
    if (header->value_size == 0 || header->value_size > LENGTH_DIGITS ||
        strspn(header->value, "0123456789") < header->value_size) {
        return refuse_head(reterr, "The Content-Length is not a number of at most 18 digits.");
    }
    framing->lengths++;
    framing->has_content |= strspn(header->value, "0") < header->value_size;
    return STATUS_OK;
}

static enum status check_encoding(const struct framing_head *request,
                                  const struct framing_header *header,
                                  struct framing_counts *framing, struct problem *reterr)
{
    if (strcmp(request->version, "HTTP/1.0") == 0) {
        return refuse_head(reterr, "HTTP/1.0 does not allow Transfer-Encoding.");
    }
    if (header->value_size != 7 || strncasecmp(header->value, "chunked", 7) != 0) {
        return refuse_head(reterr, "The only supported Transfer-Encoding is chunked.");
    }
    framing->encodings++;
    framing->has_content = true;
    return STATUS_OK;
}

static enum status check_syntax(const struct framing_header *header, struct problem *reterr)
{
    if (!is_token(header->name, header->name_size)) {
        return refuse_head(reterr, "A header name is not a valid HTTP token.");
    }
    if (header->value != NULL && !is_clean(header->value, header->value_size)) {
        return refuse_head(reterr, "A header value contains a control character.");
    }
    return STATUS_OK;
}

static enum status check_header(const struct framing_head *request,
                                const struct framing_header *header, struct framing_counts *framing,
                                struct problem *reterr)
{
    STATUS_TRY(check_syntax(header, reterr));
    /* libmicrohttpd passes "Content-Length : 5", or a name continued on the next line, as a longer
     * name; a proxy in front may have read the short name. */
    const unsigned name = find_framing_name(header);
    if (name < FRAMING_NAMES && header->name_size > strlen(framing_names[name])) {
        return refuse_head(reterr, "A header name starts with the name of a framing header, such "
                                   "as Content-Length, but is longer.");
    }
    if (name == CONTENT_LENGTH) {
        return check_length(header, framing, reterr);
    }
    if (name == TRANSFER_ENCODING) {
        return check_encoding(request, header, framing, reterr);
    }
    framing->hosts += name == HOST;
    return name != HOST || header->value == NULL || is_valid_host(header->value, header->value_size)
               ? STATUS_OK
               : refuse_head(reterr, "The Host header is neither a host name nor an IP address.");
}

static enum status check_framing(const struct framing_head *request,
                                 const struct framing_counts *framing, struct problem *reterr)
{
    const unsigned announced = framing->lengths + framing->encodings;
    const enum method method = router_method(request->method);
    /* HTTP/1.0 does not require Host. */
    if (framing->hosts > 1 || (framing->hosts == 0 && strcmp(request->version, "HTTP/1.0") != 0)) {
        return refuse_head(reterr, "There must be exactly one Host header.");
    }
    if (announced > 1) {
        return refuse_head(reterr, "The body length is specified more than once.");
    }
    if ((method & (METHOD_POST | METHOD_PUT | METHOD_PATCH)) != 0) {
        return announced > 0
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_LENGTH_REQUIRED,
                                 "A %s request needs a Content-Length or chunked transfer coding.",
                                 request->method);
    }
    /* Content-Length: 0 is allowed with DELETE: an empty body can be framed in only one way. */
    return announced > 0 && (framing->has_content || (method & (METHOD_GET | METHOD_HEAD)) != 0)
               ? refuse_head(reterr, "This method does not allow a body.")
               : STATUS_OK;
}

/* Returns the size that the head would have in plain form: one space between the words of the
 * request line and after each colon, and CRLF after each line. libmicrohttpd 0.9 ends its strings
 * at a NUL, and the head at a header without a name, so bytes that it skips make the real head
 * larger. Two deviations may cancel out, such as an extra space and a bare LF, but then a string
 * between them is not at its address in plain form, and *ret_in_place is false. Only deviations
 * after the last string remain undetected: a bare LF and a NUL are as long as CRLF. */
static size_t plain_size(const struct framing_head *request, bool *ret_in_place)
{
    const char *at = request->method + strlen(request->method) + strlen(" ");
    bool in_place = request->url_place == at;
    at += strlen(request->url) + strlen(" ");
    in_place = in_place && request->version == at;
    at += strlen(request->version) + strlen("\r\n");
    for (size_t i = 0; i < request->header_count; i++) {
        const struct framing_header *header = &request->headers[i];
        in_place = in_place && header->name == at;
        at += header->name_size + strlen(": ");
        in_place = in_place && header->value == at;
        at += header->value_size + strlen("\r\n");
    }
    *ret_in_place = in_place;
    return (size_t)(at - request->method) + strlen("\r\n");
}

enum status framing_check(const struct framing_head *request, bool *ret_body, bool *ret_closing,
                          struct problem *reterr)
{
    struct framing_counts framing = {0};
    STATUS_TRY(check_line(request, reterr));
    for (size_t i = 0; i < request->header_count; i++) {
        STATUS_TRY(check_header(request, &request->headers[i], &framing, reterr));
    }
    STATUS_TRY(check_framing(request, &framing, reterr));
    bool is_in_place = true;
    const size_t size = request->head_size == 0 ? 0 : plain_size(request, &is_in_place);
    if (request->head_size > size) {
        return refuse_head(reterr,
                           "The request head contains a NUL, a header without a name, or more "
                           "than one space after a colon.");
    }
    *ret_body = framing.has_content;
    *ret_closing = framing.encodings > 0 || request->head_size < size || !is_in_place;
    return STATUS_OK;
}

enum status framing_check_trailers(const struct framing_header *headers, size_t count,
                                   struct problem *reterr)
{
    for (size_t i = 0; i < count; i++) {
        STATUS_TRY(check_syntax(&headers[i], reterr));
        if (find_framing_name(&headers[i]) < FRAMING_NAMES) {
            return refuse_head(
                reterr, "A trailer has the name of a framing header, such as Content-Length.");
        }
    }
    return STATUS_OK;
}
