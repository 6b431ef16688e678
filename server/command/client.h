/* apsp as a client of a running service, by libcurl: one connection, one request at a time. */
#pragma once

#include "server/command/command.h"

#include <curl/curl.h>

#define CLIENT_TAG_SIZE 128
/* The flag that every command has that asks a service. */
#define URL_FLAG                                                                                   \
    {                                                                                              \
        "url", "URL",                                                                              \
            "Address of the service. Else APSPD_URL, else http://127.0.0.1:8080;\n"                \
            "      unix:PATH is a Unix socket. APSPD_KEY is the key to show."                      \
    }

/* One answer. Its texts are the client's, until the next request. */
struct client_answer {
    long http_status;
    struct text body;
    char tag[CLIENT_TAG_SIZE]; /* ETag; empty = none */
    long retry_after_s;        /* 0 = not said */
};

struct client {
    struct command_call *call;
    CURL *curl;
    struct curl_slist *headers; /* of the next request */
    char base[512];             /* of every address, without a slash at its end */
    const char *socket_path;    /* of a Unix socket, or NULL */
    struct client_answer answer;
    /* Where the bytes of an answer of 200 or 206 go instead of its body; NULL = to the body. */
    bool (*sink)(void *context, const char *bytes, size_t size);
    void *sink_context;
};

/* By --url, else APSPD_URL, else the address that a service has by default; the key is APSPD_KEY.
 */
MUST_CHECK enum status client_open(struct command_call *call, int url_flag, struct client *client,
                                   struct problem *reterr);
void client_close(struct client *client);

/* Adds a header to the next request: "Name: value". */
void client_add_header(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "/v1/<collection>/<key><rest>", in a text that is freed by the caller. */
struct text client_path(const struct client *client, const char *collection, const char *key,
                        const char *rest);
/* Appends to an address: the text with its escapes; or, where value is not NULL, a parameter. */
void client_append(const struct client *client, struct text *path, const char *text);
void client_append_parameter(const struct client *client, struct text *path, const char *name,
                             const char *value);

/* Sends a request and waits for its answer, again where the service says when (429, 503 with
 * Retry-After). path: behind the base. body: NULL for none; a file has its size, or -1 where that
 * is not known, and is sent from where it stands. STATUS_OK for answers below 300, and with a sink
 * for 200 and 206. A service that is not there, or refuses, sets the exit code 4 of the call, but
 * for a graph that is wrong. */
MUST_CHECK enum status client_ask(struct client *client, const char *method, const char *path,
                                  const char *body, struct problem *reterr);
MUST_CHECK enum status client_send_file(struct client *client, const char *path, FILE *file,
                                        int64_t size, struct problem *reterr);
/* The body as JSON, to be released; NULL, with the status of the call, when it is none. */
json_t *client_json(struct client *client, struct problem *reterr);

/* The run of every command that asks a service. */
MUST_CHECK enum status service_run(struct command_call *call, struct problem *reterr);
/* apsp ask of a matrix in a file, MATRIX.npy: whether the operand names one, and its element. */
bool matrix_file_is_named(const char *path);
MUST_CHECK enum status matrix_file_ask(struct command_call *call, struct problem *reterr);
/* apsp get. */
MUST_CHECK enum status download_matrix(struct client *client, struct problem *reterr);

extern const struct command command_submit;
extern const struct command command_jobs;
extern const struct command command_wait;
extern const struct command command_cancel;
extern const struct command command_graphs;
extern const struct command command_rm;
extern const struct command command_ask;
extern const struct command command_path;
extern const struct command command_pairs;
extern const struct command command_get;
