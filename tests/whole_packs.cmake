# cmake -DNVCC=... -DSOURCE=<the project> -P whole_packs.cmake: every access of whole_packs.cu moves 16 bytes.
execute_process(
  COMMAND ${NVCC} -std=c++20 -O3 -arch=sm_90 --expt-relaxed-constexpr -I${SOURCE}/src -I${SOURCE}/include
          -ptx ${SOURCE}/tests/whole_packs.cu -o -
  OUTPUT_VARIABLE ptx COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[\t ](ld|st)\\.[a-z0-9_:.A-Z]+" accesses "${ptx}")
list(FILTER accesses EXCLUDE REGEX "\\.param")
list(LENGTH accesses all)
if(all LESS 96)  # 6 types: 8 loads and 4 stores in from_global, 3 loads and 1 store in from_shared
  message(FATAL_ERROR "found only ${all} of 96 loads and stores")
endif()
list(FILTER accesses EXCLUDE REGEX "\\.v4\\.[ufb]32|\\.v2\\.[ufb]64")
if(accesses)
  list(REMOVE_DUPLICATES accesses)
  message(FATAL_ERROR "narrower than a pack: ${accesses}")
endif()
