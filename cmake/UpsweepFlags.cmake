# Compilers, flags and the CUDA language.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# -O3, because the CPU rungs are measured; -ffp-contract=off, for the same float arithmetic on every backend.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")  # half the compile time of -O2 -g; reports still have line numbers
add_library(upsweep_flags INTERFACE)
target_compile_options(upsweep_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -ffp-contract=off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies in "text" + std::string (its bug 105651), and under sanitizers of uninitialised
  # members in std::regex.
  target_compile_options(upsweep_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(UPSWEEP_SANITIZE)
    target_compile_options(upsweep_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Members that have defaults are left out, lambdas capture what one branch of an `if constexpr` needs, a #pragma unroll
  # around a shuffle is meant for the hardware, and std::stable_sort of libstdc++ 12 calls a deprecated function.
  target_compile_options(upsweep_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-designated-field-initializers;-Wno-unused-lambda-capture>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed;-Wno-deprecated-declarations>")
  # With -march=native on a processor with AVX10, Clang 19 warns of what it itself derives from that.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-Winvalid-feature-combination UPSWEEP_WARNS_OF_FEATURES)
  if(UPSWEEP_WARNS_OF_FEATURES)
    target_compile_options(upsweep_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-invalid-feature-combination>)
  endif()
endif()
target_include_directories(upsweep_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/gen)
foreach(sanitizer IN LISTS UPSWEEP_SANITIZE)
  string(TOUPPER ${sanitizer} name)  # compilers' own macros differ
  target_compile_definitions(upsweep_flags INTERFACE UPSWEEP_SANITIZE_${name})
  target_compile_options(upsweep_flags INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(upsweep_flags INTERFACE -fsanitize=${sanitizer})
endforeach()
# Under a sanitizer a program that moves when it is loaded takes 0.39 s to start, one that does not 0.22 s, and the
# tests start hundreds.
if(UPSWEEP_SANITIZE)
  target_link_options(upsweep_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
# Undefined behaviour ends a test. The address sanitizer reports null pointers by itself, and vector code compiles in a
# tenth less time without the check for them. (With its other checks as calls, a third less, but tests run three times
# as long.)
if("undefined" IN_LIST UPSWEEP_SANITIZE)
  target_compile_options(upsweep_flags INTERFACE -fno-sanitize-recover=all)
  if("address" IN_LIST UPSWEEP_SANITIZE)
    target_compile_options(upsweep_flags INTERFACE -fno-sanitize=null)
  endif()
endif()
# Vector code is compiled for each of Highway's targets: those of all x86-64 processors, or the baseline and the best
# ones of the machine that builds, a third less. The address sanitizer has the latter, the shortest and the longest
# vectors that the machine runs; the thread sanitizer has the best target alone, because which threads share data does
# not depend on it.
set(UPSWEEP_CPU_TARGETS all CACHE STRING "Instruction sets of the CPU rungs: all, or native for this machine alone")
set_property(CACHE UPSWEEP_CPU_TARGETS PROPERTY STRINGS all native)
set(avx512 "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo avx512 REGEX "^flags.* avx512bw" LIMIT_COUNT 1)
endif()
if("thread" IN_LIST UPSWEEP_SANITIZE)
  target_compile_options(upsweep_flags INTERFACE -march=native)
  target_compile_definitions(upsweep_flags INTERFACE HWY_COMPILE_ONLY_STATIC)
elseif(EXISTS /proc/cpuinfo AND (UPSWEEP_SANITIZE OR UPSWEEP_CPU_TARGETS STREQUAL "native"))
  target_compile_definitions(upsweep_flags INTERFACE UPSWEEP_WITHOUT_AVX$<IF:$<BOOL:${avx512}>,2,512>)
endif()

# CPU peers are other libraries' headers, compiled here, for the machine that builds, as a competitor would. Our own
# rungs choose at run time. Empty for a build that goes to other machines.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-march=native UPSWEEP_MARCH_NATIVE)
if(UPSWEEP_MARCH_NATIVE AND NOT CMAKE_CROSSCOMPILING)
  set(UPSWEEP_PEER_FLAGS -march=native CACHE STRING "Compiler flags of the CPU peers")
endif()

set(UPSWEEP_HAVE_CUDA FALSE)
if(NOT UPSWEEP_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(UPSWEEP_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(UPSWEEP_NVCC)
      set(CMAKE_CUDA_COMPILER ${UPSWEEP_NVCC})
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    # The GPU that is there, else the portable set: Hopper's code, and for every other GPU code for 7.5 that its driver
    # compiles at the first call. The preset `release` has code for each.
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE capabilities
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
    if(capabilities)
      string(REPLACE "." "" CMAKE_CUDA_ARCHITECTURES "${capabilities}")
      list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90)
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(UPSWEEP_HAVE_CUDA TRUE)
    # Kernels for ten types differ little, so that they compress to a fourth. A program unpacks those that it launches.
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA --compress-mode=size UPSWEEP_HAVE_COMPRESS)
    set(UPSWEEP_COMPRESS $<$<BOOL:${UPSWEEP_HAVE_COMPRESS}>:--compress-mode=size>)
    # CMake 3.25 does not know that this nvcc takes C++20: pass it as an option.
    set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
    target_compile_options(upsweep_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 ${UPSWEEP_COMPRESS} --expt-relaxed-constexpr --extended-lambda -Xcompiler=-Wall,-Wextra>)
  elseif(UPSWEEP_CUDA STREQUAL "ON")
    message(FATAL_ERROR "UPSWEEP_CUDA is ON but no CUDA compiler was found; set CMAKE_CUDA_COMPILER or CUDACXX")
  endif()
endif()
message(STATUS "CUDA rungs: ${UPSWEEP_HAVE_CUDA}")
