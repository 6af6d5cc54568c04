"""Removes, weakens or swaps one synchronisation at a time, and prints the changes that the emulator's checks miss.

All changes of a rung are compiled together. Copies of the rung's sources precede the originals in the include path;
each change in them is guarded by a condition, and an environment variable chooses one change when the library is
loaded. Only the rung's unit is recompiled. It is linked with the traced emulator's runtime into a library of this one
rung, which the upsweep command loads instead of the usual library. A condition that is missing in the object belongs to
code that the rung does not use. A check that does not evaluate the condition of a change cannot notice the change, so
it is skipped. Checks run cheapest first, and stop at the first failure.
"""
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "lib/libupsweep_simt_traced.so"

# Patterns of the statements to change. Arguments may contain parentheses up to two levels deep.
ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
REMOVED = re.compile(
    r"(?<!::)\b(?:__syncthreads|__syncwarp|__threadfence|__threadfence_block|cluster_sync|fence_before_bulk_copy|"
    r"wait_for_previous|(?:\w+\.)?mbarrier_wait|mbarrier_arrive|(?:pipeline\.|\w+\.)?wait_step|"
    r"(?:\w+\.)?copies\.wait<[^<>]*>)" + ARGUMENTS + ";")
WEAKENED = [  # pattern, function, function called instead, description
    (re.compile(r"\btake_ticket\(((?:[^()]|\([^()]*\))*)\)"), "take_ticket", "upsweep_add_one", "without its fences"),
    (re.compile(r"\bload_acquire\(((?:[^()]|\([^()]*\))*)\)"), "load_acquire", "load_relaxed", "relaxed"),
    (re.compile(r"\bstore_release\("), "store_release", "store_relaxed", "relaxed"),
]
# The text of conditions.h, which is included before everything else.
CONDITIONS = """#define UPSWEEP_EITHER(chosen, one, other, ...) ((chosen) ? one(__VA_ARGS__) : other(__VA_ARGS__))
#define upsweep_add_one(counter) atomicAdd(counter, 1u)
"""
# The chosen change is read once. One byte per change records whether its condition was evaluated. The bytes are shared
# through a mapped file, if one is named, because checks run in child processes.
CHOSEN = """#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
namespace {
const int chosen = std::getenv("UPSWEEP_CHANGE") ? std::atoi(std::getenv("UPSWEEP_CHANGE")) : -1;
char* map_reached() {
  const char* path = std::getenv("UPSWEEP_CHANGES_REACHED");
  const int file = path ? open(path, O_RDWR) : -1;
  void* bytes = file < 0 ? MAP_FAILED : mmap(nullptr, COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  static char nowhere[COUNT];
  return bytes == MAP_FAILED ? nowhere : static_cast<char*>(bytes);
}
char* const reached = map_reached();
bool is_chosen(int change) {
  reached[change] = 1;
  return change == chosen;
}
}
"""
ARRIVAL = re.compile(r"\bmbarrier_arrive" + ARGUMENTS + ";")
WAIT = re.compile(r"\b(?:mbarrier_wait|wait_step)\b")
# Neighbours to swap with: one-line statements that may access memory which other threads access too. Casts, products,
# bit counts, captures and array declarations access none.
NO_NEIGHBOUR = (r"(?:if|else|for|while|do|return|break|continue|template|using|static_assert|constexpr|__shared__|"
                r"allow_next_launch)\b")
UNTOUCHING = re.compile(r"\b(?:static_cast|reinterpret_cast)<[^()]*>(?=\()|\b(?:unsigned|std::size_t|__popc)(?=\()|"
                        r" \* |\[&\]|^[\w:]+ \w+\[[^\]]*\];")
TOUCHES = re.compile(rf"^(?!{NO_NEIGHBOUR}|.*& \w+ = )"  # binding a reference reads nothing
                     r".*(?:\[|->|\*\w|\w\().*;$")
# The order of these two does not matter: every thread waits for the same launch.
BARRIER, WAIT_FOR_PREVIOUS = re.compile(r"__syncthreads|cluster_sync"), re.compile(r"wait_for_previous")
DECLARATION = re.compile(r"__device__|__global__|inline|\basm\b|^\s*//|using ")


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def limited(command, environment, limit):
    """Runs a command for at most `limit` CPU seconds per process. Returns its exit status and output."""
    # The upsweep command checks in child processes; at the limit, all of them must be killed.
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1,) * 2))
    try:
        output, _ = process.communicate(timeout=10 * limit)  # other programs may compete for the CPU
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return -signal.SIGKILL, ""
    return process.returncode, output


def code_of(line):
    return line.split("//")[0]


def function_of(lines, i):
    """Returns the name of the device function or kernel that contains a line."""
    while i > 0 and not re.search(r"__device__|__global__", code_of(lines[i])):
        i -= 1
    head = re.sub(r"__launch_bounds__\s*" + ARGUMENTS, "", " ".join(code_of(line) for line in lines[i:i + 4]))
    name = re.search(r"__(?:device|global)__.*?(\w+)\s*\(", head)
    return name.group(1) if name else ""


class Change:
    """One change of a file. Each of its edits lies within one line and takes effect only if the change is chosen."""

    def __init__(self, line, what):
        self.line, self.what = line, what  # lines are counted from 1
        self.function = ""
        self.without = None                # (line index, start, end) of the statement that is left out
        self.inserted = None               # (line index, whether at the line's end, statement), executed instead
        self.either = None                 # (line index, start, end, function called instead, function called)


def changes_of(path):
    """Returns a file's changes. A change is identified by its function and description."""
    lines = path.read_text().split("\n")
    found = [change for i in range(len(lines)) for change in changes_at(lines, i)]
    for change in found:
        change.function = function_of(lines, change.line - 1)
    names = [(change.function, change.what) for change in found]
    for i, change in enumerate(found):
        alike = names.count(names[i])
        change.what += f" ({names[:i].count(names[i]) + 1} of {alike})" if alike > 1 else ""
    return found


def changes_at(lines, i):
    """Yields the changes of line i."""
    code = code_of(lines[i])
    if DECLARATION.search(code):
        return
    # Swaps a wait, an arrival or a fence with the next or the previous statement.
    if i + 1 < len(lines):
        pair = code.strip(), code_of(lines[i + 1]).strip()
        indent = [len(text) - len(text.lstrip()) for text in lines[i:i + 2]]
        alone = [bool(REMOVED.fullmatch(text)) for text in pair]
        together = any(BARRIER.match(a) and WAIT_FOR_PREVIOUS.match(b) for a, b in (pair, pair[::-1]))
        touching = all(a or TOUCHES.match(UNTOUCHING.sub(" ", t)) for a, t in zip(alone, pair))
        if indent[0] == indent[1] and any(alone) and touching and not together:
            change = Change(i + 1, f"`{pair[0]}` after `{pair[1]}`")
            moved = 0 if alone[0] else 1  # the statement that moves past the other one
            change.without = i + moved, indent[0], indent[0] + len(pair[moved])
            change.inserted = i + 1 - moved, moved == 0, pair[moved]
            yield change
    for found in REMOVED.finditer(code):
        change = Change(i + 1, f"no `{found.group()}`")
        change.without = i, *found.span()
        yield change
    for pattern, name, instead, how in WEAKENED:
        for found in pattern.finditer(code):
            change = Change(i + 1, f"`{found.group()}` {how}")
            change.either = i, found.start(), found.start() + len(name) + 1, instead, name
            yield change
    # Moves an arrival up to the nearest preceding wait, on whose line it then follows.
    if found := ARRIVAL.search(code):
        for j in range(i - 1, max(-1, i - 40), -1):
            earlier = code_of(lines[j])
            if re.match(r"\s*(template|__global__|__device__)", earlier):
                break
            if WAIT.search(earlier) and earlier.rstrip().endswith(";"):
                change = Change(i + 1, f"`{found.group()}` moved up to `{earlier.strip()}`")
                change.without = i, *found.span()
                change.inserted = j, True, code.strip()
                yield change
                break


def guarded(text, changes):
    """Returns the text of a file with all changes in it, each under its own condition, and the positions of their code.

    `changes` are pairs (number, change). The condition of change k is a call of upsweep_change_k(). A position is a
    tuple (line counting from 1, first column, end column, number of the change).
    """
    lines, spans = text.split("\n"), []
    for i, line in enumerate(lines):
        here = [(k, c) for k, c in changes if i in (e[0] for e in (c.without, c.inserted, c.either) if e)]
        if not here:
            continue
        code = code_of(line)
        pieces = []  # (start, end, replacement, numbers)
        left_out = {}
        for k, change in here:
            if change.without and change.without[0] == i:
                left_out.setdefault(change.without[1:], []).append(k)
            if change.inserted and change.inserted[0] == i:
                at = len(code) if change.inserted[1] else len(code) - len(code.lstrip())
                pieces.append((at, at, f" if (upsweep_change_{k}()) {{ {change.inserted[2]} }} ", [k]))
            if change.either and change.either[0] == i:
                _, start, end, instead, name = change.either
                pieces.append((start, end, f"UPSWEEP_EITHER(upsweep_change_{k}(), {instead}, {name}, ", [k]))
        for (start, end), numbers in left_out.items():
            condition = " || ".join(f"upsweep_change_{k}()" for k in numbers)
            pieces.append((start, end, f"{{ if (!({condition})) {code[start:end]} }}", numbers))
        new, done = "", 0
        for start, end, replacement, numbers in sorted(pieces):
            new += code[done:start]
            spans += [(i + 1, len(new) + 1, len(new) + len(replacement) + 1, k) for k in numbers]
            new, done = new + replacement, end
        lines[i] = new + code[done:]
    return "\n".join(lines), spans


def changed(text, change):
    """Returns the text of a file with one change made."""
    return CONDITIONS + "#define upsweep_change_0() true\n" + guarded(text, [(0, change)])[0]


class Builder:
    """Compiles and links one rung with the build folder's commands."""

    def __init__(self, build, only_type):
        self.build = build
        self.only_type = only_type  # the only type compiled, of those that the emulator has; or empty
        self.commands = run(["ninja", "-C", build, "-t", "commands", LIBRARY]).stdout.split("\n")
        links = [c for c in self.commands if f"-o {LIBRARY}" in c]
        if not links:
            sys.exit(f"{build} is not a build with the emulators: see --build, and scripts/test.sh, which makes one")
        link = shlex.split(links[-1])
        link = link[1:] if link[0] == ":" else link
        link = [a for a in link[1 if link[0] == "&&" else 0:]]
        link = link[:link.index("&&")] if "&&" in link else link
        units = re.compile(r"gen/upsweep_simt_traced/.*\.simt\.cpp\.o$|kernel_rungs\.cpp\.o$")
        self.units = [a for a in link if units.search(a) and "kernel_rungs" not in a]
        self.tables = [a for a in link if units.search(a) and "kernel_rungs" in a]
        self.link = [a for a in link if not units.search(a)]
        self.definitions = {}
        # Code shared by units is compiled into the rung's own unit, so that a change to it takes effect.
        self.shared = [f for f in (ROOT / "src").rglob("*.cuh") if "extern template" in f.read_text()]

    def compile(self, unit, folder, output):
        """Compiles a unit with `folder` first in the include path."""
        command = next(c for c in self.commands if c.split(" && ")[1:] and f"{unit}.simt.cpp.o.d" in c)
        command = shlex.split(command.split(" && ")[1])
        for flag, count in (("-MD", 1), ("-MF", 2), ("-MT", 2)):
            at = command.index(flag)
            del command[at:at + count]
        command[command.index("-o") + 1] = str(output)
        if self.only_type:
            text = (ROOT / "src/base/coverage.h").read_text()
            declared = "constexpr Type type = type_of<T>();"
            if declared not in text:
                sys.exit("src/base/coverage.h has changed: omit --type")
            (folder / "base").mkdir(parents=True, exist_ok=True)
            (folder / "base/coverage.h").write_text(
                text.replace(declared, f"{declared}\n  if (type != Type::{self.only_type}) return false;"))
            precompiled = command.index("-include-pch")  # contains the whole header
            del command[precompiled:precompiled + 2]
        for original in self.shared:
            copy = folder / original.relative_to(ROOT / "src")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = (copy if copy.exists() else original).read_text()
            copy.write_text(re.sub(r"^extern template [^;]*;", "", text, flags=re.M))
        first_include = next(i for i, a in enumerate(command) if a.startswith("-I"))
        command[first_include:first_include] = [f"-I{folder}", "-include", str(folder / "conditions.h"),
                                                "-fno-caret-diagnostics", "-ferror-limit=0"]
        return run(command, cwd=self.build)

    def table(self, primitive, rungs, folder):
        """Compiles a table of these rungs. Returns the object."""
        text = folder / "table.cpp"
        folder.mkdir(parents=True, exist_ok=True)
        declarations = "".join(f"extern const Rung kernel_{r}_rung; " for r in rungs)
        listed = ", ".join(f"&ladders::{primitive}::kernel_{r}_rung" for r in rungs) or "nullptr"
        text.write_text(f'#include "base/rung.h"\nnamespace upsweep {{\nnamespace ladders::{primitive} {{ {declarations} }}\n'
                        f"Rungs kernel_rungs() {{\n  static const Rung* const rungs[] = {{{listed}}};\n"
                        f"  return Rungs(rungs, {len(rungs)});\n}}\n}}\n")
        return self.compile_plain(text)

    def compile_plain(self, text):
        """Compiles a file without instrumentation. Returns the object."""
        output = text.with_suffix(".o")
        made = run(["c++", "-std=c++20", "-O1", "-fPIC", f"-I{ROOT}/src", f"-I{ROOT}/include", "-c", str(text), "-o",
                    str(output)])
        if made.returncode:
            sys.exit(made.stdout)
        return output

    def library(self, objects, output):
        """Links objects with the traced emulator's runtime."""
        link = list(self.link)
        link[link.index("-o") + 1] = str(output)
        at = link.index("-o") + 2
        link[at:at] = [str(o) for o in objects]
        made = run(link, cwd=self.build)
        if made.returncode:
            sys.exit(made.stdout)

    def symbols(self, which, objects):
        """Returns the mangled names of the objects' global symbols: [(object, name)]."""
        lines = run(["nm", "-A", "-g", which, *map(str, objects)], cwd=self.build).stdout.splitlines()
        return [(line.split(":")[0], line.split()[-1]) for line in lines]

    def needed_by(self, unit, own):
        """Returns the objects of units that a unit calls, transitively, except the unit named `own`."""
        if not self.definitions:
            self.definitions = {name: where for where, name in self.symbols("--defined-only", self.units)}
        found, todo = [], [unit]
        while todo:
            for _, name in self.symbols("--undefined-only", [todo.pop()]):
                other = self.definitions.get(name)
                if other and other not in found and not other.endswith(f"/{own}.simt.cpp.o"):
                    found.append(other)
                    todo.append(other)
        return found


class Rung:
    def __init__(self, builder, name, options):
        self.builder, self.options = builder, options
        self.primitive, _, self.rung = name.partition("/")
        self.unit = f"{self.primitive}_{self.rung}"
        if not any(unit.endswith(f"/{self.unit}.simt.cpp.o") for unit in builder.units):
            sys.exit(f"{name} is not a rung: PRIMITIVE/RUNG, as in scan/pipeline; `upsweep list` has them all")
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"mutate_{self.unit}_"))
        self.shown = re.compile(f"{self.primitive}/{self.rung}(: | simt traced)")  # matches lines about a failure
        self.limits = {}    # CPU seconds, by the sizes or the test program of the check
        self.reached = {}   # one byte per change, by the same key
        self.verdicts = {}  # those known without a check, by the number of the change
        # Cheapest first: the given sizes, then everything that `upsweep check` runs by default.
        seeds = range(1, options.schedules + 1)
        self.checks = [(size, seed) for seed in (0, *seeds) for size in options.sizes]
        self.checks += [("", seed) for seed in (0, *seeds)] if not options.given_sizes_only else []
        if options.tests:
            self.checks = ["test_lab_ladders", f"test_simt_{self.primitive}", "test_simt_paths"]
            self.checks = [(test, 0) for test in self.checks if (pathlib.Path(builder.build) / "bin" / test).exists()]

    def sources(self):
        """Returns the rung's file and the headers of ladders/ and kernel/ that it includes."""
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

    def check(self, change):
        """Returns the first failure of a change, or an empty string."""
        for what, seed in self.checks:
            if not self.reached[what][change]:
                continue
            if failure := self.run_check(what, seed, self.limits[what], {"UPSWEEP_CHANGE": str(change)}):
                return failure
        return ""

    def run_check(self, what, seed, limit, environment):
        """Returns the failure of one check, with given sizes or by a test program, or an empty string."""
        if self.options.tests:
            return self.test(what, limit, environment)
        return self.check_once(what, seed, limit, environment)

    def measure(self):
        """Runs every check on the unchanged rung: sets its time limit, finds which changes it reaches, and drops it if
        it takes too long."""
        for what in dict.fromkeys(what for what, _ in self.checks):
            file = self.work / "reached"
            file.write_bytes(bytes(max(1, len(self.changes))))
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            limit = 1000 if self.options.tests else self.options.timeout
            failure = self.run_check(what, 0, limit, {"UPSWEEP_CHANGES_REACHED": str(file)})
            if failure == "does not end":
                print(f"{self.primitive}/{self.rung}: not checked with {what or 'all sizes'}: takes too long",
                      file=sys.stderr)
                self.checks = [check for check in self.checks if check[0] != what]
            elif failure:
                sys.exit(f"{self.primitive}/{self.rung} fails without a change: {failure}")
            # Arbitrary schedules take longer, and detecting a livelock takes ten seconds.
            self.limits[what] = 20 + 10 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)
            self.reached[what] = file.read_bytes()

    def check_once(self, sizes, seed, limit, environment):
        """Returns the failure of one check, or an empty string. `limit` is in CPU seconds per process."""
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.work / "alone"), **environment)
        command = [f"{self.builder.build}/bin/upsweep", "check", self.primitive, "--rung", self.rung, "--backend", "simt",
                   "--failures", "1"]
        command += ["--param", self.options.param] if self.options.param else []
        command += ["-n", sizes] if sizes else []
        command += ["--type", self.options.type] if self.options.type else []
        command += ["--input", self.options.input] if self.options.input else []
        command += ["--schedule", str(seed)] if seed else []
        status, output = limited(command, environment, limit)
        if status == 0:
            return ""
        if f"killed by signal {int(signal.SIGKILL)}" in output or status == -signal.SIGKILL:
            return "does not end"
        lines = [line for line in output.split("\n") if self.shown.search(line)]
        return lines[-1] if lines else f"exit status {status}: {output[-200:]}"

    def test(self, test, limit, environment):
        """Returns the failure of one test program, or an empty string."""
        command = [f"{self.builder.build}/bin/{test}"]
        alone = test == "test_lab_ladders"  # checks the rungs that it finds, and reports missing mutants
        command += ["--gtest_filter=Ladders.TracedAndMutants"] if alone else ["--gtest_fail_fast"]
        folder = self.work / ("alone" if alone else "all")
        status, output = limited(command, dict(os.environ, LD_LIBRARY_PATH=str(folder), **environment), limit)
        if status == -signal.SIGKILL:
            return "does not end"
        if status < 0:
            return f"killed by signal {-status}"
        if alone:
            return next((line for line in output.split("\n") if self.shown.search(line)), "")
        failed = re.search(r"^\[  FAILED  \] (\S+)", output, flags=re.M)
        return f"{failed[1]}: {output[:failed.start()][-1000:]}" if status else ""

    def build(self):
        """Compiles the rung with all changes that compile; the others get a verdict. Returns the object."""
        (self.work / "conditions.h").write_text(CONDITIONS + "".join(
            f'extern "C" bool upsweep_change_{k}();\n' for k in range(len(self.changes))))
        output = self.work / "unit.o"
        while True:
            places = {}
            for path, changes in itertools.groupby(enumerate(self.changes), lambda numbered: numbered[1][0]):
                kept = [(k, change) for k, (_, change) in changes if k not in self.verdicts]
                copy = self.work / path.relative_to(ROOT / "src")
                copy.parent.mkdir(parents=True, exist_ok=True)
                text, places[str(copy)] = guarded(path.read_text(), kept)
                copy.write_text(text)
            made = self.builder.compile(self.unit, self.work, output)
            if made.returncode == 0:
                return output
            wrong = {k for file, line, column in re.findall(r"^(\S+?):(\d+):(\d+): error: ", made.stdout, flags=re.M)
                     for at, start, end, k in places.get(file, []) if at == int(line) and start <= int(column) < end}
            if not wrong:
                sys.exit(f"{self.unit} does not compile:\n{made.stdout[-4000:]}")
            self.verdicts.update(dict.fromkeys(wrong, "does not compile"))

    def link(self, unit):
        """Links a library of this rung alone, and for the test programs another one of all rungs."""
        used = {int(name[len("upsweep_change_"):]) for _, name in self.builder.symbols("--undefined-only", [unit])
                if name.startswith("upsweep_change_")}
        for k in range(len(self.changes)):
            if k not in used:
                self.verdicts.setdefault(k, "not used")
        chosen = self.work / "chosen.cpp"
        chosen.write_text(CHOSEN.replace("COUNT", str(max(1, len(self.changes)))) + "".join(
            f'extern "C" bool upsweep_change_{k}() {{ return is_chosen({k}); }}\n' for k in sorted(used)))
        objects = [unit, self.builder.compile_plain(chosen)]
        alone = self.work / "alone"
        self.builder.library(objects + [self.builder.table(self.primitive, [self.rung], alone)]
                             + self.builder.needed_by(unit, self.unit), alone / "libupsweep_simt_traced.so")
        # The plain emulator detects no races, so a library without rungs replaces it.
        shutil.copy(self.options.no_rungs, alone / "libupsweep_simt_plain.so")
        if self.options.tests:
            others = [u for u in self.builder.units if not u.endswith(f"/{self.unit}.simt.cpp.o")]
            (self.work / "all").mkdir()
            self.builder.library(objects + others + self.builder.tables, self.work / "all/libupsweep_simt_traced.so")

    def chosen(self, path, change):
        return re.search(self.options.only, f"{path.name}:{change.line} {change.function}: {change.what}")

    def run(self):
        self.changes = [(path, change) for path in self.sources() for change in changes_of(path)
                        if self.chosen(path, change)]
        self.link(self.build())
        self.measure()
        rows, survivors = 0, 0
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for row in filter(None, pool.map(self.row, range(len(self.changes)))):
                rows += 1
                survivors += "**" in row
                print(row, flush=True)
        if survivors == rows > 2:
            print(f"{self.primitive}/{self.rung}: nothing was noticed; do --type and -n reach its kernels? See "
                  f"`upsweep explain {self.primitive} --rung {self.rung} --lines`", file=sys.stderr)
        shutil.rmtree(self.work, ignore_errors=True)
        return survivors

    def row(self, number):
        """Returns a row of the table; empty if the rung does not use the changed code."""
        path, change = self.changes[number]
        if self.verdicts.get(number) == "not used":
            return ""
        file = path.relative_to(ROOT / "src")
        known = hashlib.sha256(f"{path.read_text()}{change.function}{change.what}".encode()).hexdigest()[:16]
        key = f"{self.primitive}/{self.rung} | {file} | {known}"
        verdict = self.verdicts.get(number, self.options.log.find(key))
        if verdict is None:
            verdict = self.check(number)
            self.options.log.add(key, verdict)
        noticed = kind_of(verdict) if verdict else "**survives**"
        if not verdict and not any(reached[number] for reached in self.reached.values()):
            noticed = "**not reached**"
        return f"| {self.primitive}/{self.rung} | {file} | {change.function} | {change.what} | {noticed} |"


class Log:
    """Verdicts of earlier runs, by change."""

    def __init__(self, path):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        if path and os.path.exists(path):
            with open(path) as lines:
                self.known = dict(json.loads(line) for line in lines)

    def find(self, key):
        return self.known.get(key)

    def add(self, key, verdict):
        if self.path:
            with self.lock, open(self.path, "a") as lines:
                lines.write(json.dumps([key, verdict]) + "\n")


def kind_of(failure):
    if failure in ("does not end", "does not compile"):
        return failure
    kinds = ("shared race", "global race", "overlap race", "missing proxy fence", "uninitialised shared read",
             "peer not running", "deadlock", "livelock", "barrier divergence", "trap")
    for kind in kinds:
        if re.search(rf"\s{kind}", failure):
            return kind
    return "wrong result" if re.match(r"\w+/\w+(: | simt traced)", failure) else failure.replace("\n", " ")


def no_rungs(builder, folder):
    """Links a plain emulator without rungs."""
    output = folder / "libupsweep_simt_plain.so"
    commands = run(["ninja", "-C", builder.build, "-t", "commands", "lib/libupsweep_simt_plain.so"]).stdout.split("\n")
    link = next(c for c in reversed(commands) if "-o lib/libupsweep_simt_plain.so" in c)
    link = shlex.split(link)
    link = [a for a in link if a not in (":", "&&")]
    link = [a for a in link if not (a.endswith(".simt.cpp.o") or "kernel_rungs" in a)]
    plain = Builder.__new__(Builder)
    plain.build, plain.link = builder.build, [a if a != "lib/libupsweep_simt_plain.so" else str(output) for a in link]
    plain.library([plain.table("reduce", [], folder)], output)
    return output


def verify(page):
    """Returns the rows of a page's table whose statements are no longer in the source."""
    rows = [line for line in page.read_text().split("\n") if re.match(r"\| \w+/\w+ \| .*\.(cuh|h) \|", line)]
    known, stale = {}, []
    for row in rows:
        _, file, function, change, *_ = row.strip("| ").split(" | ")
        path = ROOT / "src" / file
        if path not in known:
            known[path] = {(c.function, c.what) for c in changes_of(path)} if path.exists() else set()
        if (function, change) not in known[path] and not change.endswith("by hand"):
            stale.append(row)
    if not rows:
        sys.exit(f"{page} has no table")
    return stale


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rungs", nargs="*", help="primitive/rung")
    parser.add_argument("--verify", type=pathlib.Path, metavar="PAGE",
                        help="only print the rows of this page whose statements are no longer in the source")
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="the build folder")
    parser.add_argument("-n", "--sizes", nargs="+", default=["1000", "1000,150001"],
                        help="elements of the first checks: enough for every ring to wrap around")
    parser.add_argument("--given-sizes-only", action="store_true", help="skip the checks of all sizes")
    parser.add_argument("--tests", action="store_true", help="run the test programs instead of `upsweep check`")
    parser.add_argument("--type", default="", help="element types of the checks (default: all); a single one compiles faster")
    parser.add_argument("--schedules", type=int, default=3, help="arbitrary schedules, after the usual one")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one check of the unchanged rung")
    parser.add_argument("--param", default="", help="parameters of the checks: bins=70000,grid=3")
    parser.add_argument("--input", default="", help="named inputs of the checks: hypnosis,huge (default: all)")
    parser.add_argument("--only", default="", help="only the changes that match: FILE:LINE FUNCTION: no `...`")
    parser.add_argument("--log", help="a file that keeps verdicts, so that a run can resume an earlier one")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.verify:
        stale = verify(options.verify)
        print("\n".join(stale))
        sys.exit(f"{len(stale)} rows must be run again" if stale else 0)
    if not options.rungs:
        parser.error("no rungs")
    options.log = Log(options.log)
    builder = Builder(options.build, options.type if re.fullmatch(r"\w+", options.type) else "")
    with tempfile.TemporaryDirectory(prefix="mutate_plain_") as folder:
        options.no_rungs = no_rungs(builder, pathlib.Path(folder))
        print("| rung | file | function | change | noticed by |\n|---|---|---|---|---|")
        survivors = sum(Rung(builder, name, options).run() for name in options.rungs)
    print(f"\n{survivors} survivors", file=sys.stderr)


if __name__ == "__main__":
    main()
