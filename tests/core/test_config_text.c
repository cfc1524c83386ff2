/* test_config_text.c: YAML and JSON in, overrides, merging, canonical JSON and YAML out. */
#include "test.h"

#include <omnigram/config.h>
#include <omnigram/memory.h>

#include <locale.h>

static og_error err;

static og_config *yaml(const char *text) {
    og_config *root;
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "a.yaml", &root, &err));
    return root;
}

static og_config *json(const char *text) {
    og_config *root;
    CHECK_OK(og_config_from_json(text, (int64_t)strlen(text), "a.json", &root, &err));
    return root;
}

/* The tree's canonical JSON is `wanted`; frees the tree. */
static void expect(og_config *root, const char *wanted) {
    char *text;
    CHECK_OK(og_config_to_json(root, &text, &err));
    if (strcmp(text, wanted) != 0) {
        fprintf(stderr, "wanted %s\ngot    %s\n", wanted, text);
        exit(1);
    }
    og_release(text);
    /* and survives its own YAML */
    og_config *again;
    CHECK_OK(og_config_to_yaml(root, &text, &err));
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "again", &again, &err));
    og_release(text);
    CHECK_OK(og_config_to_json(again, &text, &err));
    if (strcmp(text, wanted) != 0) {
        fprintf(stderr, "through YAML: wanted %s\ngot    %s\n", wanted, text);
        exit(1);
    }
    og_release(text);
    og_config_free(again);
    og_config_free(root);
}

static void test_core_schema(void) {
    expect(yaml("[true, True, FALSE, yes, off, y]"), "[true,true,false,\"yes\",\"off\",\"y\"]");
    expect(yaml("[null, ~, Null, '~', 'null', \"\"]"), "[null,null,null,\"~\",\"null\",\"\"]");
    expect(yaml("[0, -7, +3, 010, 0x1F, 0o17, 0xg, 1_000]"), "[0,-7,3,10,31,15,\"0xg\",\"1_000\"]");
    expect(yaml("[1e-3, .5, 2., -0.0, 1E5, 1e, ., '1.5']"), "[0.001,0.5,2.0,-0.0,100000.0,\"1e\",\".\",\"1.5\"]");
    expect(yaml("[9223372036854775807, -9223372036854775808]"), "[9223372036854775807,-9223372036854775808]");
    expect(yaml("a: !!str 3\nb: ! 4\nc: |\n  x\n  y\n"), "{\"a\":\"3\",\"b\":\"4\",\"c\":\"x\\ny\\n\"}");
    expect(yaml(""), "{}");
    expect(yaml("# only a comment\n"), "{}");
    expect(yaml("a:\nb: {}\nc: []\n"), "{\"a\":null,\"b\":{},\"c\":[]}");
    og_config *root = yaml("[.inf, -.INF, .NaN]");
    double value;
    CHECK_OK(og_config_f64(og_config_at(root, 0), &value, &err));
    CHECK(value == INFINITY);
    CHECK_OK(og_config_f64(og_config_at(root, 1), &value, &err));
    CHECK(value == -INFINITY);
    CHECK_OK(og_config_f64(og_config_at(root, 2), &value, &err));
    CHECK(value != value);
    char *text;
    CHECK_FAILS(og_config_to_json(root, &text, &err), OG_EINVAL, "a.yaml:1: [0]: JSON cannot say inf");
    CHECK_OK(og_config_to_yaml(root, &text, &err));
    CHECK(strcmp(text, "[.inf, -.inf, .nan]\n") == 0);
    og_release(text);
    og_config_free(root);
}

static void refuse_yaml(const char *text, const char *word) {
    og_config *root = (og_config *)1;
    og_status status = og_config_from_yaml(text, (int64_t)strlen(text), "a.yaml", &root, &err);
    if ((status != OG_EFORMAT && status != OG_ENOTSUP) || !strstr(err.message, word) || root != (og_config *)1) {
        fprintf(stderr, "'%s' should fail naming '%s', got %s: %s\n", text, word, og_status_name(status), err.message);
        exit(1);
    }
}

static void test_yaml_faults(void) {
    refuse_yaml("a: 1\nb: 2\na: 3\n", "a.yaml:3: key 'a' stands twice (first at a.yaml:1)");
    refuse_yaml("a: 9223372036854775808", "a.yaml:1: the integer 9223372036854775808 does not fit in 64 bits");
    refuse_yaml("a: 0x10000000000000000", "does not fit in 64 bits");
    refuse_yaml("a: 1e999", "too large for a double");
    refuse_yaml("a: [1, 2\nb: 3", "a.yaml:2: YAML: ");
    refuse_yaml("a: b: c", "a.yaml:1: YAML: ");
    refuse_yaml("--- a: 1\n", "a.yaml:1: ");
    refuse_yaml("---\na: 1\n---\nb: 2\n", "second document");
    refuse_yaml("7", "a config is a map (key: value), not the integer 7");
    refuse_yaml("? [1]\n: 2", "a key must be a single word");
    refuse_yaml("a: !mine 3", "'!mine' is not supported");
    refuse_yaml("a: &x 1\n<<: *x", "merge keys");
    refuse_yaml("a: *b", "no anchor '&b'");
    refuse_yaml("a: &x [*x]", "stands inside itself");
    refuse_yaml("a: &x [1]\nb: &y [*x, *x]\nc: [*y, *y]", "aliases may not nest");
    refuse_yaml("a: \"x\\0y\"", "zero character");
    refuse_yaml("a: \xff", "a.yaml:1: YAML: ");
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 99);
    deep[199] = 0;
    refuse_yaml(deep, "deeper than 64 levels");
}

static void test_aliases(void) {
    expect(yaml("a: &x {n: [1, 2]}\nb: *x\nc: &x 5\nd: *x\n"),
           "{\"a\":{\"n\":[1,2]},\"b\":{\"n\":[1,2]},\"c\":5,\"d\":5}");
    og_config *root = yaml("a: &x {n: 1}\nb: *x\n"); /* copies, not one node */
    CHECK_OK(og_config_override(root, "b.n=2", &err));
    expect(root, "{\"a\":{\"n\":1},\"b\":{\"n\":2}}");
    /* a bomb: 90 uses of a list of 2000 */
    char *bomb = malloc(1 << 20);
    size_t n = (size_t)sprintf(bomb, "a: &x [1");
    for (int i = 0; i < 2000; i++) n += (size_t)sprintf(bomb + n, ",1");
    n += (size_t)sprintf(bomb + n, "]\nb: [*x");
    for (int i = 0; i < 90; i++) n += (size_t)sprintf(bomb + n, ", *x");
    sprintf(bomb + n, "]\n");
    refuse_yaml(bomb, "more than 100000 values");
    free(bomb);
}

static void test_json(void) {
    expect(json("{\"b\": [1, 2.5, \"x\\u00e9\\ud83d\\ude00\"], \"a\": {\"y\": null, \"x\": true}}"),
           "{\"a\":{\"x\":true,\"y\":null},\"b\":[1,2.5,\"x\xc3\xa9\xf0\x9f\x98\x80\"]}");
    expect(json("  "), "{}");
    og_config *root = json("{\n \"a\": \"]}\\\"\\n,\",\n\n \"b\" : [ {}, [],\n 3,\n {\"c\"\n:-1e5}] }");
    CHECK(strcmp(og_config_place(og_config_get(root, "a")), "a.json:2") == 0);
    CHECK(strcmp(og_config_place(og_config_get(root, "b")), "a.json:4") == 0);
    CHECK(strcmp(og_config_place(og_config_get(root, "b.2")), "a.json:5") == 0);
    CHECK(strcmp(og_config_place(og_config_get(root, "b.3")), "a.json:6") == 0);
    CHECK(strcmp(og_config_place(og_config_get(root, "b.3.c")), "a.json:7") == 0);
    og_config_free(root);
    CHECK_FAILS(og_config_from_json("{\"a\": 1,\n\"a\": 2}", 17, "a.json", &root, &err), OG_EFORMAT,
                "a.json:2: JSON: duplicate");
    CHECK_FAILS(og_config_from_json("{\"a\": 9223372036854775808}", 26, "a.json", &root, &err), OG_EFORMAT,
                "a.json:1: JSON: too big integer");
    CHECK_FAILS(og_config_from_json("[1] 2", 5, "a.json", &root, &err), OG_EFORMAT, "end of file expected");
    CHECK_FAILS(og_config_from_json("\"x\"", 3, "a.json", &root, &err), OG_EFORMAT,
                "a.json:1: JSON: '[' or '{' expected");
    CHECK_FAILS(og_config_from_json("[\"\\u0000\"]", 10, "a.json", &root, &err), OG_EFORMAT, "a.json:1");
}

/* Data may hold NUL; what takes a text for a C string refuses it and names the place. */
static void test_nul(void) {
    const char *text = "{\"a\": \"x\\u0000y\", \"b\": \"z\"}", *out;
    og_config *root, *copy;
    int64_t bytes;
    char *json;
    CHECK_OK(og_config_from_json_data(text, (int64_t)strlen(text), "a.json", &root, &err));
    CHECK_OK(og_config_copy(root, &copy, &err));
    for (int i = 0; i < 2; i++) {
        const og_config *at = i ? copy : root;
        CHECK_OK(og_config_text(og_config_get(at, "a"), &out, &bytes, &err));
        CHECK(bytes == 3 && !memcmp(out, "x\0y", 4));
        CHECK_OK(og_config_text(og_config_get(at, "b"), &out, &bytes, &err));
        CHECK(bytes == 1 && !strcmp(out, "z"));
        CHECK_FAILS(og_config_string(og_config_get(at, "a"), &out, &err), OG_EINVAL, "a: wants text without a NUL");
        CHECK_FAILS(og_config_to_json(at, &json, &err), OG_EINVAL, "NUL");
        CHECK_FAILS(og_config_to_yaml(at, &json, &err), OG_EINVAL, "NUL");
    }
    static const og_key keys[] = {
        {"a", OG_KEY_CHOICE, 0, "x", 0, 0, "x|y", "choice"}, {"b", OG_KEY_STRING, 8, "", 0, 0, NULL, ""}, {0}};
    struct {
        int32_t a;
        const char *b;
    } values;
    CHECK_FAILS(og_config_read(root, keys, &values, &err), OG_EINVAL, "a: the text 'x' with a NUL is none of x|y");
    og_config_free(copy);
    og_config_free(root);
}

static void test_numbers(void) {
    /* what Python's json.dumps writes */
    expect(
        json("[0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308, 2.5e-7, 100.0, "
             "0.30000000000000004, 1e22, 1e23, 9007199254740993.0, -1.5, 5.9604644775390625e-08, 9.5367431640625e-07]"),
        "[0.1,1e+16,1000000000000000.0,1.2345678901234568e+17,0.0001,1e-05,5e-324,1.7976931348623157e+308,2.5e-07,100."
        "0,"
        "0.30000000000000004,1e+22,1e+23,9007199254740992.0,-1.5,5.960464477539063e-08,9.5367431640625e-07]");
    char *text;
    og_config *root = json("[1e-05, 1e+16]");
    CHECK_OK(og_config_to_yaml(root, &text, &err));
    CHECK(strcmp(text, "[1.0e-05, 1.0e+16]\n") == 0); /* numbers for YAML 1.1 too */
    og_release(text);
    og_config_free(root);
    if (setlocale(LC_ALL, "de_DE.UTF-8")) { /* a decimal comma of the host changes nothing */
        expect(yaml("[1.5, 0.001]"), "[1.5,0.001]");
        setlocale(LC_ALL, "C");
    }
}

static void test_strings(void) {
    expect(json("[\"\\u0001\\t\\b\\f\\r\\n\\\"\\\\/\\u007f\\u0085\\u2028\\ufeff\", \"a: b\", \"- x\", \"#\", \"1e5\", "
                "\" a \", \"No\", \"\\uffff\"]"),
           "[\"\\u0001\\t\\b\\f\\r\\n\\\"\\\\/\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\",\"a: b\",\"- x\",\"#\",\"1e5\",\" "
           "a \",\"No\",\"\xef\xbf\xbf\"]");
    char text[4096] = "{\"";
    memset(text + 2, 'k', 1500); /* longer than libyaml's simple keys */
    strcpy(text + 1502, "\":1}");
    expect(json(text), text);
    char nested[4096];
    snprintf(nested, sizeof nested, "[{\"a\":[%s,{\"b\":[[1],[2,{}]]}]}]", text);
    expect(json(nested), nested);
}

static void test_override(void) {
    og_config *root = yaml("train: {lr: 0.1}\nlist: [1, 2, {x: 3}]\nnothing:\n");
    CHECK_OK(og_config_override(root, "train.lr=3e-4", &err));
    CHECK_OK(og_config_override(root, "--a.b.c=[1, x]", &err));
    CHECK_OK(og_config_override(root, "nothing.is={y: 'true'}", &err));
    CHECK_OK(og_config_override(root, "list.1=7", &err));
    CHECK_OK(og_config_override(root, "list.2.x=a=b", &err));
    CHECK_OK(og_config_override(root, "empty=", &err));
    CHECK_OK(og_config_override(root, "gone={a: 1, b: {c: 2, d: 3}, e: 4}", &err));
    CHECK_OK(og_config_override(root, "gone.b.c=", &err));
    CHECK_OK(og_config_override(root, "gone.a=null", &err));
    og_config *rest;
    CHECK_OK(og_config_copy(og_config_get(root, "gone"), &rest, &err));
    expect(rest, "{\"b\":{\"d\":3},\"e\":4}");
    CHECK_OK(og_config_override(root, "gone.a=5", &err));
    CHECK(strcmp(og_config_key_at(og_config_get(root, "gone"), 2), "a") == 0);
    CHECK_OK(og_config_override(root, "gone=~", &err));
    CHECK(!og_config_get(root, "gone"));
    CHECK(strcmp(og_config_place(og_config_get(root, "a.b.c.1")), "--a.b.c") == 0);
    CHECK_FAILS(og_config_override(root, "train.lr.x=1", &err), OG_EINVAL,
                "--train.lr.x: 'lr' is the number 0.0003 (at --train.lr), not a map");
    CHECK_FAILS(og_config_override(root, "list.3=1", &err), OG_EINVAL,
                "'3' is no element of a.yaml:2: list, a list of 3");
    CHECK_FAILS(og_config_override(root, "list.x=1", &err), OG_EINVAL, "'x' is no element");
    CHECK_FAILS(og_config_override(root, "train.lr", &err), OG_EINVAL, "write a.b=value");
    CHECK_FAILS(og_config_override(root, "=1", &err), OG_EINVAL, "write a.b=value");
    CHECK_FAILS(og_config_override(root, "a..b=1", &err), OG_EINVAL, "write a.b=value");
    CHECK_FAILS(og_config_override(root, "a.=1", &err), OG_EINVAL, "write a.b=value");
    CHECK_FAILS(og_config_override(root, "a=[1", &err), OG_EFORMAT, "YAML: while parsing a flow sequence");
    expect(root, "{\"a\":{\"b\":{\"c\":[1,\"x\"]}},\"empty\":null,\"list\":[1,7,{\"x\":\"a=b\"}],\"nothing\":{\"is\":{"
                 "\"y\":\"true\"}},"
                 "\"train\":{\"lr\":0.0003}}");
}

static void test_merge_and_copy(void) {
    og_config *base = yaml("a: {x: 1, q: 8, y: 2}\nb: [1, 2]\nc: 3\n");
    og_config *over = yaml("a: {q: ~, y: 5, z: {w: 6}}\nb: [9]\nc: {d: 4}\n");
    CHECK_OK(og_config_merge(base, over, &err));
    og_config *copy;
    CHECK_OK(og_config_copy(base, &copy, &err));
    og_config_free(over);
    CHECK(strcmp(og_config_place(og_config_get(base, "a.y")), "a.yaml:1") == 0);
    expect(base, "{\"a\":{\"x\":1,\"y\":5,\"z\":{\"w\":6}},\"b\":[9],\"c\":{\"d\":4}}");
    CHECK_OK(og_config_copy(og_config_get(copy, "a"), &base, &err));
    expect(copy, "{\"a\":{\"x\":1,\"y\":5,\"z\":{\"w\":6}},\"b\":[9],\"c\":{\"d\":4}}");
    expect(base, "{\"x\":1,\"y\":5,\"z\":{\"w\":6}}");
}

static void test_get(void) {
    og_config *root = yaml("a.b: 1\na: {b: 2, c: [4, {d: 5}]}\n");
    int64_t value;
    CHECK_OK(og_config_i64(og_config_get(root, "a.b"), &value, &err));
    CHECK(value == 1); /* the whole key goes first */
    CHECK_OK(og_config_i64(og_config_get(root, "a.c.1.d"), &value, &err));
    CHECK(value == 5);
    CHECK(!og_config_get(root, "a.c.2") && !og_config_get(root, "a.c.x") && !og_config_get(root, "a.b.c"));
    CHECK(!og_config_get(root, "") && !og_config_get(NULL, "a") && og_config_size(NULL) == 0);
    CHECK(strcmp(og_config_key_at(root, 1), "a") == 0 && !og_config_key_at(root, 2) && !og_config_at(root, -1));
    CHECK_FAILS(og_config_i64(og_config_get(root, "a"), &value, &err), OG_EINVAL,
                "a.yaml:2: a: wants an integer, not a map of 2 keys");
    og_config_free(root);
}

static void test_many_keys(void) { /* found and refused in n log n */
    enum { N = 20000 };
    char *text = malloc(N * 20);
    size_t n = 0;
    for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "k%d: %d\n", (int)((int64_t)i * 7919 % N), i);
    og_config *root = yaml(text);
    CHECK(og_config_size(root) == N);
    int64_t value;
    CHECK_OK(og_config_i64(og_config_get(root, "k7919"), &value, &err));
    CHECK(value == 1);
    og_config_free(root);
    free(text);
}

int main(void) {
    test_core_schema();
    test_yaml_faults();
    test_nul();
    test_aliases();
    test_json();
    test_numbers();
    test_strings();
    test_override();
    test_merge_and_copy();
    test_get();
    test_many_keys();
    CHECK(og_alloc_count() == 0);
    return 0;
}
