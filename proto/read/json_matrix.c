#include "proto/read/json_matrix.h"

#include "proto/number.h"

#include <stdio.h>

static enum status add_cell(struct json_matrix *matrix, const struct json_token *token,
                            struct problem *reterr)
{
    const uint32_t ends[2] = {matrix->row, matrix->column++};
    const bool on_diagonal = ends[0] == ends[1];
    double value;

    if (token->kind == JSON_TOKEN_NULL) {
        return STATUS_OK;
    }
    if (token->kind != JSON_TOKEN_NUMBER) {
        return json_token_refuse(
            token, "An entry of the matrix must be a number, or null for a missing edge.", "",
            reterr);
    }
    if (on_diagonal && number_parse_real(token->text, token->size, &value) && value == 0) {
        return STATUS_OK;
    }
    matrix->has_loops |= on_diagonal;
    const struct field weight = {token->text, token->size, token->place.column, token->place.line};
    return reader_add_edge(matrix->reader, ends, weight, reterr);
}

enum status json_matrix_accept(struct json_matrix *matrix, const struct json_token *token,
                               struct problem *reterr)
{
    if (token->depth > matrix->base) {
        return add_cell(matrix, token, reterr);
    }
    if (token->kind == JSON_TOKEN_ARRAY_BEGIN) {
        matrix->column = 0;
        return graph_builder_admit(&matrix->reader->builder, (uint64_t)matrix->row + 1, reterr);
    }
    if (token->kind != JSON_TOKEN_ARRAY_END) {
        return json_token_refuse(
            token, "The document is neither an object nor a matrix (an array of arrays).",
            "pandas.json_normalize converts records to a table that can be saved as CSV.", reterr);
    }
    matrix->width = matrix->has_width ? matrix->width : matrix->column;
    matrix->has_width = true;
    if (matrix->column != matrix->width || matrix->row == matrix->width) {
        return json_token_refuse(
            token, "The matrix is not square, or its rows differ in length.",
            "Write edges as {\"n\": 3, \"edges\": [[0, 1, 5]]}; to convert an edge_index of "
            "PyTorch Geometric, use list(zip(*edge_index.tolist())).",
            reterr);
    }
    matrix->row++;
    return STATUS_OK;
}

enum status json_matrix_name(struct json_matrix *matrix, const struct json_token *token,
                             unsigned depth, struct problem *reterr)
{
    uint32_t row;

    if (token->depth == depth) {
        matrix->name_count = 0;
        return STATUS_OK;
    }
    if (token->depth > depth + 1 || matrix->has_objects ||
        (token->kind != JSON_TOKEN_STRING && token->kind != JSON_TOKEN_NUMBER)) {
        matrix->has_objects = true;
        return STATUS_OK;
    }
    const uint32_t before = name_table_count(matrix->nodes->names);
    STATUS_TRY(json_nodes_name(matrix->nodes, token, &row, reterr));
    if (row == before) {
        matrix->nodes->vertices[row].position = matrix->nodes->listed++;
    }
    return row == matrix->name_count++
               ? STATUS_OK
               : json_token_refuse(
                     token, "\"sources\" and \"destinations\" are not the same vertices.",
                     "The matrix of a graph has a row and a column for each vertex.", reterr);
}

enum status json_matrix_finish(struct json_matrix *matrix, struct graph **ret_graph,
                               struct problem *reterr)
{
    struct reader *reader = matrix->reader;
    struct reader_notes *notes = &reader->notes;

    if (matrix->row != matrix->width) {
        return problem_bad_graph_hint(
            reterr, 0, 0,
            "A matrix must be square; write edges as {\"n\": 3, \"edges\": [[0, 1, 5]]}.",
            "The matrix is not square: it has %u rows and %u columns.", matrix->row, matrix->width);
    }
    if (matrix->is_bare && matrix->has_loops && (matrix->width == 2 || matrix->width == 3)) {
        return problem_bad_graph_hint(
            reterr, 0, 0,
            "Write a matrix as {\"distances\": [...]}, and edges as {\"n\": 3, \"edges\": [...]}.",
            "The arrays may be a matrix whose diagonal is not 0, or a list of %u edges.",
            matrix->width);
    }
    snprintf(notes->variant, sizeof(notes->variant), "matrix");
    snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    STATUS_TRY(reader_admit_count(reader, matrix->width, reterr));
    if (matrix->has_objects || name_table_count(matrix->nodes->names) == 0) {
        return reader_finish_range(reader, matrix->width, 0, NULL, true, ret_graph, reterr);
    }
    if (name_table_count(matrix->nodes->names) != matrix->width) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The matrix has %u rows, but there are %u names.", matrix->width,
                           name_table_count(matrix->nodes->names));
    }
    return json_nodes_build(matrix->nodes, true, ret_graph, reterr);
}
