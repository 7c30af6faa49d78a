// Threads that share the pieces of a kernel. The caller always works too and waits only for pieces
// that other threads have begun, so threads that arrive late do not delay it.
#pragma once

#include "directboost.h"

// Calls task(context, piece) once for every piece 0..pieces-1 and returns when all are done.
// Without a team the caller runs them in order. A piece must not depend on the thread that runs it.
// Throws std::bad_alloc if a piece threw it; the team stays usable.
void db_share(DbTeam* team, int32_t pieces, void (*task)(void* context, int32_t piece),
              void* context);

namespace {

template <class Function>
inline void share(DbTeam* team, int32_t pieces, Function function) {
  db_share(
      team, pieces, [](void* context, int32_t piece) { (*static_cast<Function*>(context))(piece); },
      &function);
}

}  // namespace
