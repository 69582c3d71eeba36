"""Runs an author's code inside the interpreter; loaded once, before the fence is closed.

It shares the interpreter with that code, which may change anything here: whatever it does reaches only its own result. The fence
(fence.ts) is what keeps it in.
"""

import ast
import datetime
import decimal
import json
import linecache
import math
import os
import re
import sys
import traceback
import types

# The author may put something else in their place.
loads, dumps = json.loads, json.dumps

RESULT_FD = 3
FILE = "code.py"
MAX_DEPTH = 1000
HINTS = (
    (set, "a set", "sorted(values)"),
    (frozenset, "a set", "sorted(values)"),
    (bytes, "bytes", "value.decode() or base64"),
    (bytearray, "bytes", "value.decode() or base64"),
    (complex, "a complex number", "[value.real, value.imag]"),
    (types.GeneratorType, "a generator", "list(values)"),
)
JAVASCRIPT = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core")
hidden = []


class Refusal(Exception):
    pass


def read(name):
    with open(name, encoding="utf-8", errors="surrogatepass") as file:
        return file.read()


def to_int(digits):
    return int(digits) if len(digits) <= 4000 else decimal.Decimal(digits)


def read_input():
    """Numbers that a float would change arrive as Decimal."""
    root = {"input": loads(read("/job/input.json"), parse_int=to_int)}
    for path, digits, is_integer in loads(read("/job/exact.json")):
        if is_integer:
            continue
        holder, name = root, "input"
        for step in path:
            holder, name = holder[name], step
        holder[name] = decimal.Decimal(digits)
    return root["input"]


def compile_body(source):
    """The author's lines become the body of a function without being moved, so that lines and columns stay right."""
    tree = ast.parse(source, FILE)
    if not tree.body:
        tree.body.append(ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
    body = ast.parse("def code(input): pass", FILE)
    body.body[0].body = tree.body
    return compile(body, FILE, "exec")


class Writer:
    """JSON text of a result. A Decimal is written digit by digit, through a string that nothing else contains."""

    def __init__(self):
        self.mark = os.urandom(16).hex()

    def other(self, value):
        if isinstance(value, decimal.Decimal):
            if not value.is_finite():
                raise Refusal(f"The result contains {value}, which JSON cannot say")
            return f"{self.mark}{value}{self.mark}"
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return value.isoformat()
        for kind, name, hint in HINTS:
            if isinstance(value, kind):
                raise Refusal(f"The result contains {name}, which JSON cannot say; use {hint}")
        raise Refusal(f"The result contains an object of type {type(value).__name__}, which JSON cannot say")

    def text(self, value):
        try:
            text = dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=self.other)
        except ValueError as error:
            if "Circular" in str(error):
                raise Refusal("The result contains itself, which JSON cannot say") from None
            if "Out of range" in str(error):
                raise Refusal("The result contains infinity or NaN, which JSON cannot say") from None
            raise
        except TypeError as error:
            if "keys must be" in str(error):
                raise Refusal(f"The result cannot be written as JSON: {error}") from None
            raise
        return re.sub(f'"{self.mark}([-0-9.E+]+){self.mark}"', lambda match: match[1], text)


def put(kind, text):
    data = memoryview((kind + text).encode("utf-8", "surrogatepass"))
    while data:
        data = data[os.write(RESULT_FD, data) :]


def place_of(error):
    """Line and column of the author's code, counted from 1."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno, error.offset
    place = (None, None)
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_filename == FILE:
            column = None
            for at, position in enumerate(code.co_positions()):
                if at == entry.tb_lasti // 2:
                    column = position[2]
                    break
            place = (entry.tb_lineno, None if column is None else column + 1)
        entry = entry.tb_next
    return place


def describe(error):
    if isinstance(error, Refusal):
        return str(error)
    if isinstance(error, SystemExit):
        return "The code called exit(); use return"
    try:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        said = ""
    name = type(error).__name__
    return f"{name}: {said}" if said else name


def run():
    source = read("/job/code.py")
    try:
        prepare()
        if "random" in sys.modules:
            sys.modules["random"].seed()
        linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
        scope = {"__name__": "__main__", "__builtins__": __builtins__}
        exec(compile_body(source), scope)
        text = Writer().text(scope["code"](read_input()))
        flush()
        put("v", text)
    except MemoryError:
        put("m", "")
    except BaseException as error:
        flush()
        line, column = place_of(error)
        put("e", dumps({"text": describe(error)[:4000], "line": line, "column": column}))


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def prepare():
    """Hides what leads to JavaScript, so that asking for it says that it isn't there. The fence doesn't rely on it."""
    for name in list(sys.modules):
        if name.split(".")[0] in JAVASCRIPT:
            # Kept: freeing what belongs to JavaScript would call it.
            hidden.append(sys.modules[name])
            sys.modules[name] = None
    hidden.append(list(sys.meta_path))
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if not type(finder).__module__.startswith("_pyodide")
    ]
    sys.path[:] = [path for path in sys.path if path.endswith(".zip")]
