# Supports find_package(upsweep), from this build tree (-Dupsweep_DIR=<build>) and from an installed prefix. The
# installed component `library` has everything that a program needs to build, `command` the upsweep program. Targets:
#   upsweep::upsweep   the compiled library and the public headers
#   upsweep::kernels   the rungs' headers, to instantiate a rung with another type or operator in a .cu
#   upsweep::mpi       groups of MPI's processes, with find_package(upsweep COMPONENTS mpi)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(upsweep_kernels INTERFACE)
set_target_properties(upsweep_kernels PROPERTIES EXPORT_NAME kernels)
target_compile_features(upsweep PUBLIC cxx_std_20)
target_include_directories(upsweep PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Installed in a separate folder, because base/, kernel/ and ladders/ are names that other projects may use.
target_include_directories(upsweep_kernels INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/upsweep/src>)
target_link_libraries(upsweep_kernels INTERFACE upsweep)
# The same target names for projects that include this one with add_subdirectory().
add_library(upsweep::upsweep ALIAS upsweep)
add_library(upsweep::kernels ALIAS upsweep_kernels)

install(TARGETS upsweep upsweep_kernels EXPORT upsweep
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
foreach(folder base cpu kernel ladders)
  install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/upsweep/src COMPONENT library
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "mutants" EXCLUDE PATTERN "lab" EXCLUDE)
endforeach()

if(TARGET upsweep_shared)
  install(TARGETS upsweep_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/upsweep)
install(EXPORT upsweep NAMESPACE upsweep:: FILE upsweepTargets.cmake DESTINATION ${package_folder} COMPONENT library)
export(EXPORT upsweep NAMESPACE upsweep:: FILE ${PROJECT_BINARY_DIR}/upsweepTargets.cmake)
# The installed component `mpi`: the target, and the engine that the command opens if mpirun has started it.
if(TARGET upsweep_mpi)
  set_target_properties(upsweep_mpi PROPERTIES EXPORT_NAME mpi)
  add_library(upsweep::mpi ALIAS upsweep_mpi)
  install(TARGETS upsweep_mpi EXPORT upsweep_mpi
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
  install(TARGETS upsweep_mpi_engine LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
  install(EXPORT upsweep_mpi NAMESPACE upsweep:: FILE upsweepMpiTargets.cmake DESTINATION ${package_folder}
    COMPONENT mpi)
  export(EXPORT upsweep_mpi NAMESPACE upsweep:: FILE ${PROJECT_BINARY_DIR}/upsweepMpiTargets.cmake)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/upsweepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/upsweepConfig.cmake INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
# While the major version is 0, every minor version may break compatibility.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/upsweepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/upsweepConfig.cmake ${PROJECT_BINARY_DIR}/upsweepConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT library)

if(TARGET upsweep_cli)
  install(TARGETS upsweep_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  set(self ${PROJECT_BINARY_DIR}/gen/command)  # src/app/CMakeLists.txt
  install(FILES ${self}/upsweep.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${self}/upsweep DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
  install(FILES ${self}/_upsweep DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES ${self}/upsweep.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
  if(TARGET upsweep_simt_plain)
    # The command finds the emulators relative to itself, so the prefix can be moved.
    file(RELATIVE_PATH up /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(upsweep_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
    install(TARGETS upsweep_simt_plain upsweep_simt_traced
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
  endif()
endif()

# Debian packages of both components, by cpack. Configure with -DCMAKE_INSTALL_PREFIX=/usr, for Debian's folder names.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The upsweep developers <upsweep@localhost>")
set(CPACK_PACKAGE_VENDOR upsweep)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library)
if(TARGET upsweep_cli)
  list(APPEND CPACK_COMPONENTS_ALL command)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME upsweep)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "Laboratory of data-parallel algorithms for CPUs and NVIDIA GPUs")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libupsweep-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libhwy-dev)  # programs link it with the static library
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Data-parallel algorithms for CPUs and NVIDIA GPUs: library and headers")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
include(CPack)
