# Emulator libraries: the runtime of src/simt and a set of kernel files, linked into one shared library that exports a
# single function.
#
#   upsweep_add_emulator(<target> PLAIN|TRACED ENTRY <function> UNITS <unit.simt.cpp>... SOURCES <file.cpp>...)
#
# UNITS are kernel files, SOURCES are compiled as any other (the table of the rungs). PLAIN compiles the units with the
# project's compiler; TRACED compiles them with clang, every access and every branch calling the runtime. ENTRY is the
# name, in namespace upsweep, of the function that returns the emulator.
find_package(Boost REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
set(UPSWEEP_SIMT_DIR ${PROJECT_SOURCE_DIR}/src/simt)
# A fixed clang version, because what a compiler instruments changes from one to the next, and the tests count it.
find_program(UPSWEEP_TRACE_CLANG NAMES clang++-19 DOC "The compiler of the traced emulator's kernels")

# The same for both compilers: nothing may change what a source access is (vectorising, unrolling, merging into memset),
# and calls must stay calls, because lanes are aligned by call depth. -g1: lines, inlined calls and no more.
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
  # g++ knows no control-flow table: lanes are aligned by address alone, which the block order keeps in source order.
  set(UPSWEEP_TRACE_COMPILER ${CMAKE_CXX_COMPILER})
  set(UPSWEEP_TRACE_FLAGS ${straight} -fno-tree-vectorize -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns
    -fno-reorder-blocks -fno-reorder-blocks-and-partition -Wno-tsan
    -fsanitize=thread --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0
    -fsanitize-coverage=trace-pc -fsanitize=bounds)
endif()

function(upsweep_add_emulator target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ENTRY" "UNITS;SOURCES")
  file(GLOB runtime CONFIGURE_DEPENDS ${UPSWEEP_SIMT_DIR}/*.cpp)
  if(kind STREQUAL "PLAIN")
    list(FILTER runtime EXCLUDE REGEX "/(trace|model|checks|global_checks|control_flow|hooks)\\.cpp$")
    set(traced 0)
    set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    set(flags "-O2")
    # Generated once, compiled in several libraries; properties of a source belong to the directory of the target.
    set_source_files_properties(${arg_UNITS} PROPERTIES COMPILE_OPTIONS "-O2;-Wno-unknown-pragmas")
    set(kernels ${arg_UNITS})
  else()
    set(traced 1)
    cmake_path(GET UPSWEEP_TRACE_COMPILER FILENAME compiler)
    list(JOIN UPSWEEP_TRACE_FLAGS " " flags)
    list(FILTER runtime EXCLUDE REGEX "/preemption\\.cpp$")
    upsweep_trace_objects(kernels ${target} ${arg_UNITS})
  endif()

  # The runtime comes first: where both hold a copy of the same std:: template, the linker keeps the untraced one.
  add_library(${target} SHARED ${runtime} ${arg_SOURCES} $<TARGET_OBJECTS:upsweep_base> ${kernels})
  target_link_libraries(${target} PRIVATE upsweep_flags Boost::context Threads::Threads INTERFACE upsweep_simt_report)
  # -O2 and frame pointers: the hooks tell call depth by frame address.
  target_compile_options(${target} PRIVATE -O2 -fno-omit-frame-pointer -ftls-model=initial-exec)
  target_compile_definitions(${target} PRIVATE UPSWEEP_SIMT_TRACED=${traced} UPSWEEP_SIMT_ENTRY=${arg_ENTRY}
    "UPSWEEP_SIMT_COMPILER=\"${compiler}\"" "UPSWEEP_SIMT_FLAGS=\"${flags}\"")
  # Everything else stays local: instrumented copies of std:: templates, the compiler's hooks, both emulators' symbols.
  set(script ${PROJECT_BINARY_DIR}/gen/${target}.version)
  file(CONFIGURE OUTPUT ${script} CONTENT
"{ global: extern \"C++\" { \"upsweep::${arg_ENTRY}()\"; }; local: *; };
")
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script} INTERPROCEDURAL_OPTIMIZATION OFF)
  target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
endfunction()

# Compiles kernel units with the tracing compiler, whichever compiler builds the rest.
function(upsweep_trace_objects out target)
  set(objects "")
  foreach(unit IN LISTS ARGN)
    cmake_path(GET unit FILENAME name)
    set(object ${PROJECT_BINARY_DIR}/gen/${target}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/gen/${target}
      COMMAND ${UPSWEEP_TRACE_COMPILER} -std=c++20 -fPIC -ftls-model=initial-exec -ffp-contract=off -DNDEBUG
        ${UPSWEEP_TRACE_FLAGS} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
        -I${PROJECT_BINARY_DIR}/gen -MD -MF ${object}.d -MT ${object} -c ${unit} -o ${object}
      DEPENDS ${unit} DEPFILE ${object}.d COMMENT "Tracing ${name}" VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
