/* The template that docs/addressing.md hands to authors of schemes compiles and works. */
#include "addr_template.c"

#include "test.h"

int main(void) {
    og_error err;
    og_config *config;
    og_addr_impl *impl;
    og_addr_layout layout = {0};
    CHECK_OK(og_config_from_yaml("{}", 2, "test", &config, &err));
    CHECK_OK(og_addr_template.create(config, &impl, &layout, &err));
    CHECK(layout.n_columns == 2 && layout.window.max_order == 3 && layout.columns[1].rows == 1000003);
    int32_t now[2] = {1, 2}, before[2] = {3, 3}, older[2] = {4, 4};
    int64_t got[4];
    og_cells cells = {.n = 2, .order = 3, .width = 1, .code = {now, before, older}};
    og_addr_template.rows(impl, &cells, got);
    uint64_t key = ((UINT64_C(1) * UINT64_C(0x100000001b3)) ^ 3) * UINT64_C(0x100000001b3);
    CHECK(got[0] == (int64_t)(key % 1000003) && got[1] == (int64_t)((key ^ 4) * UINT64_C(0x100000001b3) % 1000003) &&
          got[2] != got[0]);
    og_addr_template.destroy(impl);
    og_release(layout.columns);
    og_config_free(config);
    CHECK(og_alloc_count() == 0);
    return 0;
}
