"""A shop in Python with the SDK of OpenTelemetry in which everything fails: some errors
are recorded with the span of the request, some are logged."""
import asyncio
import json
import logging
import os
import socket
import sqlite3
import urllib.request

from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

headers = {"Authorization": "Bearer " + os.environ["KEY"]}
about = Resource({"service.name": "shop", "service.version": "1.4.2", "deployment.environment.name": "production", "host.name": "web-1"})
spans, records = TracerProvider(resource=about), LoggerProvider(resource=about)
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(os.environ["URL"] + "/v1/traces", headers=headers)))
records.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(os.environ["URL"] + "/v1/logs", headers=headers)))
tracer, logger = spans.get_tracer("shop"), records.get_logger("shop")
log = logging.getLogger("shop.orders")
log.setLevel(logging.INFO)
log.addHandler(LoggingHandler(logger_provider=records))
log.propagate = False


class OrderError(Exception):
    def __init__(self, order, why):
        super().__init__(f"order {order}: {why}")


def nested():
    try:
        {}["sku"]  # HERE cause
    except KeyError as error:
        raise OrderError(42, "no such article") from error  # HERE nested


def group():
    raise ExceptionGroup("two steps failed", [ValueError("mail was refused"), TypeError("invoice was refused")])  # HERE group


def context():
    try:
        int("12,5")
    except ValueError:
        raise OrderError(7, "not a price")  # HERE context


def coroutine():
    async def stock():
        await asyncio.sleep(0)
        raise LookupError("no stock in any hall")  # HERE coroutine

    asyncio.run(stock())


def generator():
    return sum(item["price"] for item in [{"price": 1}, {}])  # HERE generator


def database():
    with sqlite3.connect(":memory:") as db:
        db.execute("SELECT price FROM orders WHERE id = ?", (42,))  # HERE database


def refused():
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    urllib.request.urlopen(f"http://127.0.0.1:{port}/pay?card=4111111111111111")  # HERE refused


def timeout():
    async def slow():
        async with asyncio.timeout(0.001):  # HERE timeout
            await asyncio.sleep(30)

    asyncio.run(slow())


def recursion():
    def walk(n):
        return walk(n + 1)  # HERE recursion

    walk(0)


def unicode():
    raise ValueError("Größe ungültig: 尺寸 🙈 👩‍👩‍👧")  # HERE unicode


def rtl():
    raise ValueError("ההזמנה לא נשמרה כי אין מלאי במחסן")  # HERE rtl


def huge():
    raise ValueError("line of a report\n" * 2000)  # HERE huge


def secret():
    password, card = "-".join(["planted", "hunter2"]), " ".join(["4111", "1111", "1111", "1111"])
    raise PermissionError(f"login failed: password={password} card={card}")  # HERE secret


def custom():
    raise OrderError(9, "already paid")  # HERE custom


def assertion():
    basket = []
    assert basket, "the basket is empty"  # HERE assertion


def missing():
    import shop_that_is_not_installed  # noqa: F401 # HERE missing


def parse():
    json.loads('{"price": }')  # HERE parse


def file():
    open("/no/such/folder/prices.csv")  # HERE file


def attribute():
    None.price  # HERE attribute


def division():
    return 1 / 0  # HERE division


def silent():
    raise RuntimeError  # HERE silent


def noted():
    error = ValueError("the price is negative")
    error.add_note("seen in the nightly import")
    raise error  # HERE noted


def logged():
    log.error("payment of order %d failed", 42, extra={"kind": "logged"})  # HERE logged


def traced():
    try:
        {}["sku"]
    except KeyError:
        log.exception("an article was left out", extra={"kind": "traced"})  # HERE told


def warning():
    log.warning("the queue is nearly full", extra={"kind": "warning"})  # no error: it is no record


def emitted():
    try:
        raise OrderError(77, "the bank said no")  # HERE emitted
    except OrderError as error:
        logger.emit(severity_number=SeverityNumber.FATAL, body="it failed", attributes={"user.id": "u-77", "feature": "checkout", "kind": "emitted"}, exception=error)


KINDS = [
    nested, group, context, coroutine, generator, database, refused, timeout, recursion, unicode, rtl, huge, secret, custom, assertion,
    missing, parse, file, attribute, division, silent, noted, logged, traced, warning, emitted,
]
for kind in KINDS:
    name = kind.__name__
    attributes = {
        "http.request.method": "POST", "url.path": "/" + name, "url.query": "page=2&token=planted-s3cret", "client.address": "203.0.113.9",
        "user.id": "1204", "kind": name,
    }
    try:
        with tracer.start_as_current_span("POST /" + name, attributes=attributes):
            kind()
    except Exception:
        pass  # the span has recorded it
spans.shutdown()
records.shutdown()
