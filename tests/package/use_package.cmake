# Builds and runs the examples as a user would. With INSTALL, installs the package into a fresh prefix and then moves
# it; otherwise uses the build tree as the package.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
if(INSTALL)
  run(${CMAKE_COMMAND} --install ${UPSWEEP_BUILD} --prefix ${WORK}/installed --component library)
  file(RENAME ${WORK}/installed ${WORK}/moved)
  run(${CMAKE_COMMAND} --install ${UPSWEEP_BUILD} --prefix ${WORK}/command --component command)
  foreach(file IN ITEMS man/man1/upsweep.1 bash-completion/completions/upsweep zsh/site-functions/_upsweep
      fish/vendor_completions.d/upsweep.fish)
    file(SIZE ${WORK}/command/share/${file} size)
    if(size LESS 100)
      message(FATAL_ERROR "${file} is empty")
    endif()
  endforeach()
  set(package -DCMAKE_PREFIX_PATH=${WORK}/moved)
else()
  set(package -Dupsweep_DIR=${UPSWEEP_BUILD})
endif()
run(${CMAKE_COMMAND} -S ${EXAMPLES}/reduce -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  ${package})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/sums)
message("${output}")
if(NOT output MATCHES "Fibonacci 90: 2880067194370816120\n$")
  message(FATAL_ERROR "the example did not finish")
endif()

# With nvcc, also builds and runs the GPU examples. The argument 1 is the size in GiB for larger_than_memory.
if(CUDA)
  run(${CMAKE_COMMAND} -S ${EXAMPLES}/own_operator -B ${WORK}/own -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CUDA_COMPILER=${CUDA} ${package})
  run(${CMAKE_COMMAND} --build ${WORK}/own)
  cmake_path(GET CUDA PARENT_PATH bin)
  run(${CMAKE_COMMAND} -S ${EXAMPLES}/larger_than_memory -B ${WORK}/large -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCUDAToolkit_ROOT=${bin}/.. ${package})
  run(${CMAKE_COMMAND} --build ${WORK}/large)
  foreach(program IN ITEMS own/gcd own/recurrence own/inside large/larger_than_memory)
    execute_process(COMMAND ${WORK}/${program} 1 RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0 AND NOT result EQUAL 4)  # 0: the program verified its result; 4: no GPU
      message(FATAL_ERROR "${WORK}/${program}: ${result}\n${output}")
    endif()
  endforeach()
endif()

# Installed headers must be self-contained: every header that they include is installed too, but for MPI's.
if(INSTALL)
  file(GLOB headers RELATIVE ${WORK}/moved/include ${WORK}/moved/include/upsweep/*.h
    ${WORK}/moved/include/upsweep/src/base/*.h)
  list(FILTER headers EXCLUDE REGEX "/mpi\\.h$")
  list(TRANSFORM headers PREPEND "-include;")
  run(${COMPILER} -std=c++20 -fsyntax-only -I${WORK}/moved/include -I${WORK}/moved/include/upsweep/src ${headers}
    -x c++ /dev/null)
endif()
