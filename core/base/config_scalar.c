/* config_scalar.c: plain scalars by YAML 1.2's core schema, and the shortest text of a double. */
#include "config_tree.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_one_of(const char *text, const char *a, const char *b, const char *c) {
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static const char *digits(const char *p) {
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

/* [-+]? [0-9]+ */
static int is_decimal(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    const char *end = digits(p);
    return end > p && !*end;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static int is_real(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    const char *end = digits(p);
    int64_t n = end - p;
    if (*end == '.') {
        p = end + 1;
        end = digits(p);
        if (n == 0 && end == p) return 0;
        n += end - p;
    }
    if (n == 0) return 0;
    if (*end == 'e' || *end == 'E') {
        p = end + 1;
        p += *p == '-' || *p == '+';
        end = digits(p);
        if (end == p) return 0;
    }
    return !*end;
}

/* The base of 0x1F or 0o17, or 0. */
static int prefix_base(const char *text) {
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'o') || !text[2]) return 0;
    const char *allowed = text[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
    return text[2 + strspn(text + 2, allowed)] ? 0 : text[1] == 'x' ? 16 : 8;
}

static og_status resolve_integer(og_config *node, const char *text, int base, og_error *err) {
    errno = 0;
    long long value = strtoll(base == 10 ? text : text + 2, NULL, base);
    if (errno == ERANGE)
        return og_fail(err, OG_EFORMAT,
                       "%s: the integer %.40s does not fit in 64 bits (at most %lld; quote it to keep text)",
                       node->place, text, (long long)INT64_MAX);
    node->kind = OG_CONFIG_INTEGER;
    node->integer = value;
    return OG_OK;
}

og_status og_scalar_resolve(og_config *node, const char *text, og_error *err) {
    if (!*text || strcmp(text, "~") == 0 || is_one_of(text, "null", "Null", "NULL")) {
        node->kind = OG_CONFIG_NULL;
    } else if (is_one_of(text, "true", "True", "TRUE") || is_one_of(text, "false", "False", "FALSE")) {
        node->kind = OG_CONFIG_BOOL;
        node->boolean = text[0] == 't' || text[0] == 'T';
    } else if (is_decimal(text)) {
        return resolve_integer(node, text, 10, err);
    } else if (prefix_base(text)) {
        return resolve_integer(node, text, prefix_base(text), err);
    } else if (is_one_of(text + (*text == '-' || *text == '+'), ".inf", ".Inf", ".INF")) {
        node->kind = OG_CONFIG_REAL;
        node->real = *text == '-' ? -INFINITY : INFINITY;
    } else if (is_one_of(text, ".nan", ".NaN", ".NAN")) {
        node->kind = OG_CONFIG_REAL;
        node->real = NAN;
    } else if (is_real(text)) {
        locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the host may have set a decimal comma */
        if (!c) return og_fail(err, OG_ENOMEM, "no memory for the C locale");
        node->kind = OG_CONFIG_REAL;
        node->real = strtod_l(text, NULL, c);
        freelocale(c);
        if (isinf(node->real))
            return og_fail(err, OG_EFORMAT, "%s: the number %.40s is too large for a double", node->place, text);
    } else {
        node->kind = OG_CONFIG_STRING;
        node->string = text;
    }
    return OG_OK;
}

/* Adds one to the last digit of "d.ddde-xx"; 0 when all are nines (then fewer digits have been tried already). */
static int increment(char *text) {
    for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
        if (*p == '.') continue;
        if (*p != '9') {
            ++*p;
            return 1;
        }
        *p = '0';
    }
    return 0;
}

/* The shortest "d.ddde-xx" that reads back as value > 0. Below a power of two the doubles lie twice as dense as above
 * it, so the nearest decimal may miss where the one above it does not. */
static void shortest(double value, char text[OG_NUMBER_TEXT]) {
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, OG_NUMBER_TEXT, "%.*e", precision, value);
        double back = strtod(text, NULL);
        if (back == value) return;
        if (back < value && increment(text) && strtod(text, NULL) == value) return;
    }
}

void og_scalar_real(double value, char out[OG_NUMBER_TEXT]) {
    if (isnan(value)) {
        memcpy(out, "nan", 4);
        return;
    }
    if (isinf(value)) {
        snprintf(out, OG_NUMBER_TEXT, value < 0 ? "-inf" : "inf");
        return;
    }
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc keeps this one ready: it cannot fail */
    locale_t before = uselocale(c);
    char text[OG_NUMBER_TEXT];
    shortest(fabs(value), text);
    uselocale(before);
    if (c) freelocale(c);
    /* d.ddde[+-]xx: digits and the power of ten, laid out as Python's repr does */
    char figures[24];
    int n = 0;
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p != '.') figures[n++] = *p;
    figures[n] = 0;
    int exponent = *p ? atoi(p + 1) : 0;
    const char *sign = signbit(value) ? "-" : "";
    if (exponent < -4 || exponent >= 16) {
        snprintf(out, OG_NUMBER_TEXT, "%s%c%s%se%c%02d", sign, figures[0], n > 1 ? "." : "", figures + 1,
                 exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    } else if (exponent < 0) {
        snprintf(out, OG_NUMBER_TEXT, "%s0.%.*s%s", sign, -exponent - 1, "0000", figures);
    } else if (n <= exponent + 1) {
        snprintf(out, OG_NUMBER_TEXT, "%s%s%.*s.0", sign, figures, exponent + 1 - n, "0000000000000000");
    } else {
        snprintf(out, OG_NUMBER_TEXT, "%s%.*s.%s", sign, exponent + 1, figures, figures + exponent + 1);
    }
}
