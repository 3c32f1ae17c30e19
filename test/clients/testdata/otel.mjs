// A shop in node with the SDK and the exporters of OpenTelemetry, as JSON or
// as protobuf. It ends by an error that nobody catches.
import { SpanKind, context, trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { TracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace'

const [, , form] = process.argv
const { OTLPTraceExporter } = await import(`@opentelemetry/exporter-trace-otlp-${form}`)
const { OTLPLogExporter } = await import(`@opentelemetry/exporter-logs-otlp-${form}`)

const to = (path) => ({ url: process.env.RECEIVER + path, headers: { Authorization: `Bearer ${process.env.KEY}` }, compression: process.env.COMPRESSION })
const resource = resourceFromAttributes({
  'service.name': 'shop', 'service.version': '1.4.2', 'deployment.environment.name': 'production', 'host.name': 'web-1',
  'telemetry.sdk.language': 'nodejs', 'telemetry.sdk.name': 'opentelemetry',
})
const traces = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(to('/v1/traces')) })] })
const logs = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(to('/v1/logs')) })] })
const tracer = traces.getTracer('shop')
const logger = logs.getLogger('shop')

class OrderError extends Error {
  name = 'OrderError'
}

function load(number) {
  let order
  try {
    order.sku
  } catch (cause) {
    throw new OrderError(`order ${number} failed`, { cause }) // HERE nested
  }
}

function boom(stock) {
  stock.tea.count++ // HERE unhandled
}

const exceptionOf = (error) => ({ 'exception.type': error.name, 'exception.message': error.message, 'exception.stacktrace': error.stack })

// The error is recorded with the span and logged within it: it happened once.
function checkout(number) {
  const span = tracer.startSpan('POST /checkout', {
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': 'POST', 'url.path': '/checkout', 'url.query': 'page=2&token=s3cret', 'client.address': '203.0.113.9', 'user.id': '1204', 'db.system.name': 'postgresql' },
  })
  try {
    load(number)
  } catch (error) {
    span.recordException(error)
    logger.emit({ severityNumber: 17, severityText: 'ERROR', body: 'checkout failed', attributes: exceptionOf(error), context: trace.setSpan(context.active(), span) })
  }
  span.end()
}

process.once('uncaughtException', async (error) => {
  logger.emit({ severityNumber: 21, severityText: 'FATAL', body: 'nobody caught this', attributes: exceptionOf(error) })
  await traces.shutdown()
  await logs.shutdown()
  process.exitCode = 1
})

checkout(42)
checkout(43)
logger.emit({ severityNumber: 17, severityText: 'ERROR', body: 'queue is full' })
logger.emit({ severityNumber: 9, severityText: 'INFO', body: 'a line that is no error' })
setTimeout(() => boom({}), 1)
