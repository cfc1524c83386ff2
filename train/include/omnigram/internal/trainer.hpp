// trainer.hpp: what a trainer holds. Between train and eval; never installed.
#ifndef OMNIGRAM_INTERNAL_TRAINER_HPP
#define OMNIGRAM_INTERNAL_TRAINER_HPP

#include <omnigram/internal/fence.hpp>
#include <omnigram/internal/model.hpp>

#include <memory>

struct og_trainer;

namespace og {

// vectors of the tables for one pack (undefined with memory.mode off), as the trainer's tables are now; rows
// [n_valid][columns] too where wanted.
at::Tensor pack_vectors(og_trainer *t, const og_pack &pack, std::vector<int64_t> *rows = nullptr);
const model &model_of(const og_trainer *t);
// Columns of the table set; 0 without tables.
int64_t columns_of(const og_trainer *t);
void say(const og_trainer *t, int32_t kind, const std::string &line);

} // namespace og
#endif
