/* The commit that was built, in hexadecimal; empty if the build did not know it. */
#pragma once

extern const char build_commit[];
