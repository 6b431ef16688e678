#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return fuzz_reader(FORMAT_MATRIX, bytes, size);
}
