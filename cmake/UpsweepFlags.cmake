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
  # Warnings that are off: designated initialisers omit members with defaults; lambdas capture variables that only one
  # branch of an `if constexpr` uses; a #pragma unroll around a shuffle is meant for the hardware; std::stable_sort of
  # libstdc++ 12 calls a deprecated function.
  target_compile_options(upsweep_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-designated-field-initializers;-Wno-unused-lambda-capture>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed;-Wno-deprecated-declarations>")
  # With -march=native on a processor with AVX10, Clang 19 warns of a feature combination that it has itself derived.
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
  string(TOUPPER ${sanitizer} name)  # the compilers' predefined macros differ
  target_compile_definitions(upsweep_flags INTERFACE UPSWEEP_SANITIZE_${name})
  target_compile_options(upsweep_flags INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(upsweep_flags INTERFACE -fsanitize=${sanitizer})
endforeach()
# No position-independent executables under a sanitizer: they take 0.39 s to start, others 0.22 s, and the tests start
# hundreds of programs.
if(UPSWEEP_SANITIZE)
  target_link_options(upsweep_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
# Undefined behaviour ends a test. The address sanitizer reports null pointers by itself; without the
# undefined-behaviour sanitizer's check for them, vector code compiles in a tenth less time. (If the address sanitizer's
# checks were calls, it would compile in a third less time, but tests would run three times as long.)
if("undefined" IN_LIST UPSWEEP_SANITIZE)
  target_compile_options(upsweep_flags INTERFACE -fno-sanitize-recover=all)
  if("address" IN_LIST UPSWEEP_SANITIZE)
    target_compile_options(upsweep_flags INTERFACE -fno-sanitize=null)
  endif()
endif()
# Vector code is compiled for several of Highway's targets: `all` has those of all x86-64 processors; `native` has only
# the baseline and the best targets of the build machine, a third less code. The address sanitizer uses `native`, which
# tests the shortest and the longest vectors of this machine. The thread sanitizer uses the best target alone, because
# which data threads share does not depend on the target.
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

# Compiler flags of the CPU peers: other libraries' headers, compiled here for the build machine, as those libraries'
# users would. (Our own rungs choose their instruction set at run time.) Should be empty in builds for other machines.
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
    # The architectures of the GPUs in this machine; if there are none, a portable set: code for Hopper, and PTX for
    # 7.5, which the driver of every other GPU compiles at the first call. The preset `release` has code for each
    # architecture.
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
    # Kernels for ten types differ little, so they compress to a quarter of their size. A program decompresses only the
    # kernels that it launches.
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA --compress-mode=size UPSWEEP_HAVE_COMPRESS)
    set(UPSWEEP_COMPRESS $<$<BOOL:${UPSWEEP_HAVE_COMPRESS}>:--compress-mode=size>)
    # CMake 3.25 does not know that this nvcc supports C++20, so the standard is passed as an option.
    set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
    target_compile_options(upsweep_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 ${UPSWEEP_COMPRESS} --expt-relaxed-constexpr --extended-lambda -Xcompiler=-Wall,-Wextra>)
  elseif(UPSWEEP_CUDA STREQUAL "ON")
    message(FATAL_ERROR "UPSWEEP_CUDA is ON but no CUDA compiler was found; set CMAKE_CUDA_COMPILER or CUDACXX")
  endif()
endif()
message(STATUS "CUDA rungs: ${UPSWEEP_HAVE_CUDA}")
