"""A shop in Python with sentry-sdk: it answers two requests of WSGI and says
one thing; "throw" ends it by an error that nobody catches."""
import io
import os
import sys

import sentry_sdk
from sentry_sdk.integrations.wsgi import SentryWsgiMiddleware

sentry_sdk.init(
    dsn=os.environ["DSN"],
    release="shop@1.4.2",
    environment="production",
    server_name="web-1",
    attach_stacktrace=True,
    send_default_pii=os.environ["PII"] == "yes",
    _experiments={"transport_compression_algo": os.environ["COMPRESSION"]},
)


class OrderError(Exception):
    pass


def load(number):
    try:
        {}["sku"]  # HERE cause
    except KeyError as error:
        raise OrderError(f"order {number} failed") from error  # HERE nested


def shop(environ, start_response):
    sentry_sdk.set_user({"id": "1204", "ip_address": "203.0.113.9"})
    sentry_sdk.set_tag("book", "database")
    try:
        load(environ["shop.order"])
    except OrderError as error:
        sentry_sdk.capture_exception(error)
    start_response("200 OK", [])
    return [b"thanks"]


def checkout(number):
    environ = {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/checkout", "QUERY_STRING": "page=2&token=s3cret", "SCRIPT_NAME": "",
        "SERVER_NAME": "shop.example.test", "SERVER_PORT": "80", "HTTP_HOST": "shop.example.test", "REMOTE_ADDR": "192.0.2.1",
        "HTTP_AUTHORIZATION": "Bearer s3cret", "HTTP_COOKIE": "session=s3cret", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "shop.order": number,
    }
    for _ in SentryWsgiMiddleware(shop)(environ, lambda status, headers: None):
        pass


def boom(stock):
    stock["tea"] += 1  # HERE unhandled


if sys.argv[1] == "capture":
    checkout(42)
    checkout(43)
    sentry_sdk.capture_message("queue is full")  # HERE message
    sentry_sdk.flush(20)
else:
    boom({})
