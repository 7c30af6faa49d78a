// Features most of whose rows have the same code: the rows with another code, block by block.
#pragma once

#include "directboost.h"

namespace DB_SPACE {

constexpr int64_t kBlockRows = DB_SPARSE_BLOCK_ROWS;

inline int64_t blocks_of(int64_t m) { return (m + kBlockRows - 1) / kBlockRows; }

// The stored rows of one feature in one block, counted from its start, and their codes.
template <class Code>
struct SparseBlock {
  const uint16_t* rows;
  const Code* codes;
  int64_t n;
};

// The sparse features of codes with m rows; `sparse` is null where there are none.
template <class Code>
class SparseCodes {
 public:
  SparseCodes(const DbSparseCodes* sparse, int64_t m)
      : sparse_(sparse),
        block_(sparse == nullptr ? kBlockRows : sparse->block),
        blocks_((m + block_ - 1) / block_) {}
  int64_t block_rows() const { return block_; }
  bool any() const { return sparse_ != nullptr; }
  bool is_sparse(int32_t f) const { return any() && sparse_->most_common[f] >= 0; }
  int32_t most_common(int32_t f) const { return sparse_->most_common[f]; }
  // Row of a feature in the matrix of codes.
  size_t place(int32_t f) const {
    return static_cast<size_t>(any() && sparse_->places != nullptr ? sparse_->places[f] : f);
  }
  SparseBlock<Code> at(int32_t f, int64_t block) const {
    const int64_t* start = sparse_->starts + f * blocks_ + block;
    return {sparse_->rows + start[0], static_cast<const Code*>(sparse_->codes) + start[0],
            start[1] - start[0]};
  }

 private:
  const DbSparseCodes* sparse_;
  int64_t block_, blocks_;
};

}  // namespace DB_SPACE
