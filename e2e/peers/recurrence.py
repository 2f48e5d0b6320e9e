"""Prints the rules of dateutil's tests with the times that they expect, as JSON, and a grid
of rules with the times that dateutil computes."""

import ast
import itertools
import json
import sys
from datetime import date, datetime, timedelta

sys.path[:0] = ["python-dateutil/src", "six"]
from dateutil import rrule, tz  # noqa: E402

names = {**vars(rrule), "datetime": datetime, "date": date, "timedelta": timedelta, "tz": tz}


def case(rule, times):
    start, text = str(rule).split("\n", 1) if str(rule).startswith("DTSTART") else ("", str(rule))
    return {
        "rule": text.removeprefix("RRULE:"),
        "start": rule._dtstart.strftime("%Y-%m-%dT%H:%M:%S"),
        "times": [t.strftime("%Y-%m-%dT%H:%M:%S") for t in times],
    }


def tests():
    tree = ast.parse(open("python-dateutil/tests/test_rrule.py", encoding="utf-8").read())
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "assertEqual"):
            continue
        if len(call.args) != 2 or getattr(getattr(call.args[0], "func", None), "id", "") != "list":
            continue
        try:
            rule, times = (eval(compile(ast.Expression(a), "case", "eval"), names) for a in (call.args[0].args[0], call.args[1]))
        except NameError:
            continue  # of a rule in a variable
        if isinstance(rule, rrule.rrule) and isinstance(times, list) and rule._dtstart.tzinfo is None:
            yield case(rule, times)


def grid():
    starts = [datetime(2024, 1, 31, 9), datetime(2025, 2, 28, 23, 59, 59), datetime(2026, 12, 27, 7, 30), datetime(2023, 11, 29)]
    days = ["", "MO", "SU", "MO,WE,FR", "SA,SU,TU"]
    nth = ["", "1MO", "-1FR", "5SA", "-5SU", "2TU,4TU", "1SU,-1SU,3WE"]
    month_days = ["31", "29", "-1", "-31", "1,15,-1", "30,-30", "28,29,30,31"]
    parts = ["FREQ=DAILY"]
    parts += ["FREQ=WEEKLY" + (d and ";BYDAY=" + d) for d in days]
    parts += ["FREQ=MONTHLY" + (d and ";BYDAY=" + d) for d in nth]
    parts += ["FREQ=MONTHLY;BYMONTHDAY=" + d for d in month_days]
    ends = [";COUNT=9", ";UNTIL=20270301T073000", ";UNTIL=20251231T235959"]
    for start, part, interval, end in itertools.product(starts, parts, (1, 2, 3, 5, 13), ends):
        text = f"{part};INTERVAL={interval}{end}"
        rule = rrule.rrulestr(text, dtstart=start)
        yield {**case(rule, itertools.islice(rule, 40)), "rule": text}


json.dump({"tests": list(tests()), "grid": list(grid())}, sys.stdout)
