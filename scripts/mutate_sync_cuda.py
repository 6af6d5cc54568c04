#!/usr/bin/env python3
"""Builds the changes of docs/synchronisation.md for a GPU, each as an upsweep command with only the changed rung, and a
script that checks them under compute-sanitizer's racecheck, to compare its findings with the emulator's.

    scripts/mutate_sync_cuda.py --build <build folder with CUDA> --out <folder> [--only REGEX]
    <folder>/run.sh                     on the machine with the GPU; prints a table

Changes whose kernel does not end, according to the table, are skipped, because they would occupy the GPU.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import mutate_sync

ROOT = mutate_sync.ROOT
HANGS = re.compile(r"deadlock|livelock|does not end|trap|barrier divergence|by hand")
# Arguments that a rung needs in addition to the usual sizes, as in docs/synchronisation.md.
ARGUMENTS = {
    "histogram/partitioned": "-n 20011 --param bins=300000,grid=3 --type i32",
    "histogram/cluster": "-n 20011 --param bins=70000 --type i32",
    "scan/reproducible": "-n 150001 --type f32",
    "sort/hybrid": "-n 20011 --type i32 --op ascending",
    "sort/onesweep_8bit": "-n 20011 --type i32 --op ascending",
    "sort/lane_sweep": "-n 150001 --type i32 --op ascending",
    "render/bit_columns": "-n 1009",
    "render/list_ends": "-n 1009",
    "render/list_parts": "-n 1009 --param width=32,height=32,eps=1.52587890625e-05",
}
USUAL = "-n 150001 --type i32"


def rows(page, only):
    for line in page.read_text().split("\n"):
        if re.match(r"\| \w+/\w+ \| .*\.(cuh|h) \|", line) and re.search(only, line) and not HANGS.search(line):
            yield line.strip("| ").split(" | ")


class Builder:
    def __init__(self, build, out):
        self.build, self.out = build, out

    def commands(self, target):
        listed = subprocess.run(["ninja", "-C", self.build, "-t", "commands", target], text=True, capture_output=True)
        return [c for c in listed.stdout.split("\n") if c]

    def object_of(self, unit):
        return f"src/CMakeFiles/upsweep.dir/__/gen/cu/{unit}.cu.o"

    def compile(self, unit, folder):
        """Compiles the unit to folder/unit.o, with `folder` first in the include path."""
        name = self.object_of(unit)
        words = shlex.split(next(c for c in reversed(self.commands(name)) if f"-o {name}" in c))
        if "ccache" in words[0]:
            del words[0]
        for flag in ("-MT", "-MF"):
            at = words.index(flag)
            del words[at:at + 2]
        words.remove("-MD")
        words[words.index("-o") + 1] = str(folder / "unit.o")
        words.insert(next(i for i, w in enumerate(words) if w.startswith("-I")), f"-I{folder}")
        made = subprocess.run(words, cwd=self.build, text=True, capture_output=True)
        if made.returncode:
            sys.exit(made.stderr)

    def needed_by(self, unit):
        """Returns the rungs that a unit calls, transitively."""
        found, todo = [], [unit]
        while todo:
            symbols = subprocess.run(["nm", "-C", "--undefined-only", self.object_of(todo.pop())], cwd=self.build,
                                     text=True, capture_output=True).stdout
            for space, rung in re.findall(r"ladders::(\w+)::kernel_(\w+)_rung", symbols):
                if (other := f"{space}_{rung}") not in found + [unit]:
                    found.append(other)
                    todo.append(other)
        return found

    def link(self, primitive, rung, folder):
        """Builds a command whose only GPU rung is this one, without peers."""
        tables = "".join(
            f"namespace ladders::{other} {{ Rungs rungs(Backend) {{ return {{}}; }} }}\n"
            for other in sorted(p.parent.name for p in (ROOT / "src/ladders").glob("*/ladder.inc")) if other != primitive)
        (folder / "table.cpp").write_text(
            '#include "base/rung.h"\nnamespace upsweep {\n'
            f"namespace ladders::{primitive} {{\nextern const Rung kernel_{rung}_rung;\n"
            f"Rungs rungs(Backend) {{\n  static const Rung* const one[] = {{&kernel_{rung}_rung}};\n  return one;\n}}\n}}\n"
            f"{tables}Rungs cuda_peers() {{ return {{}}; }}\n}}\n")
        words = shlex.split(next(c for c in reversed(self.commands("upsweep_cli")) if "-o bin/upsweep" in c))
        words = words[words.index("&&") + 1:]
        words = words[:words.index("&&")] if "&&" in words else words
        at = words.index("-o")
        words[at + 1] = str(folder / "upsweep")
        objects = [str(folder / "unit.o")] + [self.object_of(u) for u in self.needed_by(f"{primitive}_{rung}")]
        words[at:at] = [f"-I{ROOT}/src", f"-I{ROOT}/include", "-std=c++20", "-s", str(folder / "table.cpp")] + objects
        made = subprocess.run(words, cwd=self.build, text=True, capture_output=True)
        if made.returncode:
            sys.exit(made.stderr)

    def make(self, number, row):
        name, file, function, change, _ = row
        primitive, rung = name.split("/")
        path, folder = ROOT / "src" / file, self.out / f"{number:02}"
        changes = [c for c in mutate_sync.changes_of(path) if (c.function, c.what) == (function, change)]
        if not changes:
            sys.exit(f"{name}, {file}, {function}: {change} is not in the source")
        text = mutate_sync.changed(path.read_text(), changes[0])
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text(text)
        self.compile(f"{primitive}_{rung}", folder)
        self.link(primitive, rung, folder)
        for extra in folder.iterdir():
            if extra.name != "upsweep":
                shutil.rmtree(extra) if extra.is_dir() else extra.unlink()


RUN = r"""#!/usr/bin/env bash
# Prints a table of the changes, with the results of compute-sanitizer's racecheck and of the rung's check. Shared
# libraries of the command may be in lib/.
cd "$(dirname "$0")"
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
one() {
  row=$1 name=$2 arguments=$3 number=$4
  call=(./$number/upsweep check ${name%/*} --rung ${name#*/} --backend cuda $arguments)
  timeout -s KILL 60 "${call[@]}" >$number/check.txt 2>&1; plain=$?
  timeout -s KILL ${LIMIT:-240} compute-sanitizer --tool racecheck --racecheck-report analysis --error-exitcode 99 "${call[@]}" \
    >$number/race.txt 2>&1; raced=$?
  case $plain in 0) says=right ;; 1) says=wrong ;; 137) says="does not end" ;; *) says="not checked" ;; esac
  case $raced in 99) race=$(grep -c 'Race reported' $number/race.txt) race="$race reports" ;; 137) race="not done" ;;
    0 | 1) race=none ;; *) race="not run" ;; esac
  echo "| $row | $race | $says |"
}
export -f one
echo "| rung | file | function | change | emulator | racecheck | the check on the GPU |"
echo "|---|---|---|---|---|---|---|"
while IFS=$'\t' read -r number name arguments row; do printf '%s\0%s\0%s\0%s\0' "$row" "$name" "$arguments" "$number"
done <list.tsv | xargs -0 -n 4 -P ${JOBS:-6} bash -c 'one "$@"' _
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="a build folder with CUDA")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="a new folder")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/synchronisation.md")
    parser.add_argument("--only", default="", help="only the rows that match")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir()
    chosen = list(rows(options.page, options.only))
    builder = Builder(os.path.abspath(options.build), options.out)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda numbered: builder.make(*numbered), enumerate(chosen)))
    with open(options.out / "list.tsv", "w") as listed:
        for number, row in enumerate(chosen):
            listed.write("\t".join([f"{number:02}", row[0], ARGUMENTS.get(row[0], USUAL), " | ".join(row)]) + "\n")
    (options.out / "run.sh").write_text(RUN)
    (options.out / "run.sh").chmod(0o755)
    print(f"{len(chosen)} changes in {options.out}")


if __name__ == "__main__":
    main()
