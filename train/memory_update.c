/* memory_update.c: gradients of looked-up vectors into the rows of the tables. */
#include "memory_impl.h"

#include <string.h>

/* A table whose columns own disjoint ranges of rows is updated column by column, in place. Where columns share rows,
 * their gradients must be summed together, so they are laid one after another first. */
typedef struct table_plan {
    int32_t shared;
} table_plan;
struct og_memory_update {
    og_update_options options;
    table_plan *tables;
    int64_t *rows; /* of a shared table: [positions * its columns] */
    float *grads;  /* [positions * its columns][dim] */
};

static int32_t columns_share(const og_memory *m, const og_table_info *info) {
    for (int32_t a = 0; a < info->n_columns; a++)
        for (int32_t b = a + 1; b < info->n_columns; b++) {
            const og_column *x = og_table_set_column(m->set, info->first_column + a);
            const og_column *y = og_table_set_column(m->set, info->first_column + b);
            if (x->base < y->base + y->rows && y->base < x->base + x->rows) return 1;
        }
    return 0;
}

og_status og_memory_update_new(og_memory *m, og_error *err) {
    if (m->options.mode != OG_MEMORY_TRAIN) return OG_OK;
    struct og_memory_update *u = og_alloc_zero(1, sizeof *u);
    if (!u) return og_fail(err, OG_ENOMEM, "tables: no memory");
    m->update = u;
    u->options = og_update_defaults(m->options.optimiser);
    u->options.rounding = m->options.rounding;
    u->options.beta1 = m->options.beta1;
    u->options.beta2 = m->options.beta2;
    u->options.eps = m->options.eps;
    u->options.decay = m->options.decay;
    u->options.scale = 1;
    u->tables = og_alloc_zero(m->n_tables, sizeof *u->tables);
    if (!u->tables) return og_fail(err, OG_ENOMEM, "tables: no memory");
    int64_t most_rows = 0, most_values = 0, positions = m->batch * og_packs_capacity(m->packs);
    for (int32_t t = 0; t < m->n_tables; t++) {
        const og_table_info *info = og_table_set_info(m->set, t);
        u->tables[t].shared = columns_share(m, info);
        if (!u->tables[t].shared) continue;
        if (info->n_columns > most_rows) most_rows = info->n_columns;
        if (info->n_columns * info->dim > most_values) most_values = info->n_columns * info->dim;
    }
    u->rows = og_alloc(positions * most_rows, sizeof *u->rows);
    u->grads = og_alloc(positions * most_values, sizeof *u->grads);
    return u->rows && u->grads ? OG_OK : og_fail(err, OG_ENOMEM, "tables: no memory for gradients");
}

void og_memory_update_free(og_memory *m) {
    if (!m->update) return;
    og_release(m->update->tables);
    og_release(m->update->rows);
    og_release(m->update->grads);
    og_release(m->update);
}

/* What the two passes over gradients do with one list of rows. norm2 NULL: apply. */
typedef struct pass {
    const float *grads;
    double *norm2, scale;
    int64_t step;
} pass;

static og_status one_list(og_memory *m, int32_t table, const int64_t *rows, int64_t n, const float *grads,
                          int64_t stride, const pass *p, og_error *err) {
    if (!p->norm2)
        return og_update_apply(m->stores[table], &m->update->options, rows, n, grads, stride, p->scale, p->step,
                               m->pool, err);
    double part = 0;
    OG_TRY(og_update_norm2(m->stores[table], rows, n, grads, stride, m->pool, &part, err));
    *p->norm2 += part;
    return OG_OK;
}

static og_status each_table(og_memory *m, int64_t step, const pass *p, og_error *err) {
    og_memory_slot *s = og_memory_slot_of(m, step);
    if (!s || s->state != OG_SLOT_TAKEN || !m->update)
        return og_fail(err, OG_EINTERNAL, "step %lld has no vectors to update", (long long)step);
    int64_t n = s->starts[s->n_packs];
    for (int32_t t = 0; t < m->n_tables; t++) {
        const og_table_info *info = og_table_set_info(m->set, t);
        og_status status = OG_OK;
        if (m->update->tables[t].shared) {
            int64_t at = 0;
            for (int64_t i = 0; i < n; i++)
                for (int32_t c = info->first_column; c < info->first_column + info->n_columns; c++) {
                    int64_t row = s->rows[i * m->columns + c];
                    if (row == OG_ROW_NONE) continue;
                    m->update->rows[at] = row;
                    memcpy(m->update->grads + at * info->dim, p->grads + i * m->width + m->offset_of[c],
                           (size_t)info->dim * sizeof(float));
                    at++;
                }
            status = one_list(m, t, m->update->rows, at, m->update->grads, info->dim, p, err);
        } else {
            for (int32_t c = info->first_column; c < info->first_column + info->n_columns && status == OG_OK; c++)
                status = one_list(m, t, s->by_column + c * n, n, p->grads + m->offset_of[c], m->width, p, err);
        }
        if (status != OG_OK) return og_fail_at(err, status, "table %s at step %lld", info->name, (long long)step);
    }
    return OG_OK;
}

og_status og_memory_norm2(og_memory *m, int64_t step, const float *grads, double *norm2, og_error *err) {
    double sum = 0;
    pass p = {.grads = grads, .norm2 = &sum, .scale = 1, .step = step};
    OG_TRY(each_table(m, step, &p, err));
    *norm2 = sum;
    return OG_OK;
}

og_status og_memory_apply(og_memory *m, int64_t step, const float *grads, double lr, double grad_scale, og_error *err) {
    m->update->options.lr = lr;
    m->update->options.seed = m->seed;
    pass p = {.grads = grads, .norm2 = NULL, .scale = grad_scale, .step = step};
    return each_table(m, step, &p, err);
}
