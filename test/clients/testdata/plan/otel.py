"""An application in Python for each project, environment and release, with the
SDK of OpenTelemetry: it records errors with spans, and logs others."""
import json
import os

from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

# So many errors wait to be exported: the SDK drops what is more than its queue has.
TOGETHER = 1000
QUEUE = 2 * TOGETHER
PATIENCE = 120

SEVERITIES = {
    "debug": SeverityNumber.DEBUG, "info": SeverityNumber.INFO, "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR, "fatal": SeverityNumber.FATAL,
}


class Project:
    def __init__(self, key):
        receiver, headers = os.environ["RECEIVER"], {"Authorization": "Bearer " + key}
        self.spans = BatchSpanProcessor(OTLPSpanExporter(receiver + "/v1/traces", headers=headers, timeout=PATIENCE), max_queue_size=QUEUE)
        self.records = BatchLogRecordProcessor(OTLPLogExporter(receiver + "/v1/logs", headers=headers, timeout=PATIENCE), max_queue_size=QUEUE)
        self.deployments = {}

    def deployment(self, environment, release):
        where = environment, release
        if where not in self.deployments:
            about = Resource({"service.name": "shop", "service.version": release, "deployment.environment.name": environment})
            tracers, loggers = TracerProvider(resource=about, shutdown_on_exit=False), LoggerProvider(resource=about, shutdown_on_exit=False)
            tracers.add_span_processor(self.spans)
            loggers.add_log_record_processor(self.records)
            self.deployments[where] = tracers.get_tracer("shop"), loggers.get_logger("shop")
        return self.deployments[where]

    def sent(self):
        self.spans.force_flush(PATIENCE * 1000)
        self.records.force_flush(PATIENCE * 1000)


def fail(planned):
    raise type(planned["class"], (Exception,), {"__module__": "builtins"})(planned["message"])


def attributes(planned):
    return {"error.book": planned["book"]}


def record(planned, tracer, error, nanos):
    span = tracer.start_span("POST /checkout", attributes=attributes(planned))
    span.record_exception(error, timestamp=nanos)
    span.end()


def log(planned, logger, error, nanos):
    logger.emit(
        timestamp=nanos, severity_number=SEVERITIES[planned["level"]], body="it failed",
        attributes=attributes(planned) | {"plan.id": planned["id"]}, exception=error,
    )


projects = [Project(project["key"]) for project in json.loads(os.environ["PROJECTS"])]
with open(os.environ["PLAN"]) as plan:
    for number, line in enumerate(plan, 1):
        planned = json.loads(line)
        tracer, logger = projects[planned["project"]].deployment(planned["environment"], planned["release"])
        nanos = planned["millis"] * 1_000_000
        try:
            fail(planned)
        except Exception as error:
            if planned["class"].startswith("Span"):
                record(planned, tracer, error, nanos)
            else:
                log(planned, logger, error, nanos)
        if number % TOGETHER == 0:
            for project in projects:
                project.sent()
for project in projects:
    project.sent()
    project.spans.shutdown()
    project.records.shutdown()
