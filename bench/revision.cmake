# cmake -DSOURCE=... -DHEADER=... -P revision.cmake: writes a header with git's description of the sources, if it
# changed.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude *
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#pragma once

namespace framewire::bench {
inline constexpr const char* revision = \"${revision}\";
}
")
