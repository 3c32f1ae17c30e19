"""Writes the traces of exception groups beside this file, as OpenTelemetry's Python SDK
takes them from the module traceback: python3 record.py (3.11 or later)."""
import os
import traceback


def one(code):
    raise ValueError(f"line {code}\n| second line")


def caught(call, *args):
    try:
        call(*args)
    except BaseException as error:
        return error


def caused():
    try:
        {}["sku"]
    except KeyError as error:
        raise LookupError("no price") from error


def nested():
    inner = caught(group, "inner", [caught(one, 3), TypeError("never raised")])
    group("outer", [caught(one, 1), inner, caught(caused)])


def group(name, members):
    raise ExceptionGroup(name, members)


def because():
    try:
        group("many", [caught(one, 1)])
    except ExceptionGroup as error:
        raise RuntimeError("batch failed") from error


def last_is_group():
    inner = caught(group, "inner", [caught(one, 3)])
    try:
        group("outer", [inner])
    except ExceptionGroup as error:
        raise RuntimeError("batch failed") from error


def of_cause():
    try:
        caused()
    except LookupError as error:
        raise ExceptionGroup("after", [caught(because)]) from error


cases = {
    "two": lambda: group("many", [caught(one, 1), caught(one, 2)]),
    "nested": nested,
    "because": because,
    "last_is_group": last_is_group,
    "of_cause": of_cause,
    "many": lambda: group("many", [TypeError(str(i)) for i in range(20)]),
    "not_raised": None,
}
for name, case in cases.items():
    error = caught(case) if case else ExceptionGroup("never raised", [ValueError("a")])
    text = "".join(traceback.format_exception(error)).replace(os.path.abspath(__file__), "/srv/app/shop.py")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".txt"), "w") as file:
        file.write(text)
