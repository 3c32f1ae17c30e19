"""A shop with Flask and sentry-sdk in which everything fails: each address raises
an error of another kind. It asks itself for each."""
import asyncio
import json
import logging
import os
import socket
import sqlite3
import threading
import urllib.request

import flask
import sentry_sdk

sentry_sdk.init(
    dsn=os.environ["DSN"], release="shop@1.4.2", environment="production", server_name="web-1",
    send_default_pii=True, attach_stacktrace=True,
)
app = flask.Flask(__name__)
log = logging.getLogger("shop.orders")


class OrderError(Exception):
    def __init__(self, order, why):
        super().__init__(f"order {order}: {why}")


class Basket:
    def total(self, items):
        return sum(item["price"] for item in items)  # HERE generator


def nested():
    try:
        {}["sku"]  # HERE cause
    except KeyError as error:
        raise OrderError(42, "no such article") from error  # HERE nested


def group():
    failed = []
    for name in ("mail", "invoice"):
        try:
            raise ValueError(f"{name} was refused")
        except ValueError as error:
            failed.append(error)
    raise ExceptionGroup("two steps failed", failed)  # HERE group


def context():
    try:
        int("12,5")
    except ValueError:
        raise OrderError(7, "not a price")  # HERE context


def coroutine():
    async def stock():
        await asyncio.sleep(0)
        raise LookupError("no stock in any hall")  # HERE coroutine

    async def both():
        await asyncio.gather(stock(), asyncio.sleep(0))

    asyncio.run(both())


def generator():
    Basket().total([{"price": 1}, {}])


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


def thread():
    def work():
        raise RuntimeError("the worker died")  # HERE thread

    worker = threading.Thread(target=work, name="worker")
    worker.start()
    worker.join()


def logged():
    log.error("payment of order %d failed", 42, extra={"provider": "bank"})  # HERE logged


def traced():
    try:
        {}["sku"]  # HERE traced
    except KeyError:
        log.exception("an article was left out")


def warning():
    sentry_sdk.capture_message("the queue is nearly full", level="warning")  # HERE warning


def scoped():
    with sentry_sdk.new_scope() as scope:
        scope.set_user({"id": "u-77", "username": "ada", "email": "ada@example.test"})
        scope.set_tag("feature", "checkout")
        scope.set_context("cart", {"items": 3, "currency": "EUR"})
        scope.set_extra("retry", True)
        scope.set_transaction_name("pay for an order")
        for step in ("basket", "address", "payment"):
            sentry_sdk.add_breadcrumb(category="step", message=f"{step} shown", level="info")
        try:
            raise OrderError(77, "the bank said no")  # HERE scoped
        except OrderError as error:
            sentry_sdk.capture_exception(error)


KINDS = [
    nested, group, context, coroutine, generator, database, refused, timeout, recursion, unicode, rtl, huge, secret, custom, assertion,
    missing, parse, file, attribute, division, silent, noted, thread, logged, traced, warning, scoped,
]


@app.before_request
def somebody():
    sentry_sdk.set_user({"id": "1204"})
    sentry_sdk.set_tag("kind", flask.request.path.strip("/"))
    sentry_sdk.add_breadcrumb(category="shop", message="before the failure")


for kind in KINDS:
    app.add_url_rule(f"/{kind.__name__}", kind.__name__, lambda kind=kind: kind() or "ok", methods=["POST"])

client = app.test_client()
for kind in KINDS:
    client.post(f"/{kind.__name__}?page=2&token=planted-s3cret", json={"order": 42, "password": "planted-pw"}, headers={"User-Agent": "shop-test/1"})
sentry_sdk.flush(20)
