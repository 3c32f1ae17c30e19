"""An application in Python whose calls to a logger sentry-sdk sends as events and as
logs."""
import logging
import os

import sentry_sdk

sentry_sdk.init(dsn=os.environ["DSN"], release="shop@1.4.2", environment="production", enable_logs=True, attach_stacktrace=os.environ["STACK"] == "yes")
log = logging.getLogger("shop")
for number in range(3):
    log.error("payment of order %s failed", number)
try:
    {}["sku"]
except KeyError:
    log.exception("order failed")
for _ in range(3):  # the SDK drops events when a hundred wait
    for _ in range(40):
        log.error("loop")
    sentry_sdk.flush(20)
sentry_sdk.logger.error("only a log")
sentry_sdk.flush(20)
