/* A client of a running service, built on libcurl: one connection and one request at a time. Used
 * by the main thread only. */
#pragma once

#include "proto/text.h"
#include "server/command/command.h"

#include <curl/curl.h>

/* Maximum time that the client lets the service hold a request, in seconds. */
#define CLIENT_HOLD_S 30
/* Exit code when the service is unreachable or refuses the request. */
#define EXIT_SERVICE 4

/* Indexes of the first flags of every command that uses a service. */
enum client_flag { CLIENT_URL, CLIENT_JSON, CLIENT_COUNT };

#define CLIENT_FLAGS                                                                               \
    [CLIENT_URL] = {"url", "URL",                                                                  \
                    "Address of the service; unix:PATH is a Unix socket. Default: APSPD_URL,\n"    \
                    "      else http://127.0.0.1:8080. APSPD_KEY sets the key to send."},          \
    [CLIENT_JSON] = {"json", NULL, "Print the response as one JSON object on the last line."}

/* The last response, valid until the next request. */
struct client_answer {
    long http_status;
    struct text body;
    json_t *document; /* the response body parsed as JSON, or NULL */
};

struct client {
    struct command_call *call;
    CURL *curl;
    struct curl_slist *headers; /* headers of the next request */
    char base[512];             /* prefix of every URL, without a trailing slash */
    const char *socket_path;    /* path of a Unix socket, or NULL */
    struct client_answer answer;
    /* Receives the body of a 200 or 206 response instead of answer.body; NULL: no sink. */
    bool (*sink)(void *context, const char *bytes, size_t size);
    void *sink_context;
};

/* Creates a client for the URL in --url, in APSPD_URL or, without either, the default, with the key
 * in APSPD_KEY, and runs the command's ask function. */
MUST_CHECK enum status client_run(struct command_call *call, struct problem *reterr);

/* Adds a header to the next request: "Name: value". */
void client_add_header(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns "/v1/<collection>", followed by "/<key><rest>" unless the key is NULL. */
struct text client_path(const struct client *client, const char *collection, const char *key,
                        const char *rest);
/* Appends a query parameter unless the value is NULL. */
void client_append_parameter(const struct client *client, struct text *path, const char *name,
                             const char *value);

/* Sends a request and waits for the response; repeats the request after 429 or 503 with
 * Retry-After. Frees the path. file is the request body, or NULL. STATUS_OK for a status code below
 * 300, with a sink only for 200 and 206. When the service is unreachable or refuses the request,
 * the call's exit code becomes EXIT_SERVICE, except for an invalid graph. */
MUST_CHECK enum status client_ask(struct client *client, const char *method, struct text *path,
                                  FILE *file, struct problem *reterr);
/* Sends a request like client_ask and returns the JSON object in the response, borrowed until the
 * next request. */
MUST_CHECK enum status client_ask_json(struct client *client, const char *method, struct text *path,
                                       FILE *file, json_t **ret_document, struct problem *reterr);
/* Returns a header of the response, even while the body is still arriving; empty if absent. */
const char *client_header(const struct client *client, const char *name);
/* Prints the document as one line of JSON with --json, otherwise with print_words. */
MUST_CHECK enum status client_print(const struct client *client, json_t *document,
                                    void (*print_words)(const json_t *document),
                                    struct problem *reterr);
/* These functions return a string or number member of a document; empty or 0 if it is absent. */
const char *client_member(const json_t *document, const char *name);
double client_number(const json_t *document, const char *name);
/* Prints client_member to standard output with control characters escaped. */
void client_print_member(const json_t *document, const char *name);
