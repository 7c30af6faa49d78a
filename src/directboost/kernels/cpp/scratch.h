// Scratch memory of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "directboost.h"

#if defined(__GNUC__)
#define DB_FRESH __attribute__((malloc, returns_nonnull))
#else
#define DB_FRESH
#endif

// Memory for n objects of `size` bytes; throws std::bad_alloc. Compiled once: see scratch.cpp.
void* db_allocate(size_t n, size_t size) DB_FRESH;         // not initialised
void* db_allocate_zeroed(size_t n, size_t size) DB_FRESH;  // all bytes zero

namespace DB_SPACE {

struct Uninitialised {};

// An array of n zeros that is freed at the end of its scope. Not std::vector: a template of the
// standard library compiled for a new processor could be picked by the linker for the old one too.
template <class T>
class Scratch {
 public:
  explicit Scratch(size_t n) : data_(static_cast<T*>(db_allocate_zeroed(n, sizeof(T)))) {}
  Scratch(size_t n, Uninitialised) : data_(static_cast<T*>(db_allocate(n, sizeof(T)))) {}
  ~Scratch() { std::free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() { return data_; }
  const T* get() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_;
};

// Runs the body of a kernel and returns its status. Missing memory is the only possible failure.
template <class Function>
inline int32_t status_of(Function body) {
  try {
    body();
    return DB_OK;
  } catch (const std::bad_alloc&) {
    return DB_OUT_OF_MEMORY;
  }
}

}  // namespace DB_SPACE
