# cmake -DSOURCE=... -DFILE=... -DVERSION=... -P revision.cmake: writes the header with the revision for records.
set(revision "unknown")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(revision ${head})
    execute_process(COMMAND ${git} -C ${SOURCE} diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
    if(changed)
      string(APPEND revision "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT
"// Generated at every build.
#pragma once
namespace upsweep {
inline constexpr char revision[] = \"${revision}\";
inline constexpr char version[] = \"${VERSION}\";
}
")
