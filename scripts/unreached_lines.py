#!/usr/bin/env python3
"""Lists the lines of the kernels and of their launchers that no test on the traced emulator ever ran.

    mkdir BUILD/coverage
    UPSWEEP_SIMT_COVERAGE=$PWD/BUILD/coverage ctest --test-dir BUILD -L traced
    scripts/unreached_lines.py BUILD

The tests record the basic blocks that they enter (src/simt/entered_blocks.h). The debug line table says from which
lines a block has instructions. A line is reached if any of its blocks was entered, in any instantiation. Of the other
lines, only those at which a block begins are listed, because compilers attribute some instructions to lines of other
branches. A line that no test can reach says why, at its end or on the line above: `// unreached: reason`. Fails if a
line without a reason is not reached, or if a line with a reason is.
"""
import bisect
import pathlib
import re
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = re.compile(r"src/(?:ladders/(?!\w+/mutants/).*|kernel/.*)\.(?:cuh|h)$")
# Lines of brackets only, and the bodies of polling loops, which some runs do not enter.
IGNORED = re.compile(r"[\s{}();,]*$|.*\bspin_hint\(\)")
REASON = re.compile(r"// unreached: \S")


def read_blocks(path):
    """Returns the ascending addresses of the blocks, relative to the library, and for each whether it was entered."""
    data = path.read_bytes()
    count = len(data) // 9  # 8 bytes of address and 1 byte per block
    blocks = sorted(zip(struct.unpack_from(f"={count}Q", data), data[8 * count:]))
    return [address for address, _ in blocks], [entered for _, entered in blocks]


def line_table(library):
    """Yields (address, end, file, line, address of its function) for each row of the table that has an instruction."""
    reader = shutil.which("llvm-dwarfdump-19") or sys.exit("error: llvm-dwarfdump-19 is missing: install llvm-19")
    directories, files, begin, row = {}, {}, None, None
    with subprocess.Popen([reader, "--debug-line", library], text=True, stdout=subprocess.PIPE) as process:
        for text in process.stdout:
            if text.startswith("0x"):
                address, line, _, file, *flags = text.split()
                address = int(address, 16)
                if row and row[0] < address:
                    yield row[0], address, *row[1:]
                begin = address if begin is None else begin
                row = address, files[int(file)], int(line), begin
                if "end_sequence" in flags:
                    begin = row = None
            elif found := re.match(r'include_directories\[ *(\d+)\] = "(.*)"', text):
                directories[int(found[1])] = found[2]
            elif found := re.match(r"file_names\[ *(\d+)\]", text):
                number = int(found[1])
            elif found := re.match(r' *name: "(.*)"', text):
                name = found[1]
            elif found := re.match(r" *dir_index: (\d+)", text):
                files[number] = f"{directories[int(found[1])]}/{name}"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    reached = {}  # (file, line): whether any of its blocks was entered
    begins = set()  # (file, line) of every block's first instruction
    for recorded in (build / "coverage").glob("*.blocks"):  # one per library: the rungs' and the tests'
        addresses, entered = read_blocks(recorded)
        for address, end, path, line, function in line_table(build / "lib" / recorded.stem):
            source = SOURCES.search(path)
            following = bisect.bisect_right(addresses, address)
            if not source or line == 0 or following == 0 or addresses[following - 1] < function:
                continue
            key = source[0], line
            reached[key] = reached.get(key, False) or entered[following - 1] == 1
            if addresses[following - 1] == address or (following < len(addresses) and addresses[following] < end):
                begins.add(key)
    if not reached:
        sys.exit(f"error: no blocks in {build}/coverage; see --help")
    left = 0
    for (file, line), was_reached in sorted(reached.items()):
        text = (ROOT / file).read_text().split("\n")
        statement = text[line - 1].strip()
        excused = REASON.search(statement) or (line > 1 and re.match(r"\s*// unreached: \S", text[line - 2]))
        if was_reached and excused:
            statement += "  <-- reached: remove the reason"
        elif was_reached or excused or (file, line) not in begins or IGNORED.match(statement):
            continue
        print(f"{file}:{line}: {statement}")
        left += 1
    print(f"{len(reached)} lines, {sum(reached.values())} reached; {left} to be explained")
    sys.exit(left > 0)


if __name__ == "__main__":
    main()
