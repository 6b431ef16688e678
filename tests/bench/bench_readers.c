/* Measures how fast each reader parses bytes on one core, in seconds of processor time. The reader
 * gets pieces of 64 KiB, as in an upload. For comparison, the same run parses every number of the
 * text with strtol, and finds every line end with memchr (like wc -l). Then measures the peak
 * memory of reading a graph, in a separate process. The limit is 24 bytes per edge plus 64 MiB.
 *
 *   bench_readers [MEGABYTES]     size of the text, default 128; 0 = measure only the memory */
#include "proto/read/reader.h"
#include "proto/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE_SIZE ((size_t)64 << 10)
#define VERTICES 100000u
#define REPEATS 3
#define MEMORY_EDGES 8000000u
#define METIS_DEGREE 80u

/* Writes a graph in one format: a header for edge_count edges, then one edge at a time. */
struct sample {
    const char *name;
    enum format format;
    bool text;
    void (*head)(struct text *text, uint32_t edge_count);
    void (*edge)(struct text *text, uint32_t index, const uint32_t edge[3]);
    const char *tail;
    uint32_t listed; /* how many times the format lists each edge */
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static void no_head(struct text *text, uint32_t edge_count)
{
    (void)text, (void)edge_count;
}

static void head_dimacs(struct text *text, uint32_t edge_count)
{
    text_printf(text, "p sp %u %u\n", VERTICES, edge_count);
}

static void edge_dimacs(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "a %u %u %u\n", edge[0] + 1, edge[1] + 1, edge[2]);
}

static void edge_csv(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "%u,%u,%u\n", edge[0], edge[1], edge[2]);
}

static void edge_tsv(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "%u\t%u\t%u\n", edge[0], edge[1], edge[2]);
}

static void head_nthu(struct text *text, uint32_t edge_count)
{
    const uint32_t head[2] = {VERTICES, edge_count};

    text_append(text, head, sizeof head);
}

static void edge_nthu(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_append(text, edge, 3 * sizeof edge[0]);
}

static void head_mtx(struct text *text, uint32_t edge_count)
{
    text_printf(text, "%%%%MatrixMarket matrix coordinate integer general\n%u %u %u\n", VERTICES,
                VERTICES, edge_count);
}

static void edge_mtx(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "%u %u %u\n", edge[0] + 1, edge[1] + 1, edge[2]);
}

static void edge_decimal(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "%u,%u,%u.25\n", edge[0], edge[1], edge[2]);
}

static void head_json(struct text *text, uint32_t edge_count)
{
    (void)edge_count;
    text_printf(text, "{\"n\":%u,\"edges\":[", VERTICES);
}

static void edge_json(struct text *text, uint32_t index, const uint32_t edge[3])
{
    text_printf(text, "%s[%u,%u,%u]", index > 0 ? "," : "", edge[0], edge[1], edge[2]);
}

static void head_real_mtx(struct text *text, uint32_t edge_count)
{
    text_printf(text, "%%%%MatrixMarket matrix coordinate real general\n%u %u %u\n", VERTICES,
                VERTICES, edge_count);
}

static void edge_real_mtx(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "%u %u %u.25\n", edge[0] + 1, edge[1] + 1, edge[2]);
}

/* Size that the header announces: METIS vertices or .npy elements. Edges beyond this size are not
 * written. */
static uint32_t announced;

/* Starts a METIS file of a ring with chords, in which each vertex lists METIS_DEGREE neighbours. */
static void head_metis(struct text *text, uint32_t edge_count)
{
    announced = edge_count / METIS_DEGREE;
    text_printf(text, "%u %u 001\n", announced, announced * (METIS_DEGREE / 2));
}

static void edge_metis(struct text *text, uint32_t index, const uint32_t edge[3])
{
    const uint32_t place = index % METIS_DEGREE;
    const uint32_t step = place / 2 + 1;

    (void)edge;
    if (index / METIS_DEGREE >= announced) {
        return;
    }
    text_printf(text, "%u %u%s",
                (index / METIS_DEGREE + (place % 2 == 0 ? step : announced - step)) % announced + 1,
                step, place + 1 == METIS_DEGREE ? "\n" : " ");
}

static void head_npy(struct text *text, uint32_t edge_count)
{
    const char magic[] = "\x93NUMPY\1\0\x76";
    const uint32_t side = (uint32_t)sqrt((double)edge_count);
    char head[120];
    int size =
        snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u), }",
                 side, side);

    announced = side * side;
    text_append(text, magic, sizeof magic); /* the final NUL is the high byte of the size */
    text_printf(text, "%s%*s\n", head, 0x76 - 1 - size, "");
}

static void edge_npy(struct text *text, uint32_t index, const uint32_t edge[3])
{
    const double weight = edge[2] + 0.25;

    if (index < announced) {
        text_append(text, &weight, sizeof weight);
    }
}

static void head_jgf(struct text *text, uint32_t edge_count)
{
    (void)edge_count;
    text_append_string(text, "{\"graph\":{\"nodes\":{");
    for (uint32_t v = 0; v < VERTICES; v++) {
        text_printf(text, "%s\"%u\":{}", v > 0 ? "," : "", v);
    }
    text_append_string(text, "},\"edges\":[");
}

static void edge_jgf(struct text *text, uint32_t index, const uint32_t edge[3])
{
    text_printf(text, "%s{\"source\":\"%u\",\"target\":\"%u\",\"metadata\":{\"weight\":%u.25}}",
                index > 0 ? "," : "", edge[0], edge[1], edge[2]);
}

static void head_graphml(struct text *text, uint32_t edge_count)
{
    (void)edge_count;
    text_append_string(text,
                       "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
                       "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>"
                       "<graph edgedefault=\"directed\">");
    for (uint32_t v = 0; v < VERTICES; v++) {
        text_printf(text, "<node id=\"%u\"/>", v);
    }
}

static void edge_graphml(struct text *text, uint32_t index, const uint32_t edge[3])
{
    (void)index;
    text_printf(text, "<edge source=\"%u\" target=\"%u\"><data key=\"w\">%u.25</data></edge>",
                edge[0], edge[1], edge[2]);
}

static const struct sample samples[] = {
    {"dimacs", FORMAT_DIMACS, true, head_dimacs, edge_dimacs, "", 1},
    {"edges, CSV", FORMAT_EDGES, true, no_head, edge_csv, "", 1},
    {"edges, TSV", FORMAT_EDGES, true, no_head, edge_tsv, "", 1},
    {"edges, CSV, decimals", FORMAT_EDGES, true, no_head, edge_decimal, "", 1},
    {"nthu", FORMAT_NTHU, false, head_nthu, edge_nthu, "", 1},
    {"mtx", FORMAT_MTX, true, head_mtx, edge_mtx, "", 1},
    {"mtx, decimals", FORMAT_MTX, true, head_real_mtx, edge_real_mtx, "", 1},
    {"json, compact", FORMAT_JSON, true, head_json, edge_json, "]}", 1},
    {"jgf, decimals", FORMAT_JGF, true, head_jgf, edge_jgf, "]}}", 1},
    {"graphml, decimals", FORMAT_GRAPHML, true, head_graphml, edge_graphml, "</graph></graphml>",
     1},
    {"metis", FORMAT_METIS, true, head_metis, edge_metis, "", 2},
    {"npy, f8", FORMAT_NPY, false, head_npy, edge_npy, "", 1},
};

static void append_edge(const struct sample *sample, struct text *text, uint32_t index,
                        uint64_t *seed)
{
    const uint32_t edge[3] = {draw(seed, VERTICES), draw(seed, VERTICES), 1 + draw(seed, 1000)};

    sample->edge(text, index, edge);
}

static struct reader *create(const struct sample *sample)
{
    const struct graph_options options = {0};
    struct reader *reader;

    CHECK(reader_create(sample->format, &options, &reader) == STATUS_OK);
    return reader;
}

static void feed(struct reader *reader, const char *bytes, size_t size)
{
    struct problem problem = {0};

    if (reader_feed(reader, bytes, size, &problem) != STATUS_OK) {
        fprintf(stderr, "line %" PRIu64 ": %s\n", problem.line, problem.detail);
        abort();
    }
}

static double cpu_now_s(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_reader(const struct sample *sample, const struct text *text)
{
    struct reader *reader = create(sample);
    const double began_s = cpu_now_s();
    double seconds;

    for (size_t at = 0; at < text->size; at += PIECE_SIZE) {
        feed(reader, text->bytes + at, text->size - at < PIECE_SIZE ? text->size - at : PIECE_SIZE);
    }
    seconds = cpu_now_s() - began_s;
    reader_destroy(reader);
    return seconds;
}

static double time_strtol(const struct text *text, long *ret_sum)
{
    const double began_s = cpu_now_s();
    const char *at = text->bytes;
    long sum = 0;

    while (*at != '\0') {
        char *end;
        long value = strtol(at, &end, 10);

        sum += value;
        at = end > at ? end : at + 1;
    }
    *ret_sum = sum;
    return cpu_now_s() - began_s;
}

static double time_lines(const struct text *text, long *ret_count)
{
    const double began_s = cpu_now_s();
    const char *end = text->bytes + text->size;
    long count = 0;

    for (const char *at = text->bytes; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        count++;
    }
    __asm__ volatile("" : : "r"(count) : "memory");
    *ret_count = count;
    return cpu_now_s() - began_s;
}

/* Copies the text to a buffer in pieces, which is the minimum work of any binary reader. */
static double time_copy(const struct text *text, char *piece)
{
    const double began_s = cpu_now_s();

    for (size_t at = 0; at + PIECE_SIZE <= text->size; at += PIECE_SIZE) {
        memcpy(piece, text->bytes + at, PIECE_SIZE);
        __asm__ volatile("" : : "r"(piece) : "memory");
    }
    return cpu_now_s() - began_s;
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void bench_speed(const struct sample *sample, size_t size)
{
    struct text text = {0};
    static char piece[PIECE_SIZE];
    double reader_s = 0;
    double strtol_s = 0;
    double other_s = 0;
    uint64_t seed = 1;
    uint32_t count = (uint32_t)(size / 24);
    double megabytes;
    long ignored;

    sample->head(&text, count);
    for (uint32_t i = 0; i < count; i++) {
        append_edge(sample, &text, i, &seed);
    }
    CHECK(text_status(&text) == STATUS_OK);
    megabytes = (double)text.size / 1e6;
    for (int i = 0; i < REPEATS; i++) {
        reader_s = least(reader_s, time_reader(sample, &text));
        strtol_s = sample->text ? least(strtol_s, time_strtol(&text, &ignored)) : 0;
        other_s =
            least(other_s, sample->text ? time_lines(&text, &ignored) : time_copy(&text, piece));
    }
    printf("%-22s %6.0f MB  reader %7.0f MB/s", sample->name, megabytes, megabytes / reader_s);
    if (sample->text) {
        printf("  strtol %6.0f MB/s  ratio %.2f  lines %6.0f MB/s  ratio %.3f\n",
               megabytes / strtol_s, strtol_s / reader_s, megabytes / other_s, other_s / reader_s);
    } else {
        printf("  memcpy %6.0f MB/s  ratio %.2f\n", megabytes / other_s, other_s / reader_s);
    }
    text_finish(&text);
}

/* Generates and reads edges one at a time, so that only the reader's memory grows. */
static void read_made(const struct sample *sample)
{
    struct reader *reader = create(sample);
    struct text text = {0};
    struct problem problem = {0};
    struct graph *graph;
    struct rusage usage;
    uint64_t seed = 1;

    sample->head(&text, MEMORY_EDGES);
    for (uint32_t i = 0; i < MEMORY_EDGES; i++) {
        append_edge(sample, &text, i, &seed);
        if (text.size >= PIECE_SIZE) {
            feed(reader, text.bytes, text.size);
            text_clear(&text);
        }
    }
    text_append_string(&text, sample->tail);
    feed(reader, text.bytes, text.size);
    CHECK(reader_finish(reader, &graph, &problem) == STATUS_OK);
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    const double peak = (double)usage.ru_maxrss * 1024;
    const double edges = MEMORY_EDGES / sample->listed;
    const double promised = 24.0 * edges + 64.0 * 1024 * 1024;
    printf("%-22s %6.1f M edges  peak %7.1f MiB  promised %7.1f MiB  ratio %.2f\n", sample->name,
           edges / 1e6, peak / 1048576, promised / 1048576, peak / promised);
    graph_destroy(graph);
    reader_destroy(reader);
    text_finish(&text);
}

static void bench_memory(const struct sample *sample)
{
    int code = 1;

    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        read_made(sample);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &code, 0) == child && code == 0);
}

int main(int argc, char **argv)
{
    const size_t megabytes = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 128;

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        bench_memory(&samples[i]);
    }
    for (size_t i = 0; megabytes > 0 && i < sizeof samples / sizeof samples[0]; i++) {
        bench_speed(&samples[i], megabytes << 20);
    }
    return 0;
}
