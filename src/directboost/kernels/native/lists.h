// Features most of whose rows have one code: the rows with another one, listed block by block.
#pragma once

#include "common.h"

namespace DB_SPACE {

constexpr int64_t kListRows = DB_LIST_ROWS;

inline int64_t list_blocks(int64_t m) { return (m + kListRows - 1) / kListRows; }

// The part of a list that lies in one block: rows counted from its start, and their codes.
template <class Code>
struct Listed {
  const uint16_t* rows;
  const Code* codes;
  int64_t n;
};

// The lists of a matrix of codes with m rows; `sparse` is null where there are none.
template <class Code>
class Lists {
 public:
  Lists(const DbSparse* sparse, int64_t m) : sparse_(sparse), blocks_(list_blocks(m)) {}
  bool any() const { return sparse_ != nullptr; }
  bool has(int32_t f) const { return any() && sparse_->usual[f] >= 0; }
  int32_t usual(int32_t f) const { return sparse_->usual[f]; }
  Listed<Code> at(int32_t f, int64_t block) const {
    const int64_t* start = sparse_->starts + f * blocks_ + block;
    return {sparse_->rows + start[0], static_cast<const Code*>(sparse_->codes) + start[0],
            start[1] - start[0]};
  }

 private:
  const DbSparse* sparse_;
  int64_t blocks_;
};

}  // namespace DB_SPACE
