#include "server/command/edge_output.h"

#include "proto/number.h"

#include <inttypes.h>

#define PIECE_SIZE ((size_t)1 << 20)

static void append_integer(struct text *text, uint64_t value)
{
    char digits[NUMBER_PRINT_SIZE];
    text_append(text, digits, number_print_integer((int64_t)value, digits));
}

static void append_weight(const struct edge_output *output, struct text *text, uint64_t weight)
{
    if (!output->thousandths) {
        append_integer(text, weight);
        return;
    }
    const char fraction[4] = {'.', (char)('0' + weight / 100 % 10), (char)('0' + weight / 10 % 10),
                              (char)('0' + weight % 10)};
    append_integer(text, weight / 1000);
    text_append(text, fraction, sizeof fraction);
}

static void append_int32(struct text *text, uint64_t value)
{
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                    (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    text_append(text, bytes, sizeof bytes);
}

static void append_header(struct edge_output *output, uint32_t vertex_count, uint64_t edge_count)
{
    struct text *text = &output->text;
    if (output->format == FORMAT_DIMACS) {
        text_printf(text, "p sp %u %" PRIu64 "\n", vertex_count, edge_count);
    } else if (output->format == FORMAT_EDGES) {
        text_append_string(text, "source,target,weight\n");
    } else if (output->format == FORMAT_JSON) {
        text_printf(text, "{\"n\":%u,\"edges\":[", vertex_count);
    } else {
        append_int32(text, vertex_count);
        append_int32(text, edge_count);
    }
}

/* Three numbers: what stands before, between and behind them. */
static void append_edge(const struct edge_output *output, struct text *text, const char *before,
                        const uint64_t edge[3], char between, const char *behind)
{
    text_append_string(text, before);
    append_integer(text, edge[0]);
    text_append_char(text, between);
    append_integer(text, edge[1]);
    text_append_char(text, between);
    append_weight(output, text, edge[2]);
    text_append_string(text, behind);
}

bool edge_output_writes(enum format format)
{
    return format == FORMAT_DIMACS || format == FORMAT_EDGES || format == FORMAT_JSON ||
           format == FORMAT_NTHU;
}

static enum status flush(struct edge_output *output, size_t least)
{
    if (output->text.size < least) {
        return STATUS_OK;
    }
    enum status status = text_status(&output->text);
    if (status != STATUS_OK) {
        return problem_set(output->reterr, status, "no memory");
    }
    status =
        output_file_write(&output->file, output->text.bytes, output->text.size, output->reterr);
    text_clear(&output->text);
    return status;
}

enum status edge_output_open(struct edge_output *output, const char *path, uint32_t vertex_count,
                             uint64_t edge_count, struct problem *reterr)
{
    output->reterr = reterr;
    if (output->format == FORMAT_NTHU &&
        (output->thousandths || vertex_count > INT32_MAX || edge_count > INT32_MAX)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "nthu holds 32-bit integers only: %u vertices, %" PRIu64 " edges%s",
                           vertex_count, edge_count,
                           output->thousandths ? " with decimal weights" : "");
    }
    enum status status = output_file_open(&output->file, path, reterr);
    if (status == STATUS_OK) {
        append_header(output, vertex_count, edge_count);
    }
    return status;
}

enum status edge_output_take(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    struct edge_output *output = context;
    struct text *text = &output->text;
    const uint64_t base = output->format == FORMAT_DIMACS ? 1 : 0;
    const uint64_t edge[3] = {source + base, target + base, weight};
    if (output->format == FORMAT_DIMACS) {
        append_edge(output, text, "a ", edge, ' ', "\n");
    } else if (output->format == FORMAT_EDGES) {
        append_edge(output, text, "", edge, ',', "\n");
    } else if (output->format == FORMAT_JSON) {
        append_edge(output, text, output->written > 0 ? ",\n[" : "\n[", edge, ',', "]");
    } else {
        append_int32(text, source);
        append_int32(text, target);
        append_int32(text, weight);
    }
    ++output->written;
    return flush(output, PIECE_SIZE);
}

enum status edge_output_commit(struct edge_output *output, struct problem *reterr)
{
    if (output->format == FORMAT_JSON) {
        text_append_string(&output->text, "\n]}\n");
    }
    enum status status = flush(output, 0);
    return status == STATUS_OK ? output_file_commit(&output->file, reterr) : status;
}

void edge_output_finish(struct edge_output *output)
{
    text_finish(&output->text);
    output_file_finish(&output->file);
}
