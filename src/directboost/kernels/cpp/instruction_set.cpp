// Whether the processor has the instructions that this variant of the kernels is compiled for.
#include "directboost.h"

DB_EXPORT int32_t DB_NAME(usable)() {
#if defined(__AVX2__) && defined(__FMA__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return 1;
#endif
}
