/* A client of a running service, built on libcurl: one connection and one request at a time. Used
 * by the main thread only. */
#pragma once

#include "proto/text.h"
#include "server/command/command.h"

#include <curl/curl.h>

/* Longest wait that the client requests from the service, in seconds. */
#define CLIENT_HOLD_S 30
/* Exit code when the service is unreachable or refuses. */
#define EXIT_SERVICE 4

/* The first flags of every command that uses a service. */
enum client_flag { CLIENT_URL, CLIENT_JSON, CLIENT_COUNT };

#define CLIENT_FLAGS                                                                               \
    [CLIENT_URL] = {"url", "URL",                                                                  \
                    "Address of the service; unix:PATH is a Unix socket. Default: APSPD_URL,\n"    \
                    "      else http://127.0.0.1:8080. APSPD_KEY sets the key to send."},          \
    [CLIENT_JSON] = {"json", NULL,                                                                 \
                     "Print the service's answer as one JSON object on the last line."}

/* The last answer, valid until the next request. */
struct client_answer {
    long http_status;
    struct text body;
    json_t *document; /* the body parsed as JSON, or NULL */
};

struct client {
    struct command_call *call;
    CURL *curl;
    struct curl_slist *headers; /* headers of the next request */
    char base[512];             /* prefix of every URL, without a slash at its end */
    const char *socket_path;    /* path of a Unix socket, or NULL */
    struct client_answer answer;
    /* Receives the bytes of a 200 or 206 answer in place of its body; NULL: none. */
    bool (*sink)(void *context, const char *bytes, size_t size);
    void *sink_context;
};

/* Creates a client for --url, else APSPD_URL, else the default, with the key in APSPD_KEY, and runs
 * the command's ask function. */
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

/* Sends a request and waits for its answer; repeats it after 429 or 503 with Retry-After. Frees the
 * path. file is the body, or NULL. STATUS_OK for an answer below 300, with a sink only for 200 and
 * 206. When the service is unreachable or refuses, the call's exit code becomes EXIT_SERVICE,
 * except for an invalid graph. */
MUST_CHECK enum status client_ask(struct client *client, const char *method, struct text *path,
                                  FILE *file, struct problem *reterr);
/* client_ask for a JSON object as the answer, borrowed until the next request. */
MUST_CHECK enum status client_ask_json(struct client *client, const char *method, struct text *path,
                                       FILE *file, json_t **ret_document, struct problem *reterr);
/* A header of the answer, available while the body is still arriving; empty: none. */
const char *client_header(const struct client *client, const char *name);
/* Prints the document as one line with --json, else by print_words. */
MUST_CHECK enum status client_print(const struct client *client, json_t *document,
                                    void (*print_words)(const json_t *document),
                                    struct problem *reterr);
/* A string or number member of a document; empty or 0 if absent. */
const char *client_member(const json_t *document, const char *name);
double client_number(const json_t *document, const char *name);
/* Prints client_member to standard output with control characters escaped. */
void client_print_member(const json_t *document, const char *name);
