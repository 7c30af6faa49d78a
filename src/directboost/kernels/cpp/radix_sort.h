// Radix sort of numbers.
#pragma once

#include "scratch.h"

namespace DB_SPACE {

inline uint64_t key_of(double x) {
  x += 0.0;  // both zeros are one value
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits ^ (bits >> 63 ? ~uint64_t{0} : uint64_t{1} << 63);
}

inline double value_of(uint64_t key) {
  const uint64_t bits = key ^ (key >> 63 ? uint64_t{1} << 63 : ~uint64_t{0});
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Stable radix sort of keys and, if requested, of their rows. Digits that all keys share are
// skipped, which is most of them for single precision.
class RadixSorter {
 public:
  RadixSorter(int64_t n, bool with_rows)
      : keys_(n), spare_(n), rows_(with_rows ? n : 0), spare_rows_(with_rows ? n : 0),
        counts_(kDigits << kBits), a_(keys_.get()), b_(spare_.get()),
        rows_a_(with_rows ? rows_.get() : nullptr), rows_b_(spare_rows_.get()) {}

  void put(int64_t j, double x, int64_t row) {
    a_[j] = key_of(x);
    if (rows_a_ != nullptr) rows_a_[j] = static_cast<uint32_t>(row);
  }
  void sort(int64_t n) {
    count(n);
    for (int32_t digit = 0; digit < kDigits; ++digit) {
      uint32_t* count = counts_.get() + (digit << kBits);
      if (count[digit_of(a_[0], digit)] == n) continue;
      uint32_t begin = 0;
      for (int32_t v = 0; v < 1 << kBits; ++v) {
        const uint32_t size = count[v];
        count[v] = begin;
        begin += size;
      }
      rows_a_ == nullptr ? scatter<false>(n, digit, count) : scatter<true>(n, digit, count);
    }
  }
  // The sorted keys, memory of the same size, and the rows of the keys (null: not requested).
  uint64_t* keys() { return a_; }
  uint64_t* spare() { return b_; }
  const uint32_t* rows() const { return rows_a_; }

 private:
  static constexpr int32_t kBits = 11, kDigits = 6;

  static uint32_t digit_of(uint64_t key, int32_t digit) {
    return static_cast<uint32_t>(key >> (digit * kBits)) & ((1u << kBits) - 1);
  }
  void count(int64_t n) {
    std::memset(counts_.get(), 0, sizeof(uint32_t) * (kDigits << kBits));
    for (int64_t i = 0; i < n; ++i)
      for (int32_t digit = 0; digit < kDigits; ++digit)
        ++counts_[(digit << kBits) + digit_of(a_[i], digit)];
  }
  template <bool Rows>
  void scatter(int64_t n, int32_t digit, uint32_t* begin) {
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t to = begin[digit_of(a_[i], digit)]++;
      b_[to] = a_[i];
      if constexpr (Rows) rows_b_[to] = rows_a_[i];
    }
    swap(a_, b_);
    if constexpr (Rows) swap(rows_a_, rows_b_);
  }
  template <class T>
  static void swap(T*& one, T*& two) {
    T* third = one;
    one = two, two = third;
  }

  Scratch<uint64_t> keys_, spare_;
  Scratch<uint32_t> rows_, spare_rows_, counts_;
  uint64_t *a_, *b_;
  uint32_t *rows_a_, *rows_b_;
};

}  // namespace DB_SPACE
