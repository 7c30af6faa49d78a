// The version of the C interface that this library was compiled with.
#include "directboost.h"

DB_EXPORT int32_t db_abi_version() { return DB_ABI_VERSION; }
