/* Git commit of this program in hexadecimal; empty if unknown to the build. */
#pragma once

extern const char build_commit[];
