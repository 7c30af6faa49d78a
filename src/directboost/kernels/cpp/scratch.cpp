// Allocation of scratch memory; compiled once, for every processor.
#include "scratch.h"

#include <atomic>

namespace {

// Allocations that may still succeed; negative: no limit. Tests set it.
std::atomic<int64_t> allowed{-1};

void count_allocation() {
  int64_t left = allowed.load(std::memory_order_relaxed);
  if (left < 0) return;
  while (left > 0 && !allowed.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 0) throw std::bad_alloc();
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* db_allocate(size_t n, size_t size) {
  count_allocation();
  if (n > SIZE_MAX / size) throw std::bad_alloc();
  return checked(std::malloc(n > 0 ? n * size : size));
}

void* db_allocate_zeroed(size_t n, size_t size) {
  count_allocation();
  return checked(std::calloc(n > 0 ? n : 1, size));
}

DB_EXPORT void db_limit_scratch(int64_t allocations) { allowed.store(allocations); }
