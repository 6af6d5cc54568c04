# Sourced by demo.sh and test.sh: installs missing packages and builds. Works from any directory, as root or with sudo.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian packages. clang-19 compiles the traced emulator's kernels and the sanitizer builds, g++ everything else.
packages=(g++ cmake ninja-build git ca-certificates
  libtbb-dev libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev libboost-context-dev libpng-dev libjpeg-dev
  libopenexr-dev libgtest-dev clang-19 llvm-19 binutils)

install_packages() {
  local missing=() package
  for package in "${packages[@]}" "$@"; do
    [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = 'install ok installed' ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo; as root, run: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  mkdir -p "$root/build"
  local log=$root/build/apt.log
  {
    "${sudo[@]}" apt-get update -q &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 || { cat "$log" >&2; die 'apt-get failed'; }
}

# configure <directory> [cmake options]
configure() {
  local directory=$1
  shift
  mkdir -p "$root/build"
  cmake -S "$root" -B "$directory" -G Ninja "$@" >"$directory.log" 2>&1 || { cat "$directory.log" >&2; die "cmake failed"; }
}

# build <directory> [targets]: builds the targets, or everything. Progress is one updated line on a terminal, otherwise
# one line per quarter.
build() {
  local directory=$1
  shift
  say "building ${*:-everything} in ${directory#"$root"/}"
  local command=(cmake --build "$directory" -j "$jobs" ${*:+--target "$@"})
  if [ -t 1 ]; then
    NINJA_STATUS='[%f/%t, %es] ' "${command[@]}"
  else
    local line quarter shown=0
    NINJA_STATUS='[%f/%t, %es] ' "${command[@]}" | while IFS= read -r line; do
      if [[ $line =~ ^\[([0-9]+)/([0-9]+), ]]; then
        quarter=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        [ "$quarter" = "$shown" ] && continue
        shown=$quarter
      fi
      printf '%s\n' "$line"
    done
  fi
}

# Prints the CMake option for CUDA: on if nvidia-smi finds a GPU.
cuda_options() {
  if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then echo -DUPSWEEP_CUDA=AUTO; else echo -DUPSWEEP_CUDA=OFF; fi
}

# Prints the path of nvcc: the CUDA toolkit's, or else the Python package's, installed in build/nvcc.
find_nvcc() {
  local found
  found=$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc) && { echo "$found"; return; }
  local home="$root/build/nvcc" toolkit
  if [ ! -e "$home/complete" ]; then
    install_packages python3-venv >&2
    say 'installing nvcc' >&2
    { python3 -m venv --clear "$home" && "$home/bin/pip" install -q --no-deps -r "$root/scripts/nvcc.txt"; } >&2 ||
      die 'cannot install nvcc from the Python package index'
    # Adds links with the names that CMake expects in a toolkit.
    toolkit=$(echo "$home"/lib/python3*/site-packages/nvidia/cu13)
    ln -sfn lib "$toolkit/lib64"
    ln -sfn libcudart.so.13 "$toolkit/lib/libcudart.so"
    touch "$home/complete"
  fi
  echo "$home"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc
}
