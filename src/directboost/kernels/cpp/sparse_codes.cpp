// Finds the sparse features and stores their rows.
#include "dispatch.h"
#include "scratch.h"
#include "sparse_codes.h"
#include "threads.h"

namespace DB_SPACE {

constexpr int64_t kVotes = 1024;         // rows that vote for the most common code
constexpr int kChunk = 32;               // rows compared together
constexpr int64_t kPieceCodes = 1 << 18;  // codes of a piece

// The most common code, if clearly more than half of the rows have it. The voters are spread evenly
// but not equally spaced, since rows may be periodic.
template <class Code>
Code vote(const Code* codes, int64_t m) {
  const int64_t n = m < kVotes ? m : kVotes;
  Code leader = 0;
  int64_t lead = 0;
  for (int64_t j = 0; j < n; ++j) {
    const uint64_t share = static_cast<uint32_t>(j * 2654435769u);  // of the rows, golden ratio
    const Code code = codes[m < kVotes ? j : static_cast<int64_t>(share * m >> 32)];
    if (lead == 0) leader = code;
    lead += code == leader ? 1 : -1;
  }
  return leader;
}

// Counts in lanes of the width of a code, so that whole vectors of codes are compared.
template <class Code>
inline int64_t count_others(const Code* codes, int64_t n, Code most_common) {
  static_assert(kBlockRows / kChunk < 256, "a lane of one byte must hold the count of a block");
  Code same[kChunk] = {};
  int64_t i = 0, others = n;
  for (; i + kChunk <= n; i += kChunk)
    for (int l = 0; l < kChunk; ++l)
      same[l] = static_cast<Code>(same[l] + (codes[i + l] == most_common));
  for (int l = 0; l < kChunk; ++l) others -= same[l];
  for (; i < n; ++i) others -= codes[i] == most_common;
  return others;
}

// Counts the rows of every block whose code is not the most common one; gives up if they are more
// than `most`.
template <class Code>
void count_feature(const Code* codes, int64_t m, int64_t most, int32_t* most_common,
                   int64_t* counts) {
  const Code code = vote(codes, m);
  int64_t sum = 0;
  for (int64_t b = 0; b < blocks_of(m) && sum <= most; ++b) {
    const int64_t first = b * kBlockRows, n = m - first < kBlockRows ? m - first : kBlockRows;
    counts[b] = count_others(codes + first, n, code);
    sum += counts[b];
  }
  *most_common = sum <= most ? static_cast<int32_t>(code) : -1;
  if (sum > most) std::memset(counts, 0, sizeof(int64_t) * blocks_of(m));
}

template <class Code>
DB_INLINE bool all_usual(const Code* codes, Code most_common) {
  Code other = 0;
  for (int l = 0; l < kChunk; ++l) other = static_cast<Code>(other | (codes[l] ^ most_common));
  return other == 0;
}

// Writes without a branch per row, first into a buffer: one entry more than stored is written.
template <class Code>
void list_block(const Code* codes, int64_t n, Code most_common, uint16_t* rows, Code* others) {
  uint16_t place[kBlockRows + 1];
  Code code[kBlockRows + 1];
  int64_t found = 0;
  for (int64_t first = 0; first < n; first += kChunk) {
    const int64_t last = first + kChunk < n ? first + kChunk : n;
    if (last - first == kChunk && all_usual(codes + first, most_common)) continue;
    for (int64_t i = first; i < last; ++i) {
      const Code own = codes[i];
      place[found] = static_cast<uint16_t>(i), code[found] = own;
      found += own != most_common;
    }
  }
  std::memcpy(rows, place, sizeof(uint16_t) * found);
  std::memcpy(others, code, sizeof(Code) * found);
}

template <class Code>
void list_feature(const Code* codes, int64_t m, int32_t most_common, const int64_t* starts,
                  uint16_t* rows, Code* others) {
  for (int64_t b = 0; b < blocks_of(m); ++b) {
    if (starts[b + 1] == starts[b]) continue;
    const int64_t first = b * kBlockRows, n = m - first < kBlockRows ? m - first : kBlockRows;
    list_block(codes + first, n, static_cast<Code>(most_common), rows + starts[b],
               others + starts[b]);
  }
}

// Calls f(feature) for every feature.
template <class Function>
inline void share_features(DbTeam* team, int64_t m, int32_t n_features, Function f) {
  const int64_t some = kPieceCodes / (m > 0 ? m : 1) + 1;
  const int32_t size = static_cast<int32_t>(some < n_features ? some : n_features);
  if (n_features == 0) return;
  share(team, (n_features + size - 1) / size, [&](int32_t piece) {
    const int32_t begin = piece * size;
    for (int32_t j = begin; j < begin + size && j < n_features; ++j) f(j);
  });
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(count_sparse)(DbTeam* team, const void* codes, int32_t code_bytes,
                                        int64_t m, int32_t n_features, int64_t most,
                                        int32_t* most_common, int64_t* counts) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_codes(code_bytes, [&](auto* code) {
      share_features(team, m, n_features, [&](int32_t f) {
        count_feature(static_cast<decltype(code)>(codes) + f * m, m, most, most_common + f,
                      counts + f * blocks_of(m));
      });
    });
  });
}

DB_EXPORT int32_t DB_NAME(list_sparse)(DbTeam* team, const void* codes, int32_t code_bytes,
                                       int64_t m, int32_t n_features, const int32_t* most_common,
                                       const int64_t* starts, uint16_t* rows, void* others) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_codes(code_bytes, [&](auto* code) {
      using Code = Pointee<decltype(code)>;
      share_features(team, m, n_features, [&](int32_t f) {
        if (most_common[f] >= 0)
          list_feature(static_cast<const Code*>(codes) + f * m, m, most_common[f],
                       starts + f * blocks_of(m), rows, static_cast<Code*>(others));
      });
    });
  });
}
