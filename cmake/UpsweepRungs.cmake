# Rungs are discovered, not listed: a primitive is a folder of src/ladders/ with a ladder.inc, a kernel rung is a file
# NN_name.cuh in it (or name.cuh in its mutants/). Each kernel rung becomes one small translation unit, compiled once
# per backend.
file(GLOB ladders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ladders/*/ladder.inc)
set(UPSWEEP_PRIMITIVES "")
set(primitive_lines "")
foreach(ladder IN LISTS ladders)
  cmake_path(GET ladder PARENT_PATH folder)
  cmake_path(GET folder FILENAME primitive)
  list(APPEND UPSWEEP_PRIMITIVES ${primitive})
  string(APPEND primitive_lines "PRIMITIVE(${primitive})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gen/primitives.inc CONTENT "${primitive_lines}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gen/rung_tables.h CONTENT
"#pragma once
#include \"base/rung.h\"
#define PRIMITIVE(name) namespace upsweep::ladders::name { Rungs rungs(Backend); }
#include \"primitives.inc\"
#undef PRIMITIVE
")

# upsweep_rung_tables(<out>): writes one table per primitive, of its rungs in the order of ladder.inc, and returns the
# files. A contract refers only to its own primitive's table (rung_tables.h), so that a program links only the ladders
# that it calls.
function(upsweep_rung_tables out)
  set(tables "")
  if(UPSWEEP_HAVE_CUDA)
    set(list_kernel "&kernel_##name##_rung,")
  endif()
  foreach(primitive IN LISTS UPSWEEP_PRIMITIVES)
    set(table ${PROJECT_BINARY_DIR}/gen/rungs/${primitive}.cpp)
    file(CONFIGURE OUTPUT ${table} CONTENT
"#include \"rung_tables.h\"
#define mutant(name)
namespace upsweep::ladders::${primitive} {
#define cpu(name) extern const Rung cpu_##name##_rung;
#define kernel(name) extern const Rung kernel_##name##_rung;
#define RUNG(kind, name) kind(name)
#include \"ladders/${primitive}/ladder.inc\"
#undef cpu
#undef kernel
Rungs rungs(Backend backend) {
#define cpu(name) &cpu_##name##_rung,
#define kernel(name)
  static const Rung* const of_cpu[] = {
#include \"ladders/${primitive}/ladder.inc\"
      nullptr};
#undef cpu
#undef kernel
#define cpu(name)
#define kernel(name) ${list_kernel}
  static const Rung* const of_gpu[] = {
#include \"ladders/${primitive}/ladder.inc\"
      nullptr};
  const Rungs all = backend == Backend::cpu ? Rungs(of_cpu) : backend == Backend::cuda ? Rungs(of_gpu) : Rungs();
  return all.empty() ? all : all.first(all.size() - 1);
}
}
")
    list(APPEND tables ${table})
  endforeach()
  set(${out} ${tables} PARENT_SCOPE)
endfunction()

# upsweep_peers(<out> <backend> <extension>): returns the lab/*peers.<extension> of every primitive that has them, and
# writes the table of the rungs that they provide, <backend>_peers().
function(upsweep_peers out backend extension)
  set(files "")
  set(declarations "")
  set(inserts "")
  foreach(primitive IN LISTS UPSWEEP_PRIMITIVES)
    set(file ${PROJECT_SOURCE_DIR}/src/ladders/${primitive}/lab/peers.${extension})
    if(EXISTS ${file})
      file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ladders/${primitive}/lab/*peers.${extension})
      list(APPEND files ${parts})
      string(APPEND declarations "namespace ladders::${primitive} { Rungs ${backend}_peers(); }\n")
      string(APPEND inserts
        "    for (const Rung* peer : ladders::${primitive}::${backend}_peers()) all.push_back(peer);\n")
    endif()
  endforeach()
  # No CPU peers under the sanitizers: they are third-party code, and a fifth of all code to compile. The thread
  # sanitizer could not check them anyway: the distribution's oneTBB is not instrumented, so the sanitizer does not see
  # how its threads wait for each other.
  if((extension STREQUAL "cpp" AND UPSWEEP_SANITIZE) OR (extension STREQUAL "cu" AND NOT UPSWEEP_CUB))
    set(files "")
    set(declarations "")
    set(inserts "")
  endif()
  set(table ${PROJECT_BINARY_DIR}/gen/${backend}_peers.cpp)
  file(CONFIGURE OUTPUT ${table} CONTENT
"#include <vector>
#include \"base/rung.h\"
namespace upsweep {
${declarations}
Rungs ${backend}_peers() {
  static const std::vector<const Rung*> peers = [] {
    std::vector<const Rung*> all;
${inserts}    return all;
  }();
  return peers;
}
}
")
  set(${out} ${files} ${table} PARENT_SCOPE)
endfunction()

# upsweep_kernel_units(<out> <extension> [MUTANTS]): writes one unit per rung and returns the files. MUTANTS adds the
# deliberate bugs, which only the emulators contain.
function(upsweep_kernel_units out extension)
  cmake_parse_arguments(PARSE_ARGV 2 arg "MUTANTS" "" "")
  string(REGEX REPLACE "\\..*" "" folder_name ${extension})  # "simt.cpp" -> gen/simt
  set(generated ${PROJECT_BINARY_DIR}/gen/${folder_name})
  set(units "")
  foreach(primitive IN LISTS UPSWEEP_PRIMITIVES)
    set(folder ${PROJECT_SOURCE_DIR}/src/ladders/${primitive})
    set(binding ladders/${primitive}/binding.h)
    if(EXISTS ${folder}/binding.cuh)  # a binding that itself launches kernels
      set(binding ladders/${primitive}/binding.cuh)
    endif()
    file(GLOB kernels CONFIGURE_DEPENDS ${folder}/[0-9][0-9]_*.cuh)
    file(GLOB shared CONFIGURE_DEPENDS ${folder}/*_unit.cuh)  # code that several rungs call, compiled once
    foreach(file IN LISTS shared)
      cmake_path(GET file STEM name)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE include)
      set(unit ${generated}/${primitive}_${name}.${extension})
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${include}\"\n")
      list(APPEND units ${unit})
    endforeach()
    set(mutants "")
    if(arg_MUTANTS)
      file(GLOB mutants CONFIGURE_DEPENDS ${folder}/mutants/*.cuh)
    endif()
    foreach(file IN LISTS kernels mutants)
      cmake_path(GET file STEM rung)
      string(REGEX REPLACE "^[0-9][0-9]_" "" rung ${rung})
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE include)
      set(unit ${generated}/${primitive}_${rung}.${extension})
      file(CONFIGURE OUTPUT ${unit} CONTENT
"#include \"${include}\"
#include \"${binding}\"
namespace upsweep::ladders::${primitive} {
extern const Rung kernel_${rung}_rung;
const Rung kernel_${rung}_rung = make_rung<Binding, ${rung}>(\"${rung}\", kernel_backend);
}
")
      list(APPEND units ${unit})
    endforeach()
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# upsweep_join_units(<units> <most>): replaces the units in a list by files that include up to `most` units each. If
# kernels are compiled for one type, nvcc takes 3 s per unit for the headers and 1.5 s for the kernels.
function(upsweep_join_units units most)
  set(all ${${units}})
  set(joined "")
  while(all)
    list(SUBLIST all 0 ${most} some)
    list(REMOVE_ITEM all ${some})
    list(LENGTH joined number)
    list(TRANSFORM some PREPEND "#include \"")
    list(TRANSFORM some APPEND "\"\n")
    list(JOIN some "" includes)
    set(file ${PROJECT_BINARY_DIR}/gen/joined/${number}.cu)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes}")
    list(APPEND joined ${file})
  endwhile()
  set(${units} ${joined} PARENT_SCOPE)
endfunction()

# upsweep_emulated_table(<out> [MUTANTS]): writes an emulator's single table, of all rungs and mutants that the emulator
# contains, and returns the file.
function(upsweep_emulated_table out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MUTANTS" "" "")
  set(declare_mutant "")
  set(list_mutant "")
  if(arg_MUTANTS)
    set(declare_mutant "DECLARE_kernel(name)")
    set(list_mutant "LIST_kernel(primitive, name)")
  endif()
  set(declarations "")
  set(rungs "")
  foreach(primitive IN LISTS UPSWEEP_PRIMITIVES)
    string(APPEND declarations
"namespace ladders::${primitive} {
#define RUNG(kind, name) DECLARE_##kind(name)
#include \"ladders/${primitive}/ladder.inc\"
#undef RUNG
}
")
    string(APPEND rungs
"#define RUNG(kind, name) LIST_##kind(${primitive}, name)
#include \"ladders/${primitive}/ladder.inc\"
#undef RUNG
")
  endforeach()
  set(table ${PROJECT_BINARY_DIR}/gen/simt/kernel_rungs.cpp)
  file(CONFIGURE OUTPUT ${table} CONTENT
"#include \"base/rung.h\"
#define DECLARE_cpu(name)
#define DECLARE_kernel(name) extern const Rung kernel_##name##_rung;
#define DECLARE_mutant(name) ${declare_mutant}
#define LIST_cpu(primitive, name)
#define LIST_kernel(primitive, name) &ladders::primitive::kernel_##name##_rung,
#define LIST_mutant(primitive, name) ${list_mutant}
namespace upsweep {
${declarations}
Rungs kernel_rungs() {
  static const Rung* const rungs[] = {
${rungs}  };
  return rungs;
}
}
")
  set(${out} ${table} PARENT_SCOPE)
endfunction()
