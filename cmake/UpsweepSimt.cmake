# Emulator libraries: the runtime of src/simt and a set of kernel files, linked into one shared library that exports a
# single function.
#
#   upsweep_add_emulator(<target> PLAIN|TRACED ENTRY <function> UNITS <unit.simt.cpp>... SOURCES <file.cpp>...)
#
# UNITS are kernel files; SOURCES are compiled as usual (the table of the rungs). PLAIN compiles the units with the
# project's compiler; TRACED compiles them with clang, instrumented so that every access and every branch calls the
# runtime. ENTRY is the name, in namespace upsweep, of the function that returns the emulator.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own configuration, not the FindBoost that CMake drops
endif()
find_package(Boost REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
set(UPSWEEP_SIMT_DIR ${PROJECT_SOURCE_DIR}/src/simt)
# The default coverage is in base/coverage.h.
option(UPSWEEP_SIMT_EVERY_TYPE "Compile every rung for every type and operation on the emulators, too" OFF)
set(UPSWEEP_COVERAGE_FLAGS "")
if(UPSWEEP_SIMT_EVERY_TYPE)
  set(UPSWEEP_COVERAGE_FLAGS -DUPSWEEP_SIMT_EVERY_TYPE)
endif()
# Precompiled for every unit: otherwise the standard library would be half of a textbook rung's compile time.
set(UPSWEEP_SIMT_HEADERS ${PROJECT_SOURCE_DIR}/src/kernel/precompiled.h)
# -O2 with frame pointers: the hooks derive the call depth from the frame address.
set(UPSWEEP_RUNTIME_FLAGS -O2 -fno-omit-frame-pointer -ftls-model=initial-exec)
# -O1 compiles in three quarters of the CPU time of -O2, and kernels run as fast: they spend most of their time in the
# runtime.
set(UPSWEEP_PLAIN_FLAGS -O1)
# A fixed clang version, because the instrumentation changes from one version to the next, and the tests compare its
# counts.
find_program(UPSWEEP_TRACE_CLANG NAMES clang++-19 DOC "The compiler of the traced emulator's kernels")

# Flags of both compilers. No optimisation may change the memory accesses of the source (vectorising, unrolling, merging
# into memset), and calls must stay calls, because lanes are aligned by call depth. -g1 emits only lines and inlined
# calls.
set(straight -O2 -g1 -fno-unroll-loops -fno-optimize-sibling-calls)
if(UPSWEEP_TRACE_CLANG)
  set(UPSWEEP_TRACE_COMPILER ${UPSWEEP_TRACE_CLANG})
  set(UPSWEEP_TRACE_FLAGS ${straight} -fno-vectorize -fno-slp-vectorize
    -Wno-pass-failed  # a #pragma unroll around a shuffle: meant for the hardware, and not possible here
    -fsanitize=thread -mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-read-before-write=1
    -mllvm -tsan-instrument-func-entry-exit=0
    -fsanitize-coverage=edge,no-prune,trace-pc-guard,pc-table,control-flow
    -fsanitize=array-bounds -Wno-pass-failed)
else()
  # g++ emits no control-flow table, so lanes are aligned by address alone. The flags keep basic blocks in source order.
  set(UPSWEEP_TRACE_COMPILER ${CMAKE_CXX_COMPILER})
  set(UPSWEEP_TRACE_FLAGS ${straight} -fno-tree-vectorize -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns
    -fno-reorder-blocks -fno-reorder-blocks-and-partition -Wno-tsan
    -fsanitize=thread --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0
    -fsanitize-coverage=trace-pc -fsanitize=bounds)
endif()

function(upsweep_add_emulator target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ENTRY" "UNITS;SOURCES")
  upsweep_simt_runtime(runtime ${kind})
  if(kind STREQUAL "PLAIN")
    set(traced 0)
    string(REPLACE GNU GCC compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    set(flags "${UPSWEEP_PLAIN_FLAGS}")
    add_library(${target}_kernels OBJECT ${arg_UNITS})
    target_link_libraries(${target}_kernels PRIVATE upsweep_flags)
    target_compile_options(${target}_kernels PRIVATE ${UPSWEEP_PLAIN_FLAGS} ${UPSWEEP_COVERAGE_FLAGS}
      -ftls-model=initial-exec -fno-omit-frame-pointer -Wno-unknown-pragmas)
    target_compile_definitions(${target}_kernels PRIVATE UPSWEEP_SIMT_TRACED=0)
    target_precompile_headers(${target}_kernels PRIVATE ${UPSWEEP_SIMT_HEADERS})
    set_target_properties(${target}_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
    set(kernels $<TARGET_OBJECTS:${target}_kernels>)
  else()
    set(traced 1)
    cmake_path(GET UPSWEEP_TRACE_COMPILER FILENAME compiler)
    set(flags "${UPSWEEP_TRACE_FLAGS}")
    upsweep_trace_objects(kernels ${target} ${arg_UNITS})
  endif()
  list(JOIN flags " " flags)

  # The runtime comes first: if it and the kernels contain the same std:: template, the linker keeps the runtime's
  # untraced copy.
  add_library(${target} SHARED $<TARGET_OBJECTS:${runtime}> $<TARGET_OBJECTS:upsweep_base> ${kernels}
    ${UPSWEEP_SIMT_DIR}/emulator.cpp ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE upsweep_flags Boost::context Threads::Threads INTERFACE upsweep_simt_report)
  target_compile_options(${target} PRIVATE ${UPSWEEP_RUNTIME_FLAGS})
  target_compile_definitions(${target} PRIVATE UPSWEEP_SIMT_TRACED=${traced} UPSWEEP_SIMT_ENTRY=${arg_ENTRY}
    "UPSWEEP_SIMT_COMPILER=\"${compiler}\"" "UPSWEEP_SIMT_FLAGS=\"${flags}\"")
  # Exports only the entry point. Everything else stays local: instrumented copies of std:: templates, the compiler's
  # hooks, both emulators' symbols.
  set(script ${PROJECT_BINARY_DIR}/gen/${target}.version)
  file(CONFIGURE OUTPUT ${script} CONTENT
"{ global: extern \"C++\" { \"upsweep::${arg_ENTRY}()\"; }; local: *; };
")
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script} INTERPROCEDURAL_OPTIMIZATION OFF)
  target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
endfunction()

# upsweep_simt_runtime(<out> PLAIN|TRACED): returns the object library of the runtime, which is compiled once per kind
# and shared by all emulators of that kind.
function(upsweep_simt_runtime out kind)
  string(TOLOWER upsweep_simt_runtime_${kind} runtime)
  set(${out} ${runtime} PARENT_SCOPE)
  if(TARGET ${runtime})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${UPSWEEP_SIMT_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/emulator\\.cpp$")  # contains the emulator's name: compiled for each emulator
  if(kind STREQUAL "PLAIN")
    list(FILTER sources EXCLUDE REGEX "/(trace|model|order|checks|global_checks|control_flow|entered_blocks|hooks)\\.cpp$")
    set(traced 0)
  else()
    list(FILTER sources EXCLUDE REGEX "/preemption\\.cpp$")
    set(traced 1)
  endif()
  add_library(${runtime} OBJECT ${sources})
  target_link_libraries(${runtime} PRIVATE upsweep_flags Boost::context)
  target_compile_options(${runtime} PRIVATE ${UPSWEEP_RUNTIME_FLAGS})
  target_compile_definitions(${runtime} PRIVATE UPSWEEP_SIMT_TRACED=${traced})
  target_precompile_headers(${runtime} PRIVATE ${UPSWEEP_SIMT_DIR}/session.h ${UPSWEEP_SIMT_DIR}/worker.h)
  set_target_properties(${runtime} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
endfunction()

# Compiles kernel units with the tracing compiler, whichever compiler builds the rest.
function(upsweep_trace_objects out target)
  set(folder ${PROJECT_BINARY_DIR}/gen/${target})
  set(compile ${UPSWEEP_TRACE_COMPILER} -std=c++20 -fPIC -ftls-model=initial-exec -ffp-contract=off -DNDEBUG
    -DUPSWEEP_SIMT_TRACED=1 ${UPSWEEP_COVERAGE_FLAGS} ${UPSWEEP_TRACE_FLAGS}
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_BINARY_DIR}/gen)
  file(MAKE_DIRECTORY ${folder})
  set(precompiled "")
  if(UPSWEEP_TRACE_CLANG)
    set(precompiled ${folder}/headers.pch)
    add_custom_command(OUTPUT ${precompiled}
      COMMAND ${compile} -MD -MF ${precompiled}.d -MT ${precompiled} -x c++-header ${UPSWEEP_SIMT_HEADERS}
        -o ${precompiled}
      DEPENDS ${UPSWEEP_SIMT_HEADERS} DEPFILE ${precompiled}.d COMMENT "Tracing headers" VERBATIM)
    list(APPEND compile -include-pch ${precompiled})
  endif()
  set(objects "")
  foreach(unit IN LISTS ARGN)
    cmake_path(GET unit FILENAME name)
    set(object ${folder}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${compile} -MD -MF ${object}.d -MT ${object} -c ${unit} -o ${object}
      DEPENDS ${unit} ${precompiled} DEPFILE ${object}.d COMMENT "Tracing ${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
