"""An application in Python for each project, with sentry-sdk."""
import json
import os
import time

import sentry_sdk

# So many events wait for their answers: the SDK drops what is more than 100.
TOGETHER = 60
PATIENCE = 120


def as_planned(event, hint):
    planned = hint["exc_info"][1].planned
    seconds, millis = divmod(planned["millis"], 1000)
    event["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{millis:03}Z"
    event["environment"], event["release"] = planned["environment"], planned["release"]
    return event


def fail(planned):
    error = type(planned["class"], (Exception,), {"__module__": "builtins"})(planned["message"])
    error.planned = planned
    raise error


clients = [
    sentry_sdk.Client(dsn=project["dsn"], default_integrations=False, before_send=as_planned, send_client_reports=False)
    for project in json.loads(os.environ["PROJECTS"])
]


def sent():
    for client in clients:
        client.flush(PATIENCE)


with open(os.environ["PLAN"]) as plan:
    for number, line in enumerate(plan, 1):
        planned = json.loads(line)
        try:
            fail(planned)
        except Exception as error:
            with sentry_sdk.new_scope() as scope:
                scope.set_client(clients[planned["project"]])
                scope.fingerprint = [planned["class"]]
                scope.level = planned["level"]
                scope.set_tag("book", planned["book"])
                sentry_sdk.capture_exception(error)
        if number % TOGETHER == 0:
            sent()
sent()
