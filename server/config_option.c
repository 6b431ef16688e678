#include "server/config_option.h"

#include "proto/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MEMBER(member) offsetof(struct config, member), sizeof(((struct config *)0)->member)
#define KIB UINT64_C(1024)
#define GIB (KIB * KIB * KIB)
#define VALUE_SIZE 320

/* The types up to OPTION_WORD are stored as text, the later types as numbers. */
enum option_type {
    OPTION_TEXT,
    OPTION_ADDRESS,
    OPTION_HOSTS,
    OPTION_ORIGINS,
    OPTION_TILES,
    OPTION_WORD, /* one of the choices, stored as text */
    OPTION_NUMBER,
    OPTION_BYTES, /* a number with an optional suffix */
    OPTION_CHOICE /* one of the choices, stored as its index, an enum */
};

struct config_option {
    const char *section;
    const char *key;
    const char *fallback; /* the default */
    enum option_type type;
    uint64_t min;
    uint64_t max;
    const char *choices; /* words separated by commas */
    size_t offset;       /* offset of the member in struct config */
    size_t size;         /* size of the member, which limits the length of a text */
    const char *help;
};

/* The type, range and choices of an option. */
#define TEXT(type) type, 0, 0, NULL
#define NUMBER(min, max) OPTION_NUMBER, min, max, NULL
#define BYTES(min, max) OPTION_BYTES, min, max, NULL
#define CHOICE(choices) OPTION_CHOICE, 0, 0, choices
#define WORD(choices) OPTION_WORD, 0, 0, choices

/* clang-format off */
static const struct config_option options[] = {
    {"http", "listen", "127.0.0.1:8080", TEXT(OPTION_ADDRESS), MEMBER(listen),
     "Address and port to listen on. Port 0 picks a free port; [::1]:8080 is an IPv6 address, "
     "and unix:/run/apspd/socket is a Unix socket."},
    {"http", "socket_mode", "0660", WORD("0600, 0660, 0666"), MEMBER(socket_mode),
     "Mode of a Unix socket, which determines who may connect: 0600 = its owner; 0660 = also its "
     "group; 0666 = everybody."},
    {"http", "network", "secure", CHOICE("secure, plain, open"), MEMBER(network),
     "Security that an address requires if other machines can reach it; without this security "
     "apspd refuses to start. secure = keys and TLS; plain = only keys, for a network that is "
     "trusted or encrypted by other means; open = nothing."},
    {"http", "keys_file", CONFIG_NONE, TEXT(OPTION_TEXT), MEMBER(keys_file),
     "File of the accepted keys; the file is read again on SIGHUP. credential:NAME is a file that "
     "systemd loads (LoadCredential=). none = no keys: every client may do everything."},
    {"http", "hosts", CONFIG_NONE, TEXT(OPTION_HOSTS), MEMBER(hosts),
     "Host names by which clients reach a service without keys, as in the Host header but without "
     "the port. localhost, the name in listen and IP addresses are always accepted; other names "
     "are refused with 421, so that no web page can reach the service by DNS rebinding."},
    {"http", "cors_origins", CONFIG_NONE, TEXT(OPTION_ORIGINS), MEMBER(cors_origins),
     "Origins whose web pages may use the service from a browser (CORS), such as "
     "https://app.example. Keys are still required; cookies are not used. * = every origin: "
     "without keys, any web page that a user opens may then read, submit and delete graphs."},
    {"http", "tiles", CONFIG_NONE, TEXT(OPTION_TILES), MEMBER(tiles),
     "URL of the map tiles that browsers show under graphs with coordinates in degrees, such as "
     "https://tile.example/{z}/{x}/{y}.png (Web Mercator, 256 pixels). The tile server learns "
     "which areas are viewed. none = no map."},
    {"http", "tiles_credit", CONFIG_NONE, TEXT(OPTION_TEXT), MEMBER(tiles_credit),
     "Attribution shown under the map."},
    {"http", "tls_certificate", CONFIG_NONE, TEXT(OPTION_TEXT), MEMBER(tls_certificate),
     "PEM file of the certificate and its chain, or credential:NAME; the file is read again on "
     "SIGHUP. A certificate enables TLS 1.2 and 1.3 on every address except Unix sockets. none = "
     "no TLS."},
    {"http", "tls_key", CONFIG_NONE, TEXT(OPTION_TEXT), MEMBER(tls_key),
     "PEM file of the certificate's private key, or credential:NAME."},
    {"http", "threads", "4", NUMBER(1, 64), MEMBER(http_threads),
     "Number of threads that handle requests."},
    {"http", "connection_limit", "16384", NUMBER(1, 100000), MEMBER(connection_limit),
     "Maximum number of open connections; an active connection uses 25 KiB. At the limit, a new "
     "connection replaces an idle connection; if no connection is idle, the new connection "
     "receives status 503."},
    {"http", "address_limit", "4096", NUMBER(0, 100000), MEMBER(address_limit),
     "Maximum number of connections from one address (IPv6: one /64); further connections "
     "receive status 429. Behind a proxy all clients have the same address. 0 = no limit."},
    {"http", "wrong_key_limit", "60", NUMBER(0, 1000000), MEMBER(wrong_key_limit),
     "Maximum number of wrong keys per minute from one address (IPv6: one /64); further requests "
     "with a wrong key receive status 429, and the connection is closed. Valid keys from that "
     "address are still accepted. 0 = no limit."},
    {"http", "connection_timeout_s", "30", NUMBER(1, 86400), MEMBER(connection_timeout_s),
     "Seconds after which a connection is closed if no byte is sent or received."},
    {"http", "header_timeout_s", "10", NUMBER(1, 3600), MEMBER(header_timeout_s),
     "Number of seconds within which a client must send the complete header of a request."},
    {"http", "rate_floor", "1024", NUMBER(0, UINT64_C(1) << 30), MEMBER(rate_floor),
     "Lowest rate, in bytes per second, at which a client must send a body or receive a response. "
     "The connection is closed when a body is header_timeout_s seconds behind this rate, or when a "
     "response is stall_timeout_s seconds behind. A client that transfers nothing falls behind by "
     "1 second per second, and a client at 90 % of the rate by 0.1 seconds. 0 = no limit."},
    {"http", "stall_timeout_s", "30", NUMBER(1, 3600), MEMBER(stall_timeout_s),
     "Maximum number of seconds that a client may lag behind rate_floor during a response."},
    {"http", "body_limit", "4294967296", BYTES(1, KIB * KIB * GIB), MEMBER(body_limit_bytes),
     "Largest graph upload in bytes. Suffixes KiB, MiB, GiB and TiB are accepted."},
    {"http", "upload_memory", "0", BYTES(0, KIB * KIB * GIB), MEMBER(upload_memory_bytes),
     "Memory in bytes for uploads in progress: the edges and names of their graphs, and lists of "
     "pairs. A tenant may use half of this memory, and a client address may use half of its "
     "tenant's share; without keys, an address may use half of the total. Clients of a Unix socket "
     "count as one address. An upload larger than the share of its address is refused with 413. An "
     "upload that does not fit in addition to the current uploads is refused with 429. The first "
     "256 KiB of each upload do not count. 0 = half of the memory that is available to the machine "
     "or control group when apspd starts. Accepts the same suffixes as body_limit."},
    {"http", "decoded_limit", "17179869184", BYTES(1, KIB * KIB * GIB), MEMBER(decoded_limit_bytes),
     "Largest decompressed size of an upload in bytes. Accepts the same suffixes as body_limit."},
    {"http", "decoded_ratio", "200", NUMBER(1, 1000000), MEMBER(decoded_ratio),
     "Largest decompressed size of an upload as a multiple of its compressed size. Sizes up to 1 "
     "MiB are exempt."},
    {"http", "document_limit", "65536", BYTES(KIB, GIB), MEMBER(document_limit_bytes),
     "Maximum size of a JSON request body other than a graph, in bytes."},
    {"http", "wait_limit_s", "60", NUMBER(0, 60), MEMBER(wait_limit_s),
     "Longest time in seconds that a request may wait for a job (Prefer: wait)."},
    {"http", "heartbeat_s", "15", NUMBER(1, 60), MEMBER(heartbeat_s),
     "Longest time in seconds between two messages of a job's event stream."},
    {"http", "watcher_limit", "500", NUMBER(1, 100000), MEMBER(watcher_limit),
     "Maximum number of open event streams, each on its own connection; further streams are "
     "refused with 429."},
    {"http", "json_cell_limit", "64000000", NUMBER(1, UINT64_C(1) << 40), MEMBER(json_cell_limit),
     "Maximum number of distances in one JSON response; a graph of 8,000 vertices has 64 million. "
     "Larger matrices are available as npy, raw, nthu, csv, ndjson or mtx, or in parts."},
    {"http", "pairs_limit", "16777216", BYTES(KIB, UINT64_C(64) * GIB), MEMBER(pairs_limit_bytes),
     "Largest body, in bytes, of a request that lists pairs or vertices to query. The body stays "
     "in memory, which upload_memory limits, until the request is answered."},
    {"graph", "vertex_limit", "0", NUMBER(0, UINT32_MAX - 1), MEMBER(vertex_limit),
     "Maximum number of vertices of a graph. 0 = as many as the devices can solve."},
    {"graph", "edge_limit", "1000000000", NUMBER(1, UINT64_C(1) << 40), MEMBER(edge_limit),
     "Maximum number of edges of a graph; each edge takes 12 to 16 bytes of memory during the "
     "upload."},
    {"jobs", "queue_limit", "64", NUMBER(1, 100000), MEMBER(queue_limit),
     "Maximum number of waiting jobs; further jobs are refused with 429. If several tenants may "
     "submit, a tenant's job is accepted only while the tenant has fewer waiting jobs than the "
     "queue has free places."},
    {"jobs", "history_limit", "10000", NUMBER(1, 10000000), MEMBER(history_limit),
     "Maximum number of finished jobs whose documents are stored; the oldest jobs are deleted "
     "first."},
    {"jobs", "drain_s", "30", NUMBER(0, 86400), MEMBER(drain_s),
     "Seconds after SIGTERM until jobs that are still running are stopped; the service queues them "
     "again when it starts."},
    {"store", "state_dir", "./apspd-state", TEXT(OPTION_TEXT), MEMBER(state_dir),
     "Folder for all data that outlives the process. The folder is created if it is missing; "
     "only one daemon at a time can use it."},
    {"store", "result_budget", "0", BYTES(0, UINT64_C(1) << 60), MEMBER(result_budget_bytes),
     "Maximum size of all results on disk, in bytes. The least recently used results are evicted "
     "first, and are solved again when they are requested. 0 = limited only by the disk. Accepts "
     "the same suffixes as body_limit."},
    {"store", "result_limit", "30000", NUMBER(1, 60000), MEMBER(result_limit),
     "Maximum number of results on disk. Each result has an open file and a memory mapping, and "
     "Linux allows a process about 65,000 mappings."},
    {"store", "disk_reserve", "67108864", BYTES(0, UINT64_C(1) << 50), MEMBER(disk_reserve_bytes),
     "Disk space in bytes that the service keeps free: an upload whose result would use this space "
     "is refused. Accepts the same suffixes as body_limit."},
    {"store", "path_budget", "1073741824", BYTES(KIB, UINT64_C(1) << 50), MEMBER(path_budget_bytes),
     "Memory in bytes for cached graphs: edges for path queries (8 to 24 bytes per edge) and "
     "coordinates (40 bytes per vertex). The least recently used entries are evicted first; a "
     "graph that exceeds the limit by itself cannot be queried for paths or coordinates. Accepts "
     "the same suffixes as body_limit."},
    {"store", "plan_budget", "67108864", BYTES(0, UINT64_C(1) << 50), MEMBER(plan_budget_bytes),
     "Maximum size of the plans cached on disk, in bytes; each plan takes 4 bytes per vertex, but "
     "at least 64 KiB. A plan is reused for graphs with the same edges but different weights. The "
     "least recently used plans are evicted first. 0 = no cache. Accepts the same suffixes as "
     "body_limit."},
    {"solver", "backend", "auto", CHOICE("auto, gpu, cpu"), MEMBER(solver.choice),
     "Solver: auto = the GPU if one is usable, else the CPU; gpu = refuse to start without a GPU."},
    {"solver", "cpu_threads", "0", NUMBER(0, 1024), MEMBER(solver.cpu_threads),
     "Number of threads of the CPU solver. 0 = one thread per core that is available to the "
     "process."},
    {"solver", "cpu_isa", "auto", WORD("auto, portable, avx2, avx512"), MEMBER(solver.cpu_isa),
     "Instruction set of the CPU solver: auto = the widest set that this processor supports."},
    {"solver", "plans", "auto", CHOICE("auto, none"), MEMBER(solver.plans),
     "Whether sparse graphs are solved with a plan that skips unnecessary work: auto = if the plan "
     "makes the solve faster; none = never, for comparison."},
    {"solver", "group", "auto", CHOICE("auto, none, all"), MEMBER(solver.group),
     "Whether the GPUs of this host solve one dense graph together: auto = if the graph does not "
     "fit on a single GPU, or is large while the other GPUs are idle; none = never; all = always."},
    {"solver", "launcher", CONFIG_NONE, TEXT(OPTION_TEXT), MEMBER(launcher),
     "Command that starts the solver as MPI processes on this and other hosts, such as mpirun -n "
     "4 or srun -N 4. A shell runs this command with the path of apsp-mpi appended. Requires "
     "worker.isolation = process. none = the solver runs on this host."},
    {"hierarchy", "label_budget", "0", BYTES(0, UINT64_C(1) << 50), MEMBER(label_budget_bytes),
     "Memory in bytes to cache the vertex labels from which distances in hierarchies are computed, "
     "and the rows of small hierarchies. The least recently used hierarchy is evicted first; a "
     "query without cached labels takes longer. 0 = a quarter of the memory, at most 1 GiB. "
     "Accepts the same suffixes as body_limit."},
    {"hierarchy", "sweep_limit_s", "10", NUMBER(1, 86400), MEMBER(sweep_limit_s),
     "Maximum time in seconds to compute the statistics or a heat map of a hierarchy, as estimated "
     "from its size. If the estimate is higher, statistics and heat maps are available only for a "
     "graph that is solved as a matrix."},
    {"worker", "isolation", "thread", CHOICE("thread, process"), MEMBER(isolation),
     "Where a solver runs: in a thread of the service, or in a separate process, which is replaced "
     "if it fails or hangs."},
    {"worker", "stall_s", "10", NUMBER(1, 86400), MEMBER(stall_s),
     "Seconds without a heartbeat, or without a finished round of a solve, after which a worker "
     "process counts as hung. A round may take 20 times the expected time of its solve if that "
     "exceeds stall_s."},
    {"service", "confinement", "auto", CHOICE("auto, required, off"), MEMBER(confinement),
     "Sandbox of the running service. It takes away rights that an intruder could use: "
     "capabilities, new privileges, core dumps, access to other users' files, and system calls "
     "that start programs or open connections. auto = as many of these restrictions as the kernel "
     "supports; required = all of them, or apspd refuses to start."},
    {"log", "level", "info", CHOICE("debug, info, warning, error"), MEMBER(log_level),
     "Lowest level of the log events written to standard error."},
};
/* clang-format on */

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static bool takes_option(enum config_program program, const struct config_option *option)
{
    return program == CONFIG_DAEMON ||
           (strcmp(option->section, "solver") == 0 && strcmp(option->key, "launcher") != 0);
}

const struct config_option *config_option_find(enum config_program program, const char *section,
                                               size_t section_size, const char *key)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options[i].section) == section_size &&
            memcmp(options[i].section, section, section_size) == 0 &&
            strcmp(options[i].key, key) == 0) {
            return takes_option(program, &options[i]) ? &options[i] : NULL;
        }
    }
    return NULL;
}

bool config_parse_number(const char *text, bool bytes, uint64_t *ret_value)
{
    static const char *const suffixes[] = {"", "KiB", "MiB", "GiB", "TiB"};
    const size_t digits = strspn(text, "0123456789");
    const char *suffix = text + digits + (bytes && text[digits] == ' ');
    int64_t value;
    size_t i = 0;
    while (i < (bytes ? 5 : 1) && strcmp(suffix, suffixes[i]) != 0) {
        i++;
    }
    return i < (bytes ? 5 : 1) && number_parse_integer(text, digits, &value) &&
           !__builtin_mul_overflow(value, INT64_C(1) << (10 * i), ret_value);
}

static bool is_address(const char *text)
{
    static const char socket_prefix[] = "unix:";
    if (strncmp(text, socket_prefix, strlen(socket_prefix)) == 0) {
        return text[strlen(socket_prefix)] != '\0';
    }
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (colon == NULL || colon == text || strlen(colon) > 6 ||
        !config_parse_number(colon + 1, false, &port) || port > 65535) {
        return false;
    }
    size_t host = (size_t)(colon - text);
    if (text[0] == '[') {
        return colon[-1] == ']' && host > 2;
    }
    return memchr(text, ':', host) == NULL;
}

static bool are_hosts(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("-._ ,", *c) == NULL) {
            return false;
        }
    }
    return true;
}

/* Returns whether every word is an origin as browsers send it: without a path or final slash. */
static bool are_origins(const char *text)
{
    const char *word;
    size_t size;
    while ((word = config_list_next(&text, &size)) != NULL) {
        const size_t scheme = strcspn(word, ":");
        const size_t host = scheme + strlen("://");
        if ((size != 1 || word[0] != '*') &&
            (scheme == 0 || host >= size || strncmp(word + scheme, "://", 3) != 0 ||
             strcspn(word + host, "/?#@\\") < size - host)) {
            return false;
        }
    }
    return true;
}

/* Returns whether the text is a URL with {z}, {x} and {y}, whose origin is safe in a header. */
static bool is_tiles(const char *text)
{
    const char *host = strncmp(text, "https://", 8) == 0  ? text + 8
                       : strncmp(text, "http://", 7) == 0 ? text + 7
                                                          : NULL;
    if (host == NULL) {
        return strcmp(text, CONFIG_NONE) == 0;
    }
    const size_t size = strcspn(host, "/{ \"'<>;,*?#@\\");
    return size > 0 && host[size] == '/' && strstr(host, "{z}") != NULL &&
           strstr(host, "{x}") != NULL && strstr(host, "{y}") != NULL;
}

/* The text types, each with its check and a description of its syntax. */
static const struct {
    bool (*accepts)(const char *text);
    const char *range;
} text_types[] = {
    [OPTION_ADDRESS] = {is_address, "HOST:PORT or unix:PATH"},
    [OPTION_HOSTS] = {are_hosts, "host names separated by spaces, or none"},
    [OPTION_ORIGINS] = {are_origins,
                        "one or more SCHEME://HOST[:PORT] separated by spaces, or *, or none"},
    [OPTION_TILES] = {is_tiles, "http[s]://HOST/PATH with {z}, {x} and {y}, or none"},
    [OPTION_WORD] = {NULL, NULL},
};

/* Finds the index of a word in the choices; returns false if the word is not one of them. */
static bool find_choice(const char *choices, const char *text, uint64_t *ret_number)
{
    const char *word;
    size_t size;
    for (uint64_t i = 0; (word = config_list_next(&choices, &size)) != NULL; i++) {
        if (strlen(text) == size && memcmp(word, text, size) == 0) {
            *ret_number = i;
            return true;
        }
    }
    return false;
}

/* Stores a text, or returns false if a configuration file cannot represent it: if it contains
 * control characters, or begins or ends with a space. */
static bool store_text(const struct config_option *option, const char *text, char *member)
{
    const size_t size = strlen(text);
    if (size == 0 || size >= option->size || text[0] == ' ' || text[size - 1] == ' ') {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (iscntrl((unsigned char)text[i])) {
            return false;
        }
    }
    memcpy(member, text, size + 1);
    return true;
}

static bool store_value(struct config *config, const struct config_option *option, const char *text)
{
    char *member = (char *)config + option->offset;
    uint64_t number = 0;
    if (option->choices != NULL && !find_choice(option->choices, text, &number)) {
        return false;
    }
    if (option->type <= OPTION_WORD) {
        return (text_types[option->type].accepts == NULL ||
                text_types[option->type].accepts(text)) &&
               store_text(option, text, member);
    }
    if (option->choices == NULL &&
        (!config_parse_number(text, option->type == OPTION_BYTES, &number) ||
         number < option->min || number > option->max)) {
        return false;
    }
    /* Members of 4 bytes get the low half: only little-endian machines are supported. */
    memcpy(member, &number, option->size);
    return true;
}

static void print_range(const struct config_option *option, char ret_text[VALUE_SIZE])
{
    if (option->choices != NULL) {
        snprintf(ret_text, VALUE_SIZE, "%s", option->choices);
    } else if (option->type > OPTION_WORD) {
        snprintf(ret_text, VALUE_SIZE, "%" PRIu64 " to %" PRIu64, option->min, option->max);
    } else if (option->type == OPTION_TEXT) {
        snprintf(ret_text, VALUE_SIZE, "1 to %zu bytes of text", option->size - 1);
    } else {
        snprintf(ret_text, VALUE_SIZE, "%s", text_types[option->type].range);
    }
}

enum status config_option_set(struct config *config, const struct config_option *option,
                              const char *value, const char *origin, struct problem *reterr)
{
    if (store_value(config, option, value)) {
        return STATUS_OK;
    }
    char range[VALUE_SIZE];
    print_range(option, range);
    problem_set(reterr, STATUS_CONFIG, "%s: %s.%s is \"%.*s\"; %s %s", origin, option->section,
                option->key, CONFIG_SHOWN, value,
                option->choices != NULL ? "it must be one of" : "it must be", range);
    if (strstr(value, " ;") != NULL || strstr(value, " #") != NULL) {
        problem_hint(reterr, "a comment must be on its own line");
    }
    return STATUS_CONFIG;
}

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof(*config));
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        CHECK(store_value(config, &options[i], options[i].fallback));
    }
}

#define COLUMNS 78

/* Prints the words in lines of at most 80 columns, each line beginning with the prefix. */
static void print_lines(FILE *stream, const char *prefix, const char *words)
{
    while (*words != '\0') {
        const size_t room = COLUMNS - strlen(prefix);
        size_t size = strlen(words);
        if (size > room) {
            size = room;
            while (size > 0 && words[size] != ' ') {
                size--;
            }
            size = size == 0 ? strcspn(words, " ") : size;
        }
        fprintf(stream, "%s%.*s\n", prefix, (int)size, words);
        words += size;
        words += strspn(words, " ");
    }
}

/* Formats a value as in the configuration file; a text value is returned without copying. */
static const char *print_value(const struct config *config, const struct config_option *option,
                               char buffer[VALUE_SIZE])
{
    const char *member = (const char *)config + option->offset;
    uint64_t number = 0;
    if (option->type <= OPTION_WORD) {
        return member;
    }
    memcpy(&number, member, option->size);
    if (option->type == OPTION_CHOICE) {
        const char *choices = option->choices;
        size_t size;
        const char *word = config_list_next(&choices, &size);
        for (; number > 0; number--) {
            word = config_list_next(&choices, &size);
        }
        snprintf(buffer, VALUE_SIZE, "%.*s", (int)size, word);
    } else {
        snprintf(buffer, VALUE_SIZE, "%" PRIu64, number);
    }
    return buffer;
}

void config_compare(const struct config *config, const struct config *file, config_report *report)
{
    for (const struct config_option *option = options; option < options + OPTION_COUNT; option++) {
        char buffers[2][VALUE_SIZE];
        const char *value = print_value(config, option, buffers[0]);
        const char *in_file = print_value(file, option, buffers[1]);
        if (strcmp(value, in_file) != 0) {
            report(option->section, option->key, value, in_file);
        }
    }
}

void config_print(const struct config *config, FILE *stream)
{
    const char *section = "";
    print_lines(stream, "; ",
                "The configuration of apspd. Environment variables (APSPD_HTTP_THREADS) override "
                "this file, and flags (--http.threads) override both. A comment must be on its own "
                "line.");
    for (const struct config_option *option = options; option < options + OPTION_COUNT; option++) {
        char range[VALUE_SIZE];
        char line[2 * VALUE_SIZE];
        if (strcmp(option->section, section) != 0) {
            section = option->section;
            fprintf(stream, "\n[%s]\n", section);
        }
        char buffer[VALUE_SIZE];
        print_range(option, range);
        snprintf(line, sizeof(line), "%s: %s. Default: %s",
                 option->choices != NULL ? "One of" : "Range", range, option->fallback);
        fputc('\n', stream);
        print_lines(stream, "; ", option->help);
        print_lines(stream, "; ", line);
        fprintf(stream, "%s = %s\n", option->key, print_value(config, option, buffer));
    }
}

void config_print_help(enum config_program program, FILE *stream)
{
    if (program == CONFIG_DAEMON) {
        fputs("usage: apspd [--config FILE] [FLAGS]\n"
              "Solves all-pairs shortest paths of uploaded graphs and serves them over HTTP.\n\n"
              "  --config FILE    Read settings from FILE; the environment overrides the file,\n"
              "                   and flags override both.\n"
              "  --check-config   Check the configuration, print which settings of the file a\n"
              "                   flag or the environment overrides, and exit.\n"
              "  --print-config   Print the configuration as a commented file, and exit.\n"
              "  --add-key FILE TENANT ROLE\n"
              "                   Add a new key to the key file FILE, print the key, and exit.\n"
              "  --help, --version\n\n"
              "--listen, --state-dir and --solver are short for --http.listen,\n"
              "--store.state_dir and --solver.backend. Every setting has an environment\n"
              "variable too, such as APSPD_HTTP_THREADS for http.threads.\n\n",
              stream);
    }
    for (const struct config_option *option = options; option < options + OPTION_COUNT; option++) {
        char range[VALUE_SIZE];
        char line[2 * VALUE_SIZE];
        if (takes_option(program, option)) {
            print_range(option, range);
            snprintf(line, sizeof(line), "%s (%s; default %s)", option->help, range,
                     option->fallback);
            fprintf(stream, "  --%s.%s VALUE\n", option->section, option->key);
            print_lines(stream, "      ", line);
        }
    }
}
