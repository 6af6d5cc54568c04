"""Removes, weakens or swaps one synchronisation at a time, and prints the changes that the emulator's checks miss.

A change is made in a copy of one source file, which precedes the original in the include path. Only the rung's unit is
recompiled and linked with the traced emulator's runtime into a library of that one rung, which the upsweep command
loads instead of the usual one. If the unit's object is unchanged, the rung does not use the changed code; for a header,
all of its changes are first tried together. Checks run cheapest first, and stop at the first failure.
"""
import argparse
import concurrent.futures
import hashlib
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

# The statements and their replacements. An argument list has at most two nested levels of parentheses.
ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
REMOVED = re.compile(
    r"(?<!::)\b(?:__syncthreads|__syncwarp|__threadfence|__threadfence_block|cluster_sync|fence_before_bulk_copy|"
    r"wait_for_previous|(?:\w+\.)?mbarrier_wait|mbarrier_arrive|(?:pipeline\.|\w+\.)?wait_step|"
    r"(?:\w+\.)?copies\.wait<[^<>]*>)" + ARGUMENTS + ";")
WEAKENED = [
    (re.compile(r"\btake_ticket\(((?:[^()]|\([^()]*\))*)\)"), r"atomicAdd(\1, 1u)", "without its fences"),
    (re.compile(r"\bload_acquire\(((?:[^()]|\([^()]*\))*)\)"), r"load_relaxed(\1)", "relaxed"),
    (re.compile(r"\bstore_release\("), "store_relaxed(", "relaxed"),
]
ARRIVAL = re.compile(r"\bmbarrier_arrive" + ARGUMENTS + ";")
WAIT = re.compile(r"\b(?:mbarrier_wait|wait_step)\b")
# Statements of one line that may touch memory which other threads touch too, as neighbours to swap with.
NO_NEIGHBOUR = (r"(?:if|else|for|while|do|return|break|continue|template|using|static_assert|constexpr|__shared__|"
                r"allow_next_launch)\b")
TOUCHES = re.compile(rf"^(?!{NO_NEIGHBOUR}|.*& \w+ = )"  # a reference reads nothing
                     r".*(?:\[|->|\*|\w\().*;$")
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


def mutations(path):
    """Yields (line number, function, description, new text of the file). The middle two identify a change."""
    found = [(line, function_of(path.read_text().split("\n"), line - 1), *rest) for line, *rest in changes_of(path)]
    names = [change[1:3] for change in found]
    for i, (line, function, what, text) in enumerate(found):
        alike = names.count(names[i])
        which = f" ({names[:i].count(names[i]) + 1} of {alike})" if alike > 1 else ""
        yield line, function, what + which, text


def changes_of(path):
    """Yields (line number, description, new text of the file)."""
    lines = path.read_text().split("\n")

    def changed(edits):
        return "\n".join(edits.get(i, line) for i, line in enumerate(lines))

    for i, line in enumerate(lines):
        code = code_of(line)
        if DECLARATION.search(code):
            continue
        # Swaps a waiting, arriving or fencing statement with the next one, and the previous one with it.
        if i + 1 < len(lines):
            pair = code.strip(), code_of(lines[i + 1]).strip()
            indent = [len(text) - len(text.lstrip()) for text in lines[i:i + 2]]
            alone = [bool(REMOVED.fullmatch(text)) for text in pair]
            if indent[0] == indent[1] and any(alone) and all(a or TOUCHES.match(t) for a, t in zip(alone, pair)):
                yield i + 1, f"`{pair[0]}` after `{pair[1]}`", changed({i: lines[i + 1], i + 1: line})
        for found in REMOVED.finditer(code):
            # Evaluated arguments are addresses and numbers, with no side effects that the kernel needs.
            new = code[:found.start()] + "{}" + code[found.end():]
            yield i + 1, f"no `{found.group()}`", changed({i: new})
        for pattern, replacement, how in WEAKENED:
            for found in pattern.finditer(code):
                new = code[:found.start()] + found.expand(replacement) + code[found.end():]
                yield i + 1, f"`{found.group()}` {how}", changed({i: new})
        # Moves an arrival as early as its text compiles: directly after the nearest preceding wait, on that line.
        if found := ARRIVAL.search(code):
            for j in range(i - 1, max(-1, i - 40), -1):
                earlier = code_of(lines[j])
                if re.match(r"\s*(template|__global__|__device__)", earlier):
                    break
                if WAIT.search(earlier) and earlier.rstrip().endswith(";"):
                    edits = {j: earlier + " " + code.strip(), i: code[:found.start()] + "{}" + code[found.end():]}
                    if re.match(r"\s*(if|else)\b", code):
                        edits[i] = re.sub(r"\S.*", "{}", code, count=1)
                    yield i + 1, f"`{found.group()}` moved up to `{earlier.strip()}`", changed(edits)
                    break


class Builder:
    """Compiles and links one rung with the build folder's commands."""

    def __init__(self, build, only_type):
        self.build = build
        self.only_type = only_type  # the only type compiled, of those that the emulator has; or empty
        self.commands = run(["ninja", "-C", build, "-t", "commands", LIBRARY]).stdout.split("\n")
        link = shlex.split(next(c for c in reversed(self.commands) if f"-o {LIBRARY}" in c))
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
        # Keeps the folder's name out of the object, so that code that a change does not reach compiles to identical
        # bytes.
        command[first_include:first_include] = [f"-ffile-prefix-map={folder}={ROOT}/src", f"-I{folder}",
                                                "-fsanitize-undefined-strip-path-components=-2"]
        return run(command, cwd=self.build)

    def table(self, primitive, rungs, folder):
        """Compiles a list of rungs."""
        text = folder / "table.cpp"
        declarations = "".join(f"extern const Rung kernel_{r}_rung; " for r in rungs)
        listed = ", ".join(f"&ladders::{primitive}::kernel_{r}_rung" for r in rungs) or "nullptr"
        text.write_text(f'#include "base/rung.h"\nnamespace upsweep {{\nnamespace ladders::{primitive} {{ {declarations} }}\n'
                        f"Rungs kernel_rungs() {{\n  static const Rung* const rungs[] = {{{listed}}};\n"
                        f"  return Rungs(rungs, {len(rungs)});\n}}\n}}\n")
        made = run(["c++", "-std=c++20", "-O1", "-fPIC", f"-I{ROOT}/src", f"-I{ROOT}/include", "-c", str(text), "-o",
                    str(text.with_suffix(".o"))])
        if made.returncode:
            sys.exit(made.stdout)
        return text.with_suffix(".o")

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
        self.primitive, self.rung = name.split("/")
        self.unit = f"{self.primitive}_{self.rung}"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"mutate_{self.unit}_"))
        self.shown = re.compile(f"{self.primitive}/{self.rung}(: | simt traced)")  # lines about a failure
        self.limits = {}  # seconds, by the sizes of the check
        # Cheapest first: the given sizes, then everything that `upsweep check` runs by default.
        seeds = range(1, options.schedules + 1)
        self.checks = [(size, seed) for seed in (0, *seeds) for size in options.sizes]
        self.checks += [("", seed) for seed in (0, *seeds)] if not options.given_sizes_only else []
        if options.tests:
            self.checks = ["test_lab_ladders", f"test_simt_{self.primitive}"]
            self.checks = [test for test in self.checks if (pathlib.Path(builder.build) / "bin" / test).exists()]

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

    def check(self, folder, unit):
        """Returns the first failure, or an empty string."""
        for which in self.checks:
            if self.options.tests:
                failure = self.test(folder, unit, which, self.limits[which])
            else:
                failure = self.check_once(folder, *which, self.limits[which[0]])
            if failure:
                return failure
        return ""

    def measure(self, folder):
        """Checks the unchanged rung, and sets time limits for the checks of changes. Drops checks that take too long."""
        for test in self.checks if self.options.tests else []:
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if failure := self.test(folder, self.original, test, 1000):
                sys.exit(f"{self.primitive}/{self.rung} fails without a change: {failure}")
            self.limits[test] = 20 + 10 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)
        if self.options.tests:
            return
        for sizes in dict.fromkeys(sizes for sizes, _ in self.checks):
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            failure = self.check_once(folder, sizes, 0, self.options.timeout)
            if failure == "does not end":
                print(f"{self.primitive}/{self.rung}: not checked with {sizes or 'all sizes'}: takes too long",
                      file=sys.stderr)
                self.checks = [check for check in self.checks if check[0] != sizes]
            elif failure:
                sys.exit(f"{self.primitive}/{self.rung} fails without a change: {failure}")
            # Arbitrary schedules take longer, and detecting a livelock takes ten seconds.
            self.limits[sizes] = 20 + 10 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)

    def check_once(self, folder, sizes, seed, limit):
        """Returns the failure of one check, or an empty string. `limit` is in CPU seconds per process."""
        environment = dict(os.environ, LD_LIBRARY_PATH=str(folder))
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

    def test(self, folder, unit, test, limit):
        """Returns the failure of one test program, or an empty string."""
        command = [f"{self.builder.build}/bin/{test}"]
        if test == "test_lab_ladders":  # checks the rungs that it finds, and complains that there is no mutant
            command += ["--gtest_filter=Ladders.TracedAndMutants"]
        else:
            self.link_all(folder, unit)
        status, output = limited(command, dict(os.environ, LD_LIBRARY_PATH=str(folder)), limit)
        if status == -signal.SIGKILL:
            return "does not end"
        if status < 0:
            return f"killed by signal {-status}"
        if test == "test_lab_ladders":
            return next((line for line in output.split("\n") if self.shown.search(line)), "")
        failed = re.search(r"^\[  FAILED  \] (\S+)", output, flags=re.M)
        return f"{failed[1]}: {output[:failed.start()][-1000:]}" if status else ""

    def link_all(self, folder, unit):
        """Links the library of all rungs, with another object for this one."""
        objects = [unit] + [u for u in self.builder.units if not u.endswith(f"/{self.unit}.simt.cpp.o")]
        self.builder.library(objects + self.builder.tables, folder / "libupsweep_simt_traced.so")
        (folder / "libupsweep_simt_plain.so").unlink()  # so that the usual one is loaded

    def build(self, folder):
        """Compiles with `folder` first in the include path; returns the object, or None."""
        output = folder / "unit.o"
        made = self.builder.compile(self.unit, folder, output)
        return output if made.returncode == 0 else None

    def link(self, folder, unit):
        objects = [unit, self.table] + self.builder.needed_by(unit, self.unit)
        self.builder.library(objects, folder / "libupsweep_simt_traced.so")
        # The plain emulator detects no races, so a library without rungs replaces it.
        shutil.copy(self.options.no_rungs, folder / "libupsweep_simt_plain.so")

    def code(self, unit):
        """Returns an object's bytes without debugging information."""
        copy = unit.with_suffix(".stripped.o")
        run(["objcopy", "-g", "--remove-section=.comment", str(unit), str(copy)])
        return copy.read_bytes()

    def with_text(self, name, path, text, then):
        """Calls then(folder, unit) with the unit compiled with another text of one file; unit is None if that fails."""
        folder = self.work / name
        target = folder / path.relative_to(ROOT / "src")
        target.parent.mkdir(parents=True)
        target.write_text(text)
        try:
            return then(folder, self.build(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def used(self, path):
        """False if no change of the file changes the rung's object."""
        lines, texts = path.read_text().split("\n"), [m for m in mutations(path)]
        for line, *_, text in texts:
            lines[line - 1] = text.split("\n")[line - 1]
        return bool(texts) and self.with_text(f"all_{path.stem}", path, "\n".join(lines),
                                              lambda _, unit: not unit or self.code(unit) != self.original_code)

    def chosen(self, path, change):
        line, function, what, _ = change
        return re.search(self.options.only, f"{path.name}:{line} {function}: {what}")

    def verdict(self, number, path, text):
        def judge(folder, unit):
            if not unit:
                return "does not compile"
            if self.code(unit) == self.original_code:
                return "not used"
            self.link(folder, unit)
            return self.check(folder, unit)
        return self.with_text(str(number), path, text, judge)

    def run(self):
        original = self.work / "original"
        original.mkdir()
        self.original = self.build(original)
        if not self.original:
            sys.exit(f"{self.unit} does not compile as it is")
        self.original_code = self.code(self.original)
        self.table = self.builder.table(self.primitive, [self.rung], original)
        self.link(original, self.original)
        self.measure(original)
        survivors = 0
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            sources = [path for path in self.sources() if any(self.chosen(path, m) for m in mutations(path))]
            used = [path for path, is_used in zip(sources, pool.map(self.used, sources)) if is_used]
            changes = [(path, *m) for path in used for m in mutations(path)
                       if self.chosen(path, m)]
            rows = 0
            for row in filter(None, pool.map(lambda c: self.row(c[0], *c[1]), enumerate(changes))):
                rows += 1
                survivors += "**" in row
                print(row, flush=True)
        if survivors == rows > 2:
            print(f"{self.primitive}/{self.rung}: nothing was noticed; do --type and -n reach its kernels? See "
                  f"`upsweep explain {self.primitive} --rung {self.rung} --lines`", file=sys.stderr)
        shutil.rmtree(self.work, ignore_errors=True)
        return survivors

    def row(self, number, path, line, function, what, text):
        """Returns a row of the table; empty if the change has no effect."""
        file = path.relative_to(ROOT / "src")
        key = f"{self.primitive}/{self.rung} | {file} | {hashlib.sha256(text.encode()).hexdigest()[:16]}"
        verdict = self.options.log.find(key)
        if verdict is None:
            verdict = self.verdict(number, path, text)
            self.options.log.add(key, verdict)
        if verdict == "not used":
            return ""
        noticed = kind_of(verdict) if verdict else "**survives**"
        return f"| {self.primitive}/{self.rung} | {file} | {function} | {what} | {noticed} |"


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
        if f": {kind}: " in failure or f" {kind}" in failure:
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
            known[path] = {m[1:3] for m in mutations(path)} if path.exists() else set()
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
    options.log = Log(options.log)
    builder = Builder(options.build, options.type if re.fullmatch(r"\w+", options.type) else "")
    with tempfile.TemporaryDirectory(prefix="mutate_plain_") as folder:
        options.no_rungs = no_rungs(builder, pathlib.Path(folder))
        print("| rung | file | function | change | noticed by |\n|---|---|---|---|---|")
        survivors = sum(Rung(builder, name, options).run() for name in options.rungs)
    print(f"\n{survivors} survivors", file=sys.stderr)


if __name__ == "__main__":
    main()
