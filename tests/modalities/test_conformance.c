/* test_conformance.c: what every modality and every data set promises, over the registries: a new
 * plugin is tested by this file as it is. */
#include "fixtures.h"

static og_error err;

/* Each key has a name of its own, a help line, and a default that its own limits allow (or is
 * required). */
static void check_keys(const og_key *keys) {
    CHECK(keys);
    for (int i = 0; keys[i].name; i++) {
        CHECK(keys[i].help && strlen(keys[i].help) > 3);
        CHECK((keys[i].type == OG_KEY_CHOICE) == (keys[i].choices != NULL));
        for (int k = 0; k < i; k++) CHECK(strcmp(keys[i].name, keys[k].name));
    }
}

static void check_modality(const og_modality_type *type) {
    og_modality_impl *impl = NULL;
    og_config *first = NULL, *second = NULL;
    char *a = NULL, *b = NULL;
    printf("modality %s\n", type->name);
    CHECK(type->abi == OG_ABI && type->summary && type->source && og_modality_find(type->name) == type);
    CHECK(!strcmp(og_modality_name(type->modality), type->name));
    check_keys(type->keys);
    CHECK_OK(type->create(NULL, &impl, &err)); /* every default together is allowed */
    CHECK_OK(type->describe(impl, &first, &err));
    CHECK_OK(type->describe(impl, &second, &err));
    CHECK_OK(og_config_to_json(first, &a, &err));
    CHECK_OK(og_config_to_json(second, &b, &err));
    CHECK(!strcmp(a, b) && strstr(a, type->name));
    og_release(a);
    og_release(b);
    og_config_free(first);
    og_config_free(second);
    og_media media = {0};
    CHECK_FAILS(type->decode(impl, "nothing.bin", "", 0, &media, &err), OG_EFORMAT, "nothing.bin");
    CHECK(!media.data);
    CHECK(!type->vectors == !type->restore && (type->vectors ? type->dim(impl) > 0 : type->dim(impl) == 0));
    if (type->vectors) { /* media of another modality is refused, not misread */
        char byte = 0;
        float *vectors = NULL;
        int32_t rows = 0, columns = 0;
        const og_media other = {.modality = OG_TEXT, .dtype = OG_U8, .rank = 1, .shape = {1}, .data = &byte};
        CHECK(type->vectors(impl, &other, &vectors, &rows, &columns, &err) == OG_EINVAL && !vectors);
    }
    type->destroy(impl);
    og_config *unknown = yaml("no_such_key: 1");
    impl = NULL;
    CHECK_FAILS(type->create(unknown, &impl, &err), OG_EINVAL, "no_such_key");
    CHECK(!impl);
    og_config_free(unknown);
}

static void check_dataset(const og_dataset_type *type) {
    printf("data set %s\n", type->name);
    CHECK(type->abi == OG_ABI && type->summary && type->source && og_dataset_find(type->name) == type);
    check_keys(type->keys);
    int named = 0;
    for (int i = 0; type->keys[i].name; i++) named |= !strcmp(type->keys[i].name, "name");
    CHECK(named);
    og_dataset_impl *impl = NULL;
    og_config *unknown = yaml("no_such_key: 1");
    CHECK_FAILS(type->open(unknown, NULL, &impl, &err), OG_EINVAL, "no_such_key");
    CHECK(!impl);
    og_config_free(unknown);
}

int main(void) {
    int modalities = 0, datasets = 0;
    for (; og_modality_types[modalities]; modalities++) {
#ifndef OG_HAVE_SNDFILE
        if (og_modality_types[modalities]->modality == OG_AUDIO) continue;
#endif
        check_modality(og_modality_types[modalities]);
    }
    for (; og_dataset_types[datasets]; datasets++) check_dataset(og_dataset_types[datasets]);
    CHECK(modalities >= 3 && datasets >= 4);
    CHECK(!og_modality_find("smell") && !og_dataset_find("imagenet"));
    CHECK(og_alloc_count() == 0);
    return 0;
}
