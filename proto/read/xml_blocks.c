#include "proto/read/xml_blocks.h"

#include "proto/read/reader.h"

#include <stdlib.h>
#include <string.h>

struct json_place xml_blocks_place(const struct xml_blocks *blocks)
{
    return (struct json_place){XML_GetCurrentLineNumber(blocks->parser),
                               XML_GetCurrentColumnNumber(blocks->parser) + 1};
}

void xml_blocks_fail(struct xml_blocks *blocks, enum status status)
{
    if (status != STATUS_OK && blocks->status == STATUS_OK) {
        blocks->status = status;
        XML_StopParser(blocks->parser, XML_FALSE);
    }
}

enum status xml_blocks_refuse(const struct xml_blocks *blocks, const char *detail, const char *hint)
{
    (void)json_scanner_refuse(xml_blocks_place(blocks), blocks->reterr, detail);
    problem_hint(blocks->reterr, "%s", hint);
    return STATUS_BAD_GRAPH;
}

static const char entity_detail[] = "There are entities of the document's own, which are not read.";
static const char entity_hint[] = "Write the text itself in their place.";

static void on_entity(void *context, const char *name, int is_parameter, const char *value,
                      int value_size, const char *base, const char *system_id,
                      const char *public_id, const char *notation)
{
    struct xml_blocks *blocks = context;

    (void)name, (void)is_parameter, (void)value, (void)value_size, (void)base, (void)system_id;
    (void)public_id, (void)notation;
    if (blocks->status == STATUS_OK) {
        xml_blocks_fail(blocks, xml_blocks_refuse(blocks, entity_detail, entity_hint));
    }
}

static void on_skipped_entity(void *context, const char *name, int is_parameter)
{
    struct xml_blocks *blocks = context;

    (void)name, (void)is_parameter;
    if (blocks->status == STATUS_OK) {
        xml_blocks_fail(blocks, xml_blocks_refuse(blocks, entity_detail, entity_hint));
    }
}

static enum status refuse_xml(const struct xml_blocks *blocks)
{
    enum XML_Error error = XML_GetErrorCode(blocks->parser);

    if (error == XML_ERROR_NO_MEMORY) {
        return problem_set(blocks->reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the graph.");
    }
    if (error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN ||
        error == XML_ERROR_PARTIAL_CHAR || error == XML_ERROR_UNCLOSED_CDATA_SECTION) {
        problem_set(blocks->reterr, STATUS_TRUNCATED, "The document ends in the middle.");
        problem_at(blocks->reterr, xml_blocks_place(blocks).line, xml_blocks_place(blocks).column);
        return STATUS_TRUNCATED;
    }
    problem_set(blocks->reterr, STATUS_BAD_GRAPH, "This is not well-formed XML: %s.",
                XML_ErrorString(error));
    problem_at(blocks->reterr, xml_blocks_place(blocks).line, xml_blocks_place(blocks).column);
    return STATUS_BAD_GRAPH;
}

/* expat keeps a tag, a comment and the like until its end: none may be longer than a line. */
static enum status check_lag(const struct xml_blocks *blocks)
{
    XML_Index begin = XML_GetCurrentByteIndex(blocks->parser);

    if (begin < 0 || blocks->parsed_bytes - (uint64_t)begin <= READER_LINE_LIMIT + XML_BLOCK_SIZE) {
        return STATUS_OK;
    }
    return xml_blocks_refuse(blocks, "A tag or a comment is longer than 65536 bytes.",
                             "Make it shorter.");
}

static enum status parse_block(struct xml_blocks *blocks, bool is_last, struct problem *reterr)
{
    enum XML_Status parsed;

    blocks->reterr = reterr;
    blocks->parsed_bytes += blocks->block_size;
    parsed = XML_Parse(blocks->parser, blocks->block, (int)blocks->block_size, is_last);
    blocks->block_size = 0;
    if (blocks->status != STATUS_OK) {
        return blocks->status;
    }
    if (parsed != XML_STATUS_OK) {
        return refuse_xml(blocks);
    }
    return is_last ? STATUS_OK : check_lag(blocks);
}

enum status xml_blocks_feed(struct xml_blocks *blocks, const char *bytes, size_t size,
                            struct problem *reterr)
{
    enum status status = STATUS_OK;

    while (size > 0 && status == STATUS_OK) {
        size_t part = XML_BLOCK_SIZE - blocks->block_size;

        part = part > size ? size : part;
        memcpy(blocks->block + blocks->block_size, bytes, part);
        blocks->block_size += part;
        bytes += part;
        size -= part;
        if (blocks->block_size == XML_BLOCK_SIZE) {
            status = parse_block(blocks, false, reterr);
        }
    }
    return status;
}

enum status xml_blocks_end(struct xml_blocks *blocks, struct problem *reterr)
{
    return parse_block(blocks, true, reterr);
}

enum status xml_blocks_init(struct xml_blocks *blocks, void *context)
{
    *blocks = (struct xml_blocks){.context = context};
    blocks->block = malloc(XML_BLOCK_SIZE);
    blocks->parser = XML_ParserCreateNS(NULL, XML_SEPARATOR);
    if (blocks->block == NULL || blocks->parser == NULL) {
        return STATUS_NO_MEMORY;
    }
    XML_SetUserData(blocks->parser, blocks);
    XML_SetEntityDeclHandler(blocks->parser, on_entity);
    XML_SetSkippedEntityHandler(blocks->parser, on_skipped_entity);
    return STATUS_OK;
}

void xml_blocks_finish(struct xml_blocks *blocks)
{
    if (blocks->parser != NULL) {
        XML_ParserFree(blocks->parser);
    }
    free(blocks->block);
}
