// Threads that share the pieces of a kernel; compiled once, for every processor.
//
// One 64-bit word describes the work: a generation, the number of pieces, the next piece. A thread
// claims a piece by adding one to the word it read; the claim fails if the word has changed.
#include "threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

struct DbTeam {
  std::atomic<uint64_t> word{0};
  std::atomic<int32_t> done{0};
  std::atomic<int32_t> asleep{0};
  std::atomic<bool> failed{false};
  std::atomic<bool> dismissed{false};
  void (*task)(void*, int32_t) = nullptr;
  void* context = nullptr;
  std::mutex mutex;
  std::condition_variable wake;
};

namespace {

constexpr int kBits = 20;  // bits of the word for the next piece, and for the number of pieces
constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
constexpr int kSpins = 2000, kYields = 50;  // before a thread without work goes to sleep

uint64_t next_of(uint64_t word) { return word & kMask; }
uint64_t pieces_of(uint64_t word) { return (word >> kBits) & kMask; }
bool has_work(uint64_t word) { return next_of(word) < pieces_of(word); }

void breathe() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Runs one piece of the current task. An exception must not leave a thread of the team.
void run_piece(DbTeam* team, int32_t piece) {
  try {
    team->task(team->context, piece);
  } catch (const std::bad_alloc&) {
    team->failed.store(true, std::memory_order_relaxed);
  }
  team->done.fetch_add(1, std::memory_order_release);
}

// Claims and runs pieces until there are none left.
void work(DbTeam* team) {
  uint64_t word = team->word.load(std::memory_order_acquire);
  while (has_work(word)) {
    if (!team->word.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) continue;
    run_piece(team, static_cast<int32_t>(next_of(word)));
    word = team->word.load(std::memory_order_acquire);
  }
}

void wait_for_work(DbTeam* team) {
  for (int i = 0; i < kSpins + kYields; ++i) {
    if (has_work(team->word.load()) || team->dismissed.load()) return;
    if (i < kSpins) {
      breathe();
    } else {
      std::this_thread::yield();
    }
  }
  std::unique_lock<std::mutex> lock(team->mutex);
  team->asleep.fetch_add(1);
  team->wake.wait(lock, [&] { return has_work(team->word.load()) || team->dismissed.load(); });
  team->asleep.fetch_sub(1);
}

void wake_all(DbTeam* team) {
  { std::lock_guard<std::mutex> lock(team->mutex); }
  team->wake.notify_all();
}

}  // namespace

void db_share(DbTeam* team, int32_t pieces, void (*task)(void*, int32_t), void* context) {
  if (team == nullptr || pieces < 2 || static_cast<uint64_t>(pieces) > kMask) {
    for (int32_t piece = 0; piece < pieces; ++piece) task(context, piece);
    return;
  }
  team->task = task;
  team->context = context;
  team->done.store(0, std::memory_order_relaxed);
  team->failed.store(false, std::memory_order_relaxed);
  const uint64_t generation = (team->word.load() >> (2 * kBits)) + 1;
  team->word.store((generation << (2 * kBits)) | (static_cast<uint64_t>(pieces) << kBits));
  if (team->asleep.load() > 0) wake_all(team);
  work(team);
  for (int i = 0; team->done.load(std::memory_order_acquire) < pieces; ++i) {
    if (i < kSpins) {
      breathe();
    } else {
      std::this_thread::yield();
    }
  }
  if (team->failed.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

DB_EXPORT DbTeam* db_team_new() { return new (std::nothrow) DbTeam; }

DB_EXPORT void db_team_serve(DbTeam* team) {
  while (!team->dismissed.load()) {
    wait_for_work(team);
    work(team);
  }
}

DB_EXPORT void db_team_dismiss(DbTeam* team) {
  team->dismissed.store(true);
  wake_all(team);
}

DB_EXPORT void db_team_delete(DbTeam* team) { delete team; }
