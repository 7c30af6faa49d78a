// Threads that share the pieces of a kernel. The caller always works too, and waits only for pieces
// that others have begun, so a team whose threads come late costs nothing but their help.
#pragma once

#include <cstdint>

struct DbTeam;

// Calls task(context, piece) once for every piece 0..pieces-1; returns when all are done. Without a
// team the caller does them in order. Pieces must not depend on who runs them.
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
