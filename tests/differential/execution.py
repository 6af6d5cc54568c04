"""Carries out a run: writes its files, runs the command in a folder of its own, and reads back what it gives."""
import json
import os
import shlex
import subprocess

import numpy as np

from expected import Got
from layouts import file_of, File, png, pnm, shape_for
from rules import followed

TIMEOUT = 60  # seconds
EMULATED = {"partition": ("u4", "u8")}  # types of its emulated rungs; of all others i4 and f4
TYPE_NAMES = {"i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16", "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64",
              "f4": "f32", "f8": "f64"}


def name_of(dtype):
    return TYPE_NAMES[dtype.kind + str(dtype.itemsize)]


class Program:
    """The command, and what it says that it has."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.emulates = "simt" in self.output("--version").split("backends:")[1].split()
        self.cpu_rungs = {}
        for line in self.output("list", "--json").splitlines():
            primitive = json.loads(line)
            self.cpu_rungs[primitive["primitive"]] = [
                rung["name"] for rung in primitive["rungs"] if rung["backend"] == "cpu" and not rung["peer"]]

    def output(self, *arguments):
        return subprocess.run([self.path, *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


class Call:
    """A command line, as it is put together, and what goes with it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.words, self.stdin = [], None
        self.shell = ""  # how standard input is given

    def run(self):
        self.before = set(os.listdir(self.folder))
        data = self.stdin.content if self.stdin and self.stdin.piped else None
        source = open(os.path.join(self.folder, self.stdin.name), "rb") if self.stdin and data is None else None
        done = subprocess.run([self.program.path, "run", *self.words], cwd=self.folder, input=data,
                              stdin=source or (None if data is not None else subprocess.DEVNULL),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
        if source:
            source.close()
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        return self

    def shown(self):
        """The command line, for a shell in the folder."""
        line = shlex.join(["upsweep", "run", *self.words])
        if not self.stdin:
            return line
        name = shlex.quote(self.stdin.name)
        return f"cat -- {name} | {line}" if self.stdin.piped else f"{line} < {name}"


# ---- inputs ---------------------------------------------------------------------------------------------------------


def give(draw, call, array, number, raw_params, piped, params):
    """Writes an input into the folder. Returns the file."""
    shape = shape_for(draw, array.size)
    file = file_of(draw, array, number, shape, raw_params is not None, piped, number > 0 and raw_params is not None)
    file.shape = shape
    if file.raw and raw_params:
        params.update(raw_params)
    return file


def image_of(draw, given, number, params):
    width, height, channels = given.image
    kind = draw.one_of(["png"] + ["pnm"] * (channels in (1, 3)))
    content = (png if kind == "png" else pnm)(given.array, width, height, channels)
    ending = "png" if kind == "png" else draw.one_of(["pnm", "pgm" if channels == 1 else "ppm"])
    if draw.chance(0.7):
        params.pop("channels", None)  # the image says them
    file = File(f"image{number}.{ending}", content)
    file.shape = None
    return file


def extended(draw, array, more):
    return np.concatenate([array, draw.array(array.dtype, more)])


def write_inputs(draw, call, run, params):
    """Writes the inputs, and puts the words that name them together."""
    limit = run.inputs[0].array.size if draw.chance(0.1) and not run.inputs[0].image else None
    more = draw.between(0, 50)
    files = []
    for number, given in enumerate(run.inputs):
        array = given.array
        if limit is not None and given.in_step:
            array = extended(draw, array, more if number == 0 else draw.between(0, 50))
        if given.image and draw.chance(0.6):
            files.append(image_of(draw, given, number, params))
        else:
            files.append(give(draw, call, array, number, given.raw_params, call.stdin is None, params))
        if files[-1].argument == "-":
            call.stdin = files[-1]
        with open(os.path.join(call.folder, files[-1].name), "wb") as out:
            out.write(files[-1].content)
    call.words += [run.primitive, files[0].argument]
    for file in files[1:]:
        call.words += ["--with", file.argument]
    if files[0].raw or draw.chance(0.1) and (files[0].argument != "-" or followed(["content"])):
        call.words += ["--type", name_of(run.inputs[0].array.dtype)]
    if limit is not None:
        call.words += ["-n", str(limit)]
    return files


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
        result = json.loads(call.out, parse_int=str)  # an int has no -0
        if result["result_type"] != name_of(dtype):
            raise ValueError(f"the result's type is said to be {result['result_type']}")
        return Got(parsed(result["result"], dtype), text=True)


class StandardOutput:
    """A .npy file on standard output."""

    def __init__(self, call):
        call.words += ["-o", "-"]

    def read(self, call, dtype):
        path = os.path.join(call.folder, "stdout.npy")
        with open(path, "wb") as file:
            file.write(call.out)
        array = np.load(path)
        return Got(array.reshape(-1), shape=array.shape)


class Table:
    """The table instead of the main output, which goes to no file."""

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
    if "-nan" in words and followed(["nan_text"]):
        raise ValueError("-nan is printed")
    return np.array(numbers, dtype)


def choose_outputs(draw, call, run, files):
    """Puts the words for the outputs together. Returns for each its reader; None where it is not asked for."""
    names = iter(draw.random.sample(["out", "a b", "ö", "-o", "o.x", "n\nl"], 3))

    def file(option):
        name = next(names) + draw.one_of([".npy", ".npy", ".raw"])
        return FileOutput(call, f"./{name}" if name.startswith("-") else name, option)

    # Nothing says how long raw numbers from a pipe are; an empty file may be one of /proc, and is read as a pipe.
    count_known = run.count_known and not (files[0].raw and (files[0].piped or not files[0].content))
    table = None
    if run.table and draw.chance(0.3):
        table = Table(call, run.table, draw.chance(0.3))
        main = file("-o") if draw.chance(0.5) else None
    elif run.large or draw.chance(0.4):
        main = file("-o")
    else:
        main = draw.one_of([TextOutput, JsonOutput] + [StandardOutput] * count_known)(call)
    further = len(run.outputs) - 1 - (draw.between(0, run.optional))
    return table, [main] + [file("--also") for _ in range(further)] + [None] * (len(run.outputs) - 1 - further)


# ---- both -----------------------------------------------------------------------------------------------------------


def choose_rung(draw, call, run, params):
    array = run.inputs[0].array
    emulated = call.program.emulates and array.dtype in EMULATED.get(run.primitive, ("i4", "f4"))
    if emulated and array.size <= 2000 and run.rungs != ("reproducible",) and draw.chance(0.1):
        call.words += ["--backend", "simt"]
    elif run.rungs == ("reproducible",) or draw.chance(0.5):
        rungs = [name for name in call.program.cpu_rungs[run.primitive] if run.rungs is None or name in run.rungs]
        call.words += ["--rung", draw.one_of(rungs)]
        if draw.chance(0.3):
            params["threads"] = draw.between(0, 5)


def carry_out(draw, program, run, folder):
    """Returns the call, and what is wrong with it, or None."""
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
    call.run()
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
            shape = files[0].shape if keeps and followed(["shapes"]) else (wanted.array.size,)
            if got.shape != shape and (not run.keeps_shape or followed(["shapes"])):
                return f"output {number} has the shape {got.shape}, not {shape}"
    if table and (mistake := table.mistake(call)):
        return mistake
    expected = call.before | {os.path.basename(o.path) for o in outputs if isinstance(o, FileOutput)} | {"stdout.npy"}
    if left := set(os.listdir(call.folder)) - expected:
        return f"it leaves files: {sorted(left)}"
    return None
