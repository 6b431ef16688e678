#include "proto/read/decoder.h"

#include "proto/read/charset.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define OUTPUT_SIZE ((size_t)64 << 10)
/* Number of decoded bytes that are accepted before the ratio is checked. */
#define RATIO_FREE_BYTES ((uint64_t)1 << 20)
/* zlib's windowBits for a window of 2^15 bytes and a gzip header (+ 16). */
#define GZIP_WINDOW (15 + 16)
#define ZSTD_WINDOW_LOG 23
#define INPUT_LIMIT ((size_t)1 << 30) /* zlib counts bytes as unsigned int */
/* Length of the longest signature. */
#define HEAD_SIZE 15
#define TO_CSV "Convert the file: import pandas; "
#define AS_CSV ".to_csv('g.csv', index=False)"
#define PICKLE                                                                                     \
    "A pickle can run code, so it is not read. Convert the file: import json, networkx, pickle; "  \
    "json.dump(networkx.node_link_data(pickle.load(open('g.pickle', 'rb'))), open('g.json', 'w'))"

struct decoder {
    struct decoder_rules rules;
    bool told;            /* whether the coding is known */
    char head[HEAD_SIZE]; /* first bytes, held back until the coding is known */
    size_t head_size;
    bool marked; /* whether the text was checked for a byte order mark */
    char mark;   /* held back: first byte of a possible byte order mark; 0 = none */
    struct charset_converter *converter; /* converter to UTF-8; NULL if the text is UTF-8 */
    z_stream gzip;
    ZSTD_DCtx *zstd;
    bool begun;          /* whether any byte was fed */
    bool between;        /* whether the input is between two members or frames */
    bool ended;          /* whether any member or frame has ended */
    char magic;          /* first byte of the current zstd frame */
    unsigned magic_size; /* number of bytes seen of the frame's magic number, up to 4 */
    uint64_t in_bytes;
    uint64_t out_bytes;
    char output[OUTPUT_SIZE];
};

static const char *const names[] = {"identity", "gzip", "zstd"};

const char *decoder_coding_name(enum coding coding)
{
    return names[coding];
}

enum coding decoder_coding_from_name(const char *name)
{
    int coding = CODING_IDENTITY;

    if (strcasecmp(name, "x-gzip") == 0) {
        return CODING_GZIP;
    }
    while (coding < CODING_COUNT && strcasecmp(name, names[coding]) != 0) {
        coding++;
    }
    return (enum coding)coding;
}

enum coding decoder_coding_from_path(const char *path, size_t *ret_size)
{
    static const char *const endings[] = {[CODING_GZIP] = ".gz", [CODING_ZSTD] = ".zst"};
    size_t size = strlen(path);

    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        size_t length = strlen(endings[coding]);

        if (size > length && strcasecmp(path + size - length, endings[coding]) == 0) {
            *ret_size = size - length;
            return (enum coding)coding;
        }
    }
    *ret_size = size;
    return CODING_IDENTITY;
}

static enum status start_coding(struct decoder *decoder, enum coding coding)
{
    if (coding == CODING_GZIP && inflateInit2(&decoder->gzip, GZIP_WINDOW) != Z_OK) {
        return STATUS_NO_MEMORY;
    }
    decoder->rules.coding = coding;
    if (coding != CODING_ZSTD) {
        return STATUS_OK;
    }
    decoder->zstd = ZSTD_createDCtx();
    return decoder->zstd == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
                                        decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG))
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

enum status decoder_create(const struct decoder_rules *rules, struct decoder **ret_decoder)
{
    struct decoder *decoder = calloc(1, sizeof(*decoder));

    if (decoder == NULL) {
        return STATUS_NO_MEMORY;
    }
    decoder->rules = *rules;
    decoder->rules.coding = CODING_IDENTITY;
    decoder->told = rules->coding != CODING_IDENTITY || rules->is_opaque;
    decoder->marked = rules->is_opaque || decoder_is_utf8(decoder);
    enum status status = start_coding(decoder, rules->coding);
    if (status == STATUS_OK && decoder_is_utf8(decoder) && strcmp(rules->charset, "utf-8") != 0) {
        status = charset_converter_create(rules->charset, rules->take, rules->context,
                                          &decoder->converter);
    }
    if (status != STATUS_OK) {
        decoder_destroy(decoder);
        return status;
    }
    *ret_decoder = decoder;
    return STATUS_OK;
}

void decoder_destroy(struct decoder *decoder)
{
    if (decoder == NULL) {
        return;
    }
    if (decoder->rules.coding == CODING_GZIP) {
        inflateEnd(&decoder->gzip);
    }
    ZSTD_freeDCtx(decoder->zstd);
    charset_converter_destroy(decoder->converter);
    free(decoder);
}

uint64_t decoder_memory(const struct decoder *decoder)
{
    const uint64_t window = UINT64_C(1) << ZSTD_WINDOW_LOG;

    if (decoder->zstd == NULL) {
        return 0;
    }
    return decoder->out_bytes < window ? decoder->out_bytes : window;
}

static enum status check_limits(const struct decoder *decoder, struct problem *reterr)
{
    const struct decoder_rules *rules = &decoder->rules;
    uint64_t allowed;

    if (rules->limit_bytes > 0 && decoder->out_bytes > rules->limit_bytes) {
        return problem_refuse_limit(reterr, STATUS_BODY_TOO_LARGE, (double)rules->limit_bytes,
                                    (double)decoder->out_bytes, "Upload a smaller graph.",
                                    "The decoded body is larger than the limit.");
    }
    if (rules->ratio == 0 || __builtin_mul_overflow(decoder->in_bytes, rules->ratio, &allowed) ||
        decoder->out_bytes <= RATIO_FREE_BYTES || decoder->out_bytes <= allowed) {
        return STATUS_OK;
    }
    return problem_refuse_limit(reterr, STATUS_BODY_TOO_LARGE, (double)rules->ratio,
                                (double)decoder->out_bytes / (double)decoder->in_bytes,
                                "Send the body with less compression, or uncompressed.",
                                "The body is compressed more than the limit allows.");
}

static enum status pass_text(struct decoder *decoder, const char *bytes, size_t size,
                             struct problem *reterr)
{
    return decoder->converter != NULL
               ? charset_converter_feed(decoder->converter, bytes, size, reterr)
               : decoder->rules.take(decoder->rules.context, bytes, size, reterr);
}

/* Accepts decoded bytes. Checks the first two for a byte order mark of UTF-16. */
static enum status accept_text(struct decoder *decoder, const char *bytes, size_t size,
                               struct problem *reterr)
{
    if (!decoder->marked && decoder->mark == 0 && (*bytes == '\xFF' || *bytes == '\xFE')) {
        decoder->mark = *bytes;
        bytes++;
        size--;
    }
    if (size == 0) {
        return STATUS_OK;
    }
    if (!decoder->marked && decoder->mark != 0) {
        if ((decoder->mark ^ *bytes) == 1 &&
            charset_converter_create("utf-16", decoder->rules.take, decoder->rules.context,
                                     &decoder->converter) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        STATUS_TRY(pass_text(decoder, &decoder->mark, 1, reterr));
    }
    decoder->marked = true;
    return pass_text(decoder, bytes, size, reterr);
}

static enum status refuse_bytes(const struct decoder *decoder, struct problem *reterr)
{
    return problem_refuse(reterr, STATUS_BAD_GRAPH,
                          decoder->ended ? "Remove the extra bytes, or compress the file again."
                                         : "Compress the file again, or send it uncompressed.",
                          decoder->ended ? "There are extra bytes after the end of the %s data."
                                         : "The body is damaged, or is not %s data.",
                          names[decoder->rules.coding]);
}

/* Ends a decoding step, which took `taken` bytes of the input and made `made` bytes of output.
 * is_end: a member or frame has ended. */
static enum status end_step(struct decoder *decoder, const char **bytes, size_t *size, size_t taken,
                            size_t made, bool is_end, struct problem *reterr)
{
    *bytes += taken;
    *size -= taken;
    decoder->in_bytes += taken;
    decoder->out_bytes += made;
    if (taken > 0 || is_end) {
        decoder->between = is_end;
        decoder->ended = decoder->ended || is_end;
    }
    STATUS_TRY(check_limits(decoder, reterr));
    return made > 0 ? accept_text(decoder, decoder->output, made, reterr) : STATUS_OK;
}

static enum status refuse_zstd(const struct decoder *decoder, size_t code, struct problem *reterr)
{
    ZSTD_ErrorCode error = ZSTD_getErrorCode(code);

    if (error == ZSTD_error_memory_allocation) {
        return STATUS_NO_MEMORY;
    }
    if (error == ZSTD_error_frameParameter_windowTooLarge) {
        return problem_bad_graph_hint(reterr, 0, 0, "Compress the file without --ultra and --long.",
                                      "The zstd body needs a decoding window of more than 8 MiB.");
    }
    return refuse_bytes(decoder, reterr);
}

/* Decodes until the output is full or the input is consumed. ret_more: more output may follow. */
static enum status step_gzip(struct decoder *decoder, const char **bytes, size_t *size,
                             bool *ret_more, struct problem *reterr)
{
    size_t piece = *size > INPUT_LIMIT ? INPUT_LIMIT : *size;
    z_stream *gzip = &decoder->gzip;

    if (decoder->between && piece > 0 && inflateReset(gzip) != Z_OK) {
        return STATUS_NO_MEMORY;
    }
    /* The cast drops const; zlib does not change its input. */
    gzip->next_in = (Bytef *)(uintptr_t)*bytes;
    gzip->avail_in = (uInt)piece;
    gzip->next_out = (Bytef *)decoder->output;
    gzip->avail_out = OUTPUT_SIZE;
    const int code = inflate(gzip, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return code == Z_MEM_ERROR ? STATUS_NO_MEMORY : refuse_bytes(decoder, reterr);
    }
    *ret_more = gzip->avail_out == 0;
    return end_step(decoder, bytes, size, piece - gzip->avail_in, OUTPUT_SIZE - gzip->avail_out,
                    code == Z_STREAM_END, reterr);
}

/* Checks the magic number of a frame or skippable frame (RFC 8878, section 3.1). Without the check,
 * the library would also decode formats older than the standard, which are not HTTP codings and
 * cannot be decoded from pieces that are cut at certain points. */
static bool is_magic(struct decoder *decoder, const char *bytes, size_t size)
{
    static const char frame[] = "\x28\xB5\x2F\xFD";
    static const char skippable[] = "\x50\x2A\x4D\x18";

    for (size_t i = 0; i < size && decoder->magic_size < 4; i++, decoder->magic_size++) {
        const char *wanted =
            decoder->magic_size > 0 && decoder->magic != frame[0] ? skippable : frame;

        if (decoder->magic_size == 0) {
            decoder->magic = bytes[i];
            if (bytes[i] != frame[0] && (bytes[i] & '\xF0') != skippable[0]) {
                return false;
            }
        } else if (bytes[i] != wanted[decoder->magic_size]) {
            return false;
        }
    }
    return true;
}

static enum status step_zstd(struct decoder *decoder, const char **bytes, size_t *size,
                             bool *ret_more, struct problem *reterr)
{
    ZSTD_inBuffer input = {*bytes, *size, 0};
    ZSTD_outBuffer output = {decoder->output, OUTPUT_SIZE, 0};

    if (!is_magic(decoder, *bytes, *size)) {
        return refuse_bytes(decoder, reterr);
    }
    const size_t code = ZSTD_decompressStream(decoder->zstd, &output, &input);
    if (ZSTD_isError(code)) {
        return refuse_zstd(decoder, code, reterr);
    }
    *ret_more = output.pos == OUTPUT_SIZE;
    if (code == 0) {
        decoder->magic_size = 0;
    }
    return end_step(decoder, bytes, size, input.pos, output.pos, code == 0, reterr);
}

static enum status decode_bytes(struct decoder *decoder, const char *bytes, size_t size,
                                struct problem *reterr)
{
    bool more = false;

    decoder->begun = decoder->begun || size > 0;
    if (decoder->rules.coding == CODING_IDENTITY) {
        return size > 0 ? accept_text(decoder, bytes, size, reterr) : STATUS_OK;
    }
    /* At the end of a gzip member or zstd frame, no output is pending, so the loop may end. */
    while (size > 0 || (more && !decoder->between)) {
        STATUS_TRY((decoder->rules.coding == CODING_GZIP ? step_gzip : step_zstd)(
            decoder, &bytes, &size, &more, reterr));
    }
    return STATUS_OK;
}

/* Returns whether the bytes begin with the signature, in which '#' matches a digit from 1 to 9. */
static bool has_signature(const char *bytes, size_t size, const char *signature)
{
    for (size_t i = 0; i < size; i++) {
        if (signature[i] == '#' ? bytes[i] < '1' || bytes[i] > '9' : bytes[i] != signature[i]) {
            return false;
        }
    }
    return true;
}

/* Detects the coding from its signature in the first bytes and starts it, or refuses an archive.
 * The coding stays unknown as long as the bytes may be the beginning of a signature. */
static enum status tell_coding(struct decoder *decoder, const char *bytes, size_t size,
                               struct problem *reterr)
{
    static const char unpack[] =
        "Unpack the file and send its content, uncompressed or compressed with gzip or zstd.";
    static const struct {
        const char *bytes;
        size_t size;
        enum coding coding; /* CODING_IDENTITY: the signature of an archive, which is refused */
        const char *name;
        const char *hint;
    } signatures[] = {
        {"\x1F\x8B\x08", 3, CODING_GZIP, NULL, NULL},
        {"\x28\xB5\x2F\xFD", 4, CODING_ZSTD, NULL, NULL},
        {"PK\x03\x04", 4, CODING_IDENTITY, "a zip archive, such as .npz or .xlsx",
         "If the file is an archive, unpack it and send one file. If it is a workbook, save a "
         "sheet as CSV. If it is an .npz file, convert it: numpy.save('g.npy', "
         "numpy.load('g.npz')['arr_0']), or for a sparse matrix: scipy.io.mmwrite('g.mtx', "
         "scipy.sparse.load_npz('g.npz'))."},
        {"\xFD\x37zXZ", 6, CODING_IDENTITY, "an xz file", unpack},
        {"BZh#1AY&SY", 10, CODING_IDENTITY, "a bzip2 file", unpack},
        {"\xD0\xCF\x11\xE0", 4, CODING_IDENTITY, "an .xls workbook", "Save a sheet as CSV."},
        {"PAR1", 4, CODING_IDENTITY, "a Parquet file",
         TO_CSV "pandas.read_parquet('g.parquet')" AS_CSV},
        {"ARROW1", 6, CODING_IDENTITY, "an Arrow file",
         TO_CSV "pandas.read_feather('g.feather')" AS_CSV},
        {"\x89HDF\r\n", 6, CODING_IDENTITY, "an HDF5 file",
         TO_CSV "pandas.read_hdf('g.h5')" AS_CSV},
        {"SQLite format 3", 15, CODING_IDENTITY, "an SQLite database, such as a GeoPackage",
         "Export the table of edges: sqlite3 -csv -header g.db 'SELECT * FROM edges' >g.csv"},
        {"MATLAB 5.0 MAT", 14, CODING_IDENTITY, "a .mat file",
         "Convert the file: import scipy.io as s; s.mmwrite('g.mtx', s.loadmat('g.mat')['A'])"},
        {"MATLAB 7.3 MAT", 14, CODING_IDENTITY, "a .mat file",
         "Convert the file in MATLAB: save('g.mat', 'A', '-v7'), or writematrix(A, 'g.csv')."},
        {"\x80\x02", 2, CODING_IDENTITY, "a pickle", PICKLE},
        {"\x80\x03", 2, CODING_IDENTITY, "a pickle", PICKLE},
        {"\x80\x04\x95", 3, CODING_IDENTITY, "a pickle", PICKLE},
        {"\x80\x05\x95", 3, CODING_IDENTITY, "a pickle", PICKLE},
    };

    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
        const bool is_whole = size >= signatures[i].size;

        if (!has_signature(bytes, is_whole ? signatures[i].size : size, signatures[i].bytes)) {
            continue;
        }
        if (!is_whole) {
            return STATUS_OK;
        }
        if (signatures[i].coding == CODING_IDENTITY) {
            return problem_bad_graph_hint(reterr, 0, 0, signatures[i].hint,
                                          "This is %s, which cannot be read.", signatures[i].name);
        }
        decoder->told = true;
        return start_coding(decoder, signatures[i].coding);
    }
    decoder->told = true;
    return STATUS_OK;
}

enum status decoder_feed(struct decoder *decoder, const char *bytes, size_t size,
                         struct problem *reterr)
{
    /* head[] cannot overflow: it holds the longest signature, after which the coding is known. */
    while (!decoder->told && size > 0) {
        decoder->head[decoder->head_size++] = *bytes++;
        size--;
        STATUS_TRY(tell_coding(decoder, decoder->head, decoder->head_size, reterr));
        STATUS_TRY(decoder->told ? decode_bytes(decoder, decoder->head, decoder->head_size, reterr)
                                 : STATUS_OK);
    }
    return decoder->told ? decode_bytes(decoder, bytes, size, reterr) : STATUS_OK;
}

enum status decoder_end(struct decoder *decoder, struct problem *reterr)
{
    if (!decoder->told && decoder->head_size > 0) {
        decoder->told = true;
        STATUS_TRY(decode_bytes(decoder, decoder->head, decoder->head_size, reterr));
    }
    if (decoder->rules.coding != CODING_IDENTITY && decoder->begun && !decoder->between) {
        return problem_refuse(reterr, STATUS_TRUNCATED, "Send the complete body.",
                              "The %s body is incomplete.", names[decoder->rules.coding]);
    }
    if (!decoder->marked && decoder->mark != 0) {
        STATUS_TRY(pass_text(decoder, &decoder->mark, 1, reterr));
    }
    return decoder->converter != NULL ? charset_converter_end(decoder->converter, reterr)
                                      : STATUS_OK;
}

enum coding decoder_coding(const struct decoder *decoder)
{
    return decoder->rules.coding;
}

bool decoder_is_utf8(const struct decoder *decoder)
{
    const char *charset = decoder->rules.charset;

    return decoder->converter != NULL || (charset != NULL && charset[0] != '\0');
}
