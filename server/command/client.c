#include "server/command/client.h"

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_URL "http://127.0.0.1:8080"
/* Maximum number of retries of a request, and maximum number of seconds to wait before one. */
#define RETRY_LIMIT 5
#define RETRY_WAIT_S 30
/* Time after which a request without a body fails if nothing arrives. It is longer than the time
 * for which the service holds a response. */
#define SILENCE_S (2L * CLIENT_HOLD_S)
/* Maximum size of a response body, which is held in memory. */
#define BODY_LIMIT ((size_t)1 << 30)

static enum status open_client(struct command_call *call, struct client *client,
                               struct problem *reterr)
{
    const char *variable = getenv("APSPD_URL");
    const char *url = call->values[CLIENT_URL] != NULL ? call->values[CLIENT_URL]
                      : variable != NULL               ? variable
                                                       : DEFAULT_URL;
    const bool is_socket = strncmp(url, "unix:", 5) == 0;
    *client = (struct client){.call = call, .socket_path = is_socket ? url + 5 : NULL};
    snprintf(client->base, sizeof(client->base), "%s", is_socket ? "http://localhost" : url);
    size_t size = strlen(client->base);
    while (size > 0 && client->base[size - 1] == '/') {
        client->base[--size] = '\0';
    }
    if (strlen(url) >= sizeof(client->base) || size == 0) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "the address \"%.60s\" is empty or too long", url);
    }
    client->curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
    return client->curl != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status client_run(struct command_call *call, struct problem *reterr)
{
    struct client client;
    command_watch_signals();
    enum status status = open_client(call, &client, reterr);
    STATUS_THEN(status, call->command->ask(&client, reterr));
    curl_slist_free_all(client.headers);
    curl_easy_cleanup(client.curl);
    text_finish(&client.answer.body);
    json_decref(client.answer.document);
    curl_global_cleanup();
    return status;
}

void client_add_header(struct client *client, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    struct curl_slist *headers = curl_slist_append(client->headers, line);
    client->headers = headers != NULL ? headers : client->headers;
}

static void append_escaped(const struct client *client, struct text *path, const char *text)
{
    char *escaped = curl_easy_escape(client->curl, text, 0);
    if (escaped == NULL) {
        path->failed = true;
        return;
    }
    text_append_string(path, escaped);
    curl_free(escaped);
}

struct text client_path(const struct client *client, const char *collection, const char *key,
                        const char *rest)
{
    struct text path = {0};
    text_printf(&path, "/v1/%s", collection);
    if (key != NULL) {
        text_append_char(&path, '/');
        append_escaped(client, &path, key);
        text_append_string(&path, rest);
    }
    return path;
}

void client_append_parameter(const struct client *client, struct text *path, const char *name,
                             const char *value)
{
    if (value != NULL) {
        const bool is_first = path->size == 0 || memchr(path->bytes, '?', path->size) == NULL;
        text_printf(path, "%c%s=", is_first ? '?' : '&', name);
        append_escaped(client, path, value);
    }
}

const char *client_header(const struct client *client, const char *name)
{
    struct curl_header *header;
    return curl_easy_header(client->curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
               ? header->value
               : "";
}

static bool is_for_sink(const struct client *client)
{
    long http_status = 0;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http_status);
    return client->sink != NULL && (http_status == 200 || http_status == 206);
}

/* Receives a piece of the body. A result other than size * count makes libcurl end the transfer. */
static size_t receive_body(char *bytes, size_t unit, size_t count, void *context)
{
    struct client *client = context;
    const size_t size = unit * count;
    if (is_for_sink(client)) {
        return client->sink(client->sink_context, bytes, size) ? size : 0;
    }
    if (size > BODY_LIMIT - client->answer.body.size) {
        return 0;
    }
    text_append(&client->answer.body, bytes, size);
    return size;
}

static int check_signal(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                        curl_off_t up_now)
{
    (void)context;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    return command_interrupted() ? 1 : 0;
}

static void set_options(struct client *client, const char *method, const char *url)
{
    CURL *curl = client->curl;
    const char *key = getenv("APSPD_KEY");
    const char *authorities = getenv("CURL_CA_BUNDLE");
    char no_proxy[1024];
    if (key != NULL) {
        client_add_header(client, "Authorization: Bearer %.900s", key);
    }
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "apsp/" APSPD_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, client->headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_signal);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
    /* Requests to this machine bypass the proxy, which cannot reach it. The option replaces the
     * user's no_proxy, so that value is added. */
    snprintf(no_proxy, sizeof(no_proxy), "localhost,127.0.0.1,::1,%s",
             getenv("no_proxy") != NULL ? getenv("no_proxy") : "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, no_proxy);
    /* The curl command reads CURL_CA_BUNDLE, but the library does not. */
    if (authorities != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    }
    if (client->socket_path != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket_path);
    }
}

static enum status describe_failure(struct client *client, CURLcode code, struct problem *reterr)
{
    if (command_interrupted()) {
        return problem_set(reterr, STATUS_CANCELLED, "interrupted");
    }
    client->call->exit_code = EXIT_SERVICE;
    curl_off_t sent_after_us = 0; /* 0: no connection was made */
    curl_easy_getinfo(client->curl, CURLINFO_PRETRANSFER_TIME_T, &sent_after_us);
    if (code == CURLE_OPERATION_TIMEDOUT && sent_after_us > 0) {
        return problem_set(reterr, STATUS_IO, "%.200s sent nothing for %ld s", client->base,
                           SILENCE_S);
    }
    const char *hint =
        code == CURLE_COULDNT_CONNECT
            ? "Is the service running at this address? APSPD_URL or --url selects another address."
        : code == CURLE_PEER_FAILED_VERIFICATION
            ? "Set CURL_CA_BUNDLE to the certificate file of your own certificate authority."
            : NULL;
    return problem_refuse(reterr, STATUS_IO, hint, "%.200s: %s", client->base,
                          curl_easy_strerror(code));
}

/* Copies detail and hint of a problem document from the response. An invalid graph counts as bad
 * input. */
static enum status describe_refusal(struct client *client, struct problem *reterr)
{
    const struct client_answer *answer = &client->answer;
    const json_t *document = answer->document;
    const char *detail = client_member(document, "detail");
    const char *hint = client_member(document, "hint");
    const bool is_input = answer->http_status == 422;
    problem_set(reterr, is_input ? STATUS_BAD_GRAPH : STATUS_IO, "%s",
                detail[0] != '\0' ? detail : "the service refused the request");
    if (client_member(document, "code")[0] == '\0') {
        problem_set(reterr, STATUS_IO, "the service at %.200s returned status %ld", client->base,
                    answer->http_status);
    }
    if (answer->http_status == 401) {
        problem_hint(reterr, "Set the environment variable APSPD_KEY to a valid key: %s.",
                     getenv("APSPD_KEY") != NULL ? "the service does not accept the current key"
                                                 : "the variable is not set");
    } else if (hint[0] != '\0') {
        problem_hint(reterr, "%s", hint);
    } else if (answer->http_status / 100 == 3) {
        problem_hint(reterr, "Redirects are not followed. Set APSPD_URL or --url to the address of "
                             "the service itself.");
    }
    reterr->line = (uint64_t)json_integer_value(json_object_get(document, "line"));
    reterr->column = (uint64_t)json_integer_value(json_object_get(document, "column"));
    if (!is_input) {
        client->call->exit_code = EXIT_SERVICE;
    }
    return reterr->status;
}

static CURLcode perform_request(struct client *client)
{
    struct client_answer *answer = &client->answer;
    text_clear(&answer->body);
    json_decref(answer->document);
    const CURLcode code = curl_easy_perform(client->curl);
    answer->document =
        answer->body.size > 0 ? json_loadb(answer->body.bytes, answer->body.size, 0, NULL) : NULL;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->http_status);
    return code;
}

/* Returns the Retry-After of a 429 or 503 response, at most RETRY_WAIT_S seconds; 0: none. */
static long find_retry_s(const struct client *client)
{
    const long http_status = client->answer.http_status;
    const long wait_s = http_status == 429 || http_status == 503
                            ? strtol(client_header(client, "Retry-After"), NULL, 10)
                            : 0;
    return wait_s < RETRY_WAIT_S ? wait_s : RETRY_WAIT_S;
}

static size_t read_file(char *to, size_t unit, size_t count, void *context)
{
    const size_t size = fread(to, 1, unit * count, context);
    return size == 0 && ferror((FILE *)context) ? CURL_READFUNC_ABORT : size;
}

/* Sends the file as the request body, chunked if it is not a regular file. */
static void set_body(struct client *client, FILE *file)
{
    struct stat about;
    const bool is_regular = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
    if (!is_regular) {
        client_add_header(client, "Transfer-Encoding: chunked");
    }
    curl_easy_setopt(client->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(client->curl, CURLOPT_READFUNCTION, read_file);
    curl_easy_setopt(client->curl, CURLOPT_READDATA, file);
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     is_regular ? (curl_off_t)about.st_size : -1);
}

static enum status send_request(struct client *client, const char *method, const char *url,
                                FILE *file, struct problem *reterr)
{
    CURLcode code = CURLE_OUT_OF_MEMORY;
    curl_easy_reset(client->curl);
    if (file != NULL) {
        set_body(client, file); /* no timeout, because a pipe may pause */
    } else {
        curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    }
    set_options(client, method, url);
    for (int retry = 0; retry <= RETRY_LIMIT; retry++) {
        code = perform_request(client);
        const long wait_s = code == CURLE_OK ? find_retry_s(client) : 0;
        if (wait_s <= 0 || command_interrupted() ||
            (file != NULL && fseek(file, 0, SEEK_SET) != 0)) {
            break;
        }
        (void)poll(NULL, 0, (int)wait_s * 1000); /* poll ends early on a signal */
    }
    curl_slist_free_all(client->headers);
    client->headers = NULL;
    /* The service may refuse a request before its whole body is sent. A redirect is not followed:
     * it counts as a refusal. */
    if (client->answer.http_status >= 300 ||
        (code == CURLE_OK && client->sink != NULL && !is_for_sink(client))) {
        return describe_refusal(client, reterr);
    }
    return code == CURLE_OK ? STATUS_OK : describe_failure(client, code, reterr);
}

enum status client_ask(struct client *client, const char *method, struct text *path, FILE *file,
                       struct problem *reterr)
{
    struct text url = {0};
    text_printf(&url, "%s%s", client->base, path->size > 0 ? path->bytes : "");
    enum status status = text_status(path) == STATUS_OK ? text_status(&url) : text_status(path);
    STATUS_THEN(status, send_request(client, method, url.bytes, file, reterr));
    text_finish(&url);
    text_finish(path);
    return status;
}

enum status client_ask_json(struct client *client, const char *method, struct text *path,
                            FILE *file, json_t **ret_document, struct problem *reterr)
{
    STATUS_TRY(client_ask(client, method, path, file, reterr));
    *ret_document = client->answer.document;
    if (!json_is_object(*ret_document)) {
        client->call->exit_code = EXIT_SERVICE;
        return problem_set(reterr, STATUS_IO, "%.200s does not respond like an apspd service",
                           client->base);
    }
    return STATUS_OK;
}

enum status client_print(const struct client *client, json_t *document,
                         void (*print_words)(const json_t *document), struct problem *reterr)
{
    if (client->call->values[CLIENT_JSON] != NULL) {
        return command_print_json(json_incref(document), stdout, reterr);
    }
    print_words(document);
    return STATUS_OK;
}

const char *client_member(const json_t *document, const char *name)
{
    const char *text = json_string_value(json_object_get(document, name));
    return text != NULL ? text : "";
}

double client_number(const json_t *document, const char *name)
{
    return json_number_value(json_object_get(document, name));
}

void client_print_member(const json_t *document, const char *name)
{
    command_print_string(client_member(document, name), stdout);
}

const struct command *const command_client_list[] = {
    &command_submit, &command_wait, &command_graphs, &command_rm, &command_ask, &command_get, NULL,
};
