/* Text for people in lines that a terminal of 80 columns holds. */
#pragma once

#include <stdio.h>

/* The words, each line behind prefix; a word that fits no line has one of its own. */
void paragraph_print(FILE *stream, const char *prefix, const char *words);
