#!/usr/bin/env bash
# Tests that a new primitive changes only its folder, its public header and the README's table. Adds a primitive to a
# copy of the tree, builds the command, and checks the primitive on the CPU and on the emulator.
#
#   new_primitive.sh <source folder> <work folder> <C++ compiler> <tracing compiler or empty>
set -euo pipefail
source=$1 work=$2 compiler=$3 tracer=$4

rm -rf "$work" && mkdir -p "$work"
cp -r "$source"/{CMakeLists.txt,cmake,examples,include,src} "$work"
# Removes the other ladders, which would take a quarter of an hour to compile. The laboratory measures with ceiling;
# render has a command that needs its ladder.
find "$work/src/ladders" -mindepth 1 -maxdepth 1 ! -name ceiling -exec rm -r {} +
rm "$work/src/app/render.cpp"
sed -i 's/add_render, //' "$work/src/app/main.cpp"
before=$(cd "$work" && find . -type f | sort | xargs sha256sum)

cp -r "$source/tests/new_primitive/tree/." "$work"
(cd "$work" && sha256sum --quiet --check <<< "$before")  # no existing file has changed

# With ccache, a second run reuses the objects of the first.
launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
cmake -S "$work" -B "$work/build/dev" -G Ninja -DUPSWEEP_CUDA=OFF -DUPSWEEP_TESTS=OFF "-DCMAKE_CXX_COMPILER=$compiler" \
  ${tracer:+"-DUPSWEEP_TRACE_CLANG=$tracer"} "${launcher[@]}" "${@:5}" > "$work/configure.log"
cmake --build "$work/build/dev" --target upsweep_cli -j 2 > "$work/build.log" || { tail -n 40 "$work/build.log"; exit 1; }

upsweep=$work/build/dev/bin/upsweep
"$upsweep" list rotate
"$upsweep" list rotate --json | grep -q '"name":"by","takes":"a whole number from 0 to 9007199254740992".*"default":"1"'
for backend in cpu simt; do
  "$upsweep" check rotate --backend "$backend" --quick
done
