"""Prints dates in words of the tests of dateparser and dateutil with the times that they
expect, as JSON. Those of dateparser are in English, in Vietnamese, and in numbers."""

import ast
import json
import re
import sys
from datetime import datetime, timedelta

sys.path[:0] = ["python-dateutil/src", "six"]
from dateutil.relativedelta import relativedelta  # noqa: E402

names = {"datetime": datetime, "timedelta": timedelta}


def value(node):
    return eval(compile(ast.Expression(node), "case", "eval"), names)


def params(file, test):
    """The parameters of a test, each with the language that a comment above it names."""
    source = open(file, encoding="utf-8").read()
    lines = source.split("\n")
    for f in ast.walk(ast.parse(source)):
        if not (isinstance(f, ast.FunctionDef) and f.name == test):
            continue
        for call in ast.walk(f.decorator_list[0]):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "param":
                above = (re.match(r"\s*# (\w+) dates", line) for line in reversed(lines[: call.lineno - 1]))
                yield next((m[1] for m in above if m), ""), call


def case(text, now, time):
    return {"text": text, "now": now.isoformat(), "time": time and time.isoformat()}


def absolute():
    now = datetime(2012, 11, 13)
    for language, call in params("dateparser/tests/test_date_parser.py", "test_dates_parsing"):
        if re.match("English|Vietnamese|Numeric", language):
            yield case(value(call.args[0]), now, value(call.args[1]))


def refused():
    for _, call in params("dateparser/tests/test_date_parser.py", "test_dates_not_parsed"):
        yield case(value(call.args[0]), datetime(2012, 11, 13), None)


def relative():
    now = datetime(2014, 9, 1, 10, 30)
    for language, call in params("dateparser/tests/test_freshness_date_parser.py", "test_relative_past_dates"):
        if re.match("English|Vietnamese", language):
            ago = next(value(k.value) for k in call.keywords if k.arg == "ago")
            yield case(value(call.args[0]), now, now - relativedelta(**ago))


def dateutil():
    tree = ast.parse(open("python-dateutil/tests/test_parser.py", encoding="utf-8").read())
    for a in ast.walk(tree):
        if isinstance(a, ast.Assign) and getattr(a.targets[0], "id", "") == "PARSER_TEST_CASES":
            for text, time, _ in value(a.value):
                yield case(text, datetime(2003, 12, 31), time)


json.dump([
    {"name": "dateparser, dates", "cases": list(absolute())},
    {"name": "dateparser, times ago", "cases": list(relative())},
    {"name": "dateparser, no dates", "cases": list(refused())},
    {"name": "dateutil, dates", "cases": list(dateutil())},
], sys.stdout)
