"""Executes a run: writes its files, runs the command in a temporary folder, and reads back the results."""
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess

import numpy as np

from expected import Got
from layouts import file_of, image_file, shape_for
from runs import name_of

TIMEOUT = 60  # seconds
LEAST_MEMORY = 80 << 20  # bytes that the program needs to start
OUT_OF_MEMORY = re.compile("no memory|address space|out of memory|cannot allocate")
EMULATED = {"partition": ("u4", "u8")}  # types of its emulated rungs; other primitives have i4 and f4


def limit_memory(bytes):
    resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))


class Program:
    """The command and its capabilities."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.limits = self.runs_within(LEAST_MEMORY)
        self.emulates = "simt" in self.output("--version").split("backends:")[1].split()
        self.cpu_rungs = {}
        for line in self.output("list", "--json").splitlines():
            primitive = json.loads(line)
            self.cpu_rungs[primitive["primitive"]] = [
                rung["name"] for rung in primitive["rungs"] if rung["backend"] == "cpu" and not rung["peer"]]

    def runs_within(self, bytes):
        """Returns whether the command starts with this much address space; a sanitizer reserves terabytes."""
        done = subprocess.run([self.path, "--version"], preexec_fn=lambda: limit_memory(bytes),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def output(self, *arguments):
        return subprocess.run([self.path, *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


class Call:
    """A command line under construction, and its environment."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.words, self.stdin = [], None
        self.memory = None  # bytes, for `ulimit -v`

    def run(self):
        self.before = self.contents()
        data = self.stdin.content if self.stdin and self.stdin.piped else None
        source = open(os.path.join(self.folder, self.stdin.name), "rb") if self.stdin and data is None else None
        done = subprocess.run([self.program.path, "run", *self.words], cwd=self.folder, input=data,
                              stdin=source or (None if data is not None else subprocess.DEVNULL),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                              preexec_fn=self.memory and (lambda: limit_memory(self.memory)))
        if source:
            source.close()
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        return self

    def contents(self):
        return {path.name: path.read_bytes() for path in pathlib.Path(self.folder).iterdir()}

    def mistake_if_refused(self, may_have_begun=False):
        """A rejected call must exit with code 2, print one line, and leave all files unchanged."""
        if self.code != 2:
            return f"it ended with {self.code}, not 2: {self.err}"
        if self.out and not may_have_begun:
            return "it wrote to standard output"
        if self.err.count("\n") != 1 or not self.err.startswith("upsweep: ") or not self.err.strip().isprintable():
            return f"it did not say one line: {self.err!r}"
        if self.contents() != self.before:
            return "it changed files"
        return None

    def shown(self):
        """The command line, for a shell in the folder."""
        line = shlex.join(["upsweep", "run", *self.words])
        if self.memory:
            line = f"(ulimit -v {self.memory >> 10}; {line})"
        if not self.stdin:
            return line
        name = shlex.quote(self.stdin.name)
        return f"cat -- {name} | {line}" if self.stdin.piped else f"{line} < {name}"


# ---- inputs ---------------------------------------------------------------------------------------------------------


def write_inputs(draw, call, run, params):
    """Writes the inputs and appends the arguments that name them. Returns the files."""
    limit = run.inputs[0].array.size if draw.chance(0.1) and not run.inputs[0].image else None
    shape = shape_for(draw, run.inputs[0].array.size)
    files = [file_for(draw, call, given, number, limit, shape, params) for number, given in enumerate(run.inputs)]
    call.words += [run.primitive, files[0].argument]
    for file in files[1:]:
        call.words += ["--with", file.argument]
    if files[0].raw or draw.chance(0.1):
        call.words += ["--type", name_of(run.inputs[0].array.dtype)]
    if limit is not None:
        call.words += ["-n", str(limit)]
    if len(files) == 1 and draw.chance(0.1):
        call.words += ["--format", files[0].format]
    return files


def file_for(draw, call, given, number, limit, shape, params):
    """Writes a file that holds an input, with extra elements if there is a limit. A file whose elements correspond to
    those of the main input has the main input's shape, or is a vector."""
    array = given.array
    if limit is not None and given.in_step:
        array = np.concatenate([array, draw.array(array.dtype, draw.between(0, 50))])
    if limit is not None or not given.in_step or number > 0 and draw.chance(0.5):
        shape = (array.size,) if number > 0 else shape_for(draw, array.size)
    if given.image and draw.chance(0.6):
        file = image_file(draw, array, *given.image, number)
        if draw.chance(0.7):
            params.pop("channels", None)  # read from the image
    else:
        told = given.raw_params is not None
        file = file_of(draw, array, number, shape, told)
        if file.raw:
            params.update(given.raw_params)
    if call.stdin is None and draw.chance(0.25):
        file.piped = draw.chance(0.6) and not file.fortran
        file.redirected = not file.piped
        call.stdin = file
    with open(os.path.join(call.folder, file.name), "wb") as out:
        out.write(file.content)
    return file


# ---- outputs --------------------------------------------------------------------------------------------------------


class FileOutput:
    def __init__(self, call, name, option):
        self.path = os.path.join(call.folder, name)
        self.name = name
        call.words += [option, name]

    def read(self, call, dtype):
        with open(self.path, "rb") as file:
            content = file.read()
        if not self.name.endswith(".npy"):
            return Got(np.frombuffer(content, dtype))
        array = np.load(self.path)
        return Got(array.reshape(-1), shape=array.shape)


class TextOutput:
    def __init__(self, call):
        pass

    def read(self, call, dtype):
        return Got(parsed(call.out.decode().split(), dtype), text=True)


class JsonOutput:
    def __init__(self, call):
        call.words.append("--json")

    def read(self, call, dtype):
        result = json.loads(call.out, parse_int=str)  # Python's int has no -0
        if result["result_type"] != name_of(dtype):
            raise ValueError(f"the result's type is said to be {result['result_type']}")
        return Got(parsed(result["result"], dtype), text=True)


class StandardOutput:
    """A file on standard output: .npy or raw numbers."""

    def __init__(self, call, raw):
        self.raw = raw
        call.words += ["-o", "-"] + ["--out-format", "raw"] * raw

    def read(self, call, dtype):
        if self.raw:
            return Got(np.frombuffer(call.out, dtype))
        path = os.path.join(call.folder, "stdout.npy")
        with open(path, "wb") as file:
            file.write(call.out)
        array = np.load(path)
        return Got(array.reshape(-1), shape=array.shape)


class Table:
    """The output of --table on standard output. The main output is written only if a file is given for it."""

    def __init__(self, call, wanted, as_json):
        call.words += ["--table"] + ["--json"] * as_json
        self.wanted, self.as_json = wanted, as_json

    def mistake(self, call):
        text = call.out.decode()
        if self.as_json:
            names, *rows = [line.split("\t") for line in self.wanted.splitlines()]
            same = [json.loads(line) for line in text.splitlines()] == [dict(zip(names, map(int, row))) for row in rows]
        else:
            same = text == self.wanted
        return None if same else "the table is wrong"


def parsed(words, dtype):
    numbers = [float(word) if dtype.kind == "f" else int(word) for word in words]
    if "-nan" in words:
        raise ValueError("-nan is printed")
    return np.array(numbers, dtype)


def choose_outputs(draw, call, run, files):
    """Appends the arguments for the outputs. Returns a reader per output; None for an output that is not requested."""
    names = iter(draw.random.sample(["out", "a b", "ö", "-o", "o.x", "n\nl"], 3))

    def file(option):
        name = next(names) + draw.one_of([".npy", ".npy", ".raw"])
        return FileOutput(call, f"./{name}" if name.startswith("-") else name, option)

    # The length of raw numbers from a pipe is unknown, unless the pipe is empty.
    count_known = run.count_known and not (files[0].raw and files[0].piped and files[0].content)
    table = None
    if run.table and draw.chance(0.3):
        table = Table(call, run.table, draw.chance(0.3))
        main = file("-o") if draw.chance(0.5) else None
    elif run.large or draw.chance(0.4):
        main = file("-o")
    elif draw.chance(0.3):
        main = StandardOutput(call, not count_known or draw.chance(0.3))
    else:
        main = draw.one_of([TextOutput, JsonOutput])(call)
    further = len(run.outputs) - 1 - (draw.between(0, run.optional))
    return table, [main] + [file("--also") for _ in range(further)] + [None] * (len(run.outputs) - 1 - further)


# ---- both -----------------------------------------------------------------------------------------------------------


def choose_rung(draw, call, run, params):
    array = run.inputs[0].array
    emulated = call.program.emulates and not run.options and array.dtype in EMULATED.get(run.primitive, ("i4", "f4"))
    if emulated and array.size <= 2000 and run.rungs != ("reproducible",) and draw.chance(0.1):
        call.words += ["--backend", "simt"]
    elif run.rungs == ("reproducible",) or draw.chance(0.5):
        rungs = [name for name in call.program.cpu_rungs[run.primitive] if run.rungs is None or name in run.rungs]
        call.words += ["--rung", draw.one_of(rungs)]
        if draw.chance(0.3):
            params["threads"] = draw.between(0, 5)


def carry_out(draw, program, run, folder):
    """Returns the call and a description of its failure, or None."""
    call = Call(program, folder)
    params = dict(run.params)
    files = write_inputs(draw, call, run, params)
    if run.operation:
        call.words += ["--op", run.operation]
    choose_rung(draw, call, run, params)
    if run.large or draw.chance(0.1):
        call.words += ["--memory", draw.one_of(["1", "1M", "4M"])]
    table, outputs = choose_outputs(draw, call, run, files)
    call.words += run.options + words_of(draw, params)
    if program.limits and draw.chance(0.03):
        call.memory = draw.between(LEAST_MEMORY, 8 * LEAST_MEMORY)
    call.run()
    if call.memory and call.code == 2 and OUT_OF_MEMORY.search(call.err):
        return call, call.mistake_if_refused(may_have_begun=True)
    return call, mistake_of(call, run, files, table, outputs)


def words_of(draw, params):
    items = [f"{name}={text_of(value)}" for name, value in params.items()]
    if draw.chance(0.5):
        return ["--param", ",".join(items)] if items else []
    return [word for item in items for word in ("--param", item)]


def text_of(value):
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (np.floating, float)):
        return repr(float(value)) if not isinstance(value, np.float32) else str(value)
    return str(value)


def mistake_of(call, run, files, table, outputs):
    if call.code != 0:
        return f"it ended with {call.code}: {call.err}"
    if call.err and not run.warns:
        return f"it said on standard error: {call.err}"
    for number, (wanted, output) in enumerate(zip(run.outputs, outputs)):
        if output is None:
            continue
        try:
            got = output.read(call, wanted.dtype)
        except (ValueError, OSError, KeyError) as error:
            return f"output {number} cannot be read: {error}"
        if mistake := wanted.mistake(got):
            return f"output {number}: {mistake}"
        if number == 0 and got.shape is not None:
            keeps = run.keeps_shape and files[0].shape is not None and "-n" not in call.words
            shape = files[0].shape if keeps else (wanted.array.size,)
            if got.shape != shape:
                return f"output {number} has the shape {got.shape}, not {shape}"
    if table and (mistake := table.mistake(call)):
        return mistake
    written = {os.path.basename(output.path) for output in outputs if isinstance(output, FileOutput)}
    if left := set(os.listdir(call.folder)) - set(call.before) - written - {"stdout.npy"}:
        return f"it leaves files: {sorted(left)}"
    return None
