"""Removes or weakens one synchronisation after the other, and prints which changes the emulator's checks do not notice.

A change is made in a copy of one source file, seen before the original by the include path. Only the rung's own unit is
compiled, linked with the traced emulator's runtime into a library of that one rung, which the upsweep command loads in
place of its own. A change that leaves the unit's object as it was is in code that the rung does not use.
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
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "lib/libupsweep_simt_traced.so"

# What each statement is replaced by. An argument list has at most two levels of parentheses.
ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
REMOVED = re.compile(
    r"\b(?:__syncthreads|__syncwarp|__threadfence|__threadfence_block|cluster_sync|fence_before_bulk_copy|"
    r"wait_for_previous|(?:\w+\.)?mbarrier_wait|mbarrier_arrive|(?:pipeline\.|\w+\.)?wait_step)" + ARGUMENTS + ";")
WEAKENED = [
    (re.compile(r"\btake_ticket\(((?:[^()]|\([^()]*\))*)\)"), r"atomicAdd(\1, 1u)", "without its fences"),
    (re.compile(r"\bload_acquire\(((?:[^()]|\([^()]*\))*)\)"), r"load_relaxed(\1)", "relaxed"),
    (re.compile(r"\bstore_release\("), "store_relaxed(", "relaxed"),
]
ARRIVAL = re.compile(r"\bmbarrier_arrive" + ARGUMENTS + ";")
WAIT = re.compile(r"\b(?:mbarrier_wait|wait_step)\b")
DECLARATION = re.compile(r"__device__|__global__|inline|\basm\b|^\s*//|using ")


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def code_of(line):
    return line.split("//")[0]


def mutations(path):
    """Yields (line number, description, new text of the file)."""
    lines = path.read_text().split("\n")

    def changed(edits):
        return "\n".join(edits.get(i, line) for i, line in enumerate(lines))

    for i, line in enumerate(lines):
        code = code_of(line)
        if DECLARATION.search(code):
            continue
        for found in REMOVED.finditer(code):
            # Evaluated arguments cannot be needed for anything else: they are addresses and numbers.
            new = code[:found.start()] + "{}" + code[found.end():]
            yield i + 1, f"no `{found.group()}`", changed({i: new})
        for pattern, replacement, how in WEAKENED:
            for found in pattern.finditer(code):
                new = code[:found.start()] + found.expand(replacement) + code[found.end():]
                yield i + 1, f"`{found.group()}` {how}", changed({i: new})
        # An arrival as early as its text compiles: directly after the nearest wait before it, on that line.
        if found := ARRIVAL.search(code):
            for j in range(i - 1, max(-1, i - 40), -1):
                earlier = code_of(lines[j])
                if re.match(r"\s*(template|__global__|__device__)", earlier):
                    break
                if WAIT.search(earlier) and earlier.rstrip().endswith(";"):
                    edits = {j: earlier + " " + code.strip(), i: code[:found.start()] + "{}" + code[found.end():]}
                    if re.match(r"\s*(if|else)\b", code):
                        edits[i] = re.sub(r"\S.*", "{}", code, count=1)
                    yield i + 1, f"`{found.group()}` moved up to line {j + 1}", changed(edits)
                    break


class Builder:
    """Compiles and links one rung, as the build folder's commands say."""

    def __init__(self, build):
        self.build = build
        self.commands = run(["ninja", "-C", build, "-t", "commands", LIBRARY]).stdout.split("\n")
        link = shlex.split(next(c for c in reversed(self.commands) if f"-o {LIBRARY}" in c))
        link = link[1:] if link[0] == ":" else link
        link = [a for a in link[1 if link[0] == "&&" else 0:]]
        link = link[:link.index("&&")] if "&&" in link else link
        units = re.compile(r"gen/upsweep_simt_traced/.*\.simt\.cpp\.o$|kernel_rungs\.cpp\.o$")
        self.units = [a for a in link if units.search(a) and "kernel_rungs" not in a]
        self.link = [a for a in link if not units.search(a)]

    def compile(self, unit, folder, output):
        command = next(c for c in self.commands if c.split(" && ")[1:] and f"{unit}.simt.cpp.o.d" in c)
        command = shlex.split(command.split(" && ")[1])
        for flag, count in (("-MD", 1), ("-MF", 2), ("-MT", 2)):
            at = command.index(flag)
            del command[at:at + count]
        command[command.index("-o") + 1] = str(output)
        first_include = next(i for i, a in enumerate(command) if a.startswith("-I"))
        command[first_include:first_include] = [f"-ffile-prefix-map={folder}={ROOT}/src", f"-I{folder}"]
        return run(command, cwd=self.build)

    def library(self, primitive, rungs, objects, output):
        table = output.with_suffix(".cpp")
        declarations = "".join(f"extern const Rung kernel_{r}_rung; " for r in rungs)
        listed = ", ".join(f"&ladders::{primitive}::kernel_{r}_rung" for r in rungs) or "nullptr"
        table.write_text(f'#include "base/rung.h"\nnamespace upsweep {{\nnamespace ladders::{primitive} {{ {declarations} }}\n'
                         f"Rungs kernel_rungs() {{\n  static const Rung* const rungs[] = {{{listed}}};\n"
                         f"  return Rungs(rungs, {len(rungs)});\n}}\n}}\n")
        compiled = table.with_suffix(".o")
        made = run(["c++", "-std=c++20", "-O1", "-fPIC", f"-I{ROOT}/src", f"-I{ROOT}/include", "-c", str(table), "-o",
                    str(compiled)])
        if made.returncode:
            sys.exit(made.stdout)
        link = list(self.link)
        link[link.index("-o") + 1] = str(output)
        at = link.index("-o") + 2
        link[at:at] = [str(o) for o in objects] + [str(compiled)]
        return run(link, cwd=self.build)


class Rung:
    def __init__(self, builder, name, options):
        self.builder, self.options = builder, options
        self.primitive, self.rung = name.split("/")
        self.unit = f"{self.primitive}_{self.rung}"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"mutate_{self.unit}_"))
        # Rungs that this one leaves calls to: all of the primitive's and of those before it, behind its own.
        self.others = [u for u in builder.units if f"/{self.unit}.simt" not in u]

    def sources(self):
        """The rung's file and the headers that it includes, from ladders/ and kernel/."""
        folder = ROOT / "src/ladders" / self.primitive
        todo = [next(p for p in folder.glob("[0-9][0-9]_*.cuh") if re.sub(r"^\d\d_", "", p.stem) == self.rung)]
        found = []
        while todo:
            path = todo.pop(0)
            if path in found or not path.exists():
                continue
            found.append(path)
            for include in re.findall(r'#include "((?:ladders|kernel)/[^"]+)"', path.read_text()):
                todo.append(ROOT / "src" / include)
        return found

    def check(self, folder):
        """Returns the first failure, or an empty text: in the usual schedule, then in arbitrary ones."""
        for seed in range(self.options.schedules + 1):
            if failure := self.check_once(folder, ["--schedule", str(seed)] if seed else []):
                return failure
        return ""

    def check_once(self, folder, schedule):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(folder))
        command = [f"{self.builder.build}/bin/upsweep", "check", self.primitive, "--rung", self.rung, "--backend",
                   "simt", "-n", self.options.sizes, "--type", self.options.type]
        command += schedule
        try:
            result = run(command, env=environment, timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            return "does not end"
        if result.returncode == 0:
            return ""
        lines = [line for line in result.stdout.split("\n") if f"{self.primitive}/{self.rung} simt traced" in line]
        return lines[-1] if lines else f"exit status {result.returncode}: {result.stdout[-200:]}"

    def build(self, folder):
        """Compiles with `folder` first in the include path; returns the object, or None."""
        output = folder / "unit.o"
        made = self.builder.compile(self.unit, folder, output)
        return output if made.returncode == 0 else None

    def link(self, folder, unit):
        library = folder / "libupsweep_simt_traced.so"
        made = self.builder.library(self.primitive, [self.rung], [unit], library)
        if made.returncode:
            made = self.builder.library(self.primitive, [self.rung], [unit] + self.others, library)
        if made.returncode:
            sys.exit(made.stdout)

    def same_code(self, a, b):
        """True if two objects differ in debugging information at most."""
        texts = []
        for o in (a, b):
            copy = o.with_suffix(".stripped.o")
            run(["objcopy", "-g", "--remove-section=.comment", str(o), str(copy)])
            texts.append(copy.read_bytes())
        return texts[0] == texts[1]

    def verdict(self, number, path, text):
        folder = self.work / str(number)
        target = folder / path.relative_to(ROOT / "src")
        target.parent.mkdir(parents=True)
        target.write_text(text)
        try:
            unit = self.build(folder)
            if not unit:
                return "does not compile"
            if self.same_code(unit, self.original):
                return "not used"
            self.link(folder, unit)
            shutil.copy(self.work / "original" / "libupsweep_simt_plain.so", folder)
            return self.check(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self):
        original = self.work / "original"
        original.mkdir()
        self.original = self.build(original)
        if not self.original:
            sys.exit(f"{self.unit} does not compile as it is")
        self.link(original, self.original)
        # The plain emulator knows no races: a library without rungs takes its place.
        shutil.copy(self.options.no_rungs, original / "libupsweep_simt_plain.so")
        if failure := self.check(original):
            sys.exit(f"{self.primitive}/{self.rung} fails as it is: {failure}")
        changes = [(path, *m) for path in self.sources() for m in mutations(path)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            verdicts = pool.map(lambda c: self.verdict(c[0], c[1][0], c[1][3]), enumerate(changes))
            survivors = self.print(changes, verdicts)
        shutil.rmtree(self.work, ignore_errors=True)
        return survivors

    def print(self, changes, verdicts):
        survivors = 0
        for (path, line, what, _), verdict in zip(changes, verdicts):
            if verdict in ("not used", "does not compile"):
                continue
            survivors += verdict == ""
            seen = kind_of(verdict) if verdict else "**survives**"
            print(f"| {self.primitive}/{self.rung} | {path.relative_to(ROOT / 'src')}:{line} | {what} | {seen} |",
                  flush=True)
        return survivors


def kind_of(failure):
    if failure == "does not end":
        return failure
    kinds = ("shared race", "global race", "overlap race", "uninitialised shared read", "deadlock", "livelock",
             "barrier divergence", "trap")
    for kind in kinds:
        if f": {kind}: " in failure or f" {kind}" in failure:
            return kind
    return "wrong result" if "simt traced" in failure else failure.replace("\n", " ")


def no_rungs(builder, folder):
    """A plain emulator without rungs."""
    output = folder / "libupsweep_simt_plain.so"
    commands = run(["ninja", "-C", builder.build, "-t", "commands", "lib/libupsweep_simt_plain.so"]).stdout.split("\n")
    link = next(c for c in reversed(commands) if "-o lib/libupsweep_simt_plain.so" in c)
    link = shlex.split(link)
    link = [a for a in link if a not in (":", "&&")]
    link = [a for a in link if not (a.endswith(".simt.cpp.o") or "kernel_rungs" in a)]
    plain = Builder.__new__(Builder)
    plain.build, plain.link = builder.build, [a if a != "lib/libupsweep_simt_plain.so" else str(output) for a in link]
    made = plain.library("reduce", [], [], output)
    if made.returncode:
        sys.exit(made.stdout)
    return output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rungs", nargs="+", help="primitive/rung")
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="a configured and built folder")
    parser.add_argument("-n", "--sizes", default="1000,150001",
                        help="elements of the checks: enough for every ring to wrap around")
    parser.add_argument("--type", default="i32", help="element types of the checks")
    parser.add_argument("--schedules", type=int, default=1, help="checks in arbitrary schedules, after the usual one")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one check")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    builder = Builder(options.build)
    with tempfile.TemporaryDirectory(prefix="mutate_plain_") as folder:
        options.no_rungs = no_rungs(builder, pathlib.Path(folder))
        print("| rung | line | change | noticed by |\n|---|---|---|---|")
        survivors = sum(Rung(builder, name, options).run() for name in options.rungs)
    print(f"\n{survivors} survivors", file=sys.stderr)


main()
