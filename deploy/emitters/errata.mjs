/**
 * Sends the errors of a JavaScript application to Errata, from browsers and from
 * node 18 and later. One file, no dependencies:
 *
 *     import { start, captureError } from './errata.mjs'
 *     start({ dsn: 'http://KEY@host:8080/1', release: '1.4.2' })
 *     captureError(error, { order: 42 }) // for errors that the application catches
 *
 * Uncaught errors are sent automatically. The key in a DSN is public and can only
 * send. Requests are simple ones, so that a browser sends no CORS preflight.
 * Every event has its id from the start, so that a repeat counts once.
 */
const MAX_QUEUE = 100, MAX_BATCH = 25 // waiting events (newer ones are dropped); events in a request
const GATHER_MS = 100, TIMEOUT_MS = 10_000, FIRST_RETRY_MS = 500, MAX_RETRY_MS = 30_000
const LAST_MS = 2_000 // for the last events of a process
const MAX_CHAIN = 10, MAX_FRAMES = 50, MAX_LINE = 1_000, MAX_TEXT = 16_000
const KEEPALIVE_BYTES = 60_000 // browsers let 64 KiB outlive a page
const inNode = typeof process !== 'undefined' && !!process.versions?.node

let config = null
let queue = [], sending = null, timer = null, retry = 0
const seen = new WeakSet() // errors that were captured already, in whatever way
export const stats = { sent: 0, dropped: 0 }

/** Options: dsn, release, environment, root (removed from file names), handlers (false: none), beforeSend(event). */
export function start(options) {
  const dsn = new URL(options.dsn) // throws for an invalid URL, once, where the developer sees it
  const [, prefix, project] = /^(.*)\/(\d+)\/?$/.exec(dsn.pathname) ?? []
  if (!project || !dsn.username) throw new Error('the DSN must look like http://KEY@host:port/PROJECT')
  const url = `${dsn.protocol}//${dsn.host}${prefix}/api/${project}/envelope/?sentry_key=${dsn.username}&sentry_version=7&sentry_client=errata-js/1`
  const first = !config
  config = { ...options, url }
  if (!first || options.handlers === false) return
  if (inNode) {
    process.on('uncaughtException', (error, origin) => dying(error, 'uncaughtException', origin))
    process.on('unhandledRejection', reason => dying(reason, 'unhandledRejection', 'unhandledRejection'))
    process.on('beforeExit', () => retry === 0 && flush()) // while the service is away the process may end
  } else {
    addEventListener('error', e => (e.error || e.message) && captureError(e.error ?? e.message, {}, { handled: false }))
    addEventListener('unhandledrejection', e => captureError(e.reason, {}, { handled: false }))
    addEventListener('pagehide', beacon)
    document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && beacon())
  }
}

/** Takes an error with its causes; returns the event's id, null when it is not sent. Never throws. */
export function captureError(error, tags = {}, { level = 'error', handled = true } = {}) {
  try {
    if (!config || (Object(error) === error && seen.has(error))) return null
    if (Object(error) === error) seen.add(error)
    const event = {
      event_id: newID(),
      timestamp: Date.now() / 1000, platform: inNode ? 'node' : 'javascript', level, sdk: { name: 'errata-js', version: '1' },
      release: config.release, environment: config.environment, exception: { values: chain(error, handled) },
      tags: Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, Object(value) === value ? JSON.stringify(value) : String(value)])),
      contexts: inNode ? { runtime: { name: 'node', version: process.versions.node } } : undefined,
      request: inNode ? undefined : { url: location.href, headers: { 'User-Agent': navigator.userAgent } },
    }
    const wanted = config.beforeSend ? config.beforeSend(event) : event
    if (!wanted) return null
    if (queue.length >= MAX_QUEUE) throw new RangeError('the queue is full')
    queue.push(JSON.stringify({ ...wanted, event_id: event.event_id }))
    later(GATHER_MS)
    return event.event_id
  } catch {
    stats.dropped++
    return null
  }
}

/** Sends the waiting events, one try for each batch; true when no event waits any more. */
export function flush() {
  sending ??= send().catch(() => false).finally(() => { sending = null })
  return sending
}

async function send() {
  clearTimeout(timer)
  timer = null
  while (queue.length > 0) {
    const batch = queue.slice(0, MAX_BATCH), body = envelope(batch)
    let status = 0, wait = 0
    try {
      const answer = await fetch(config.url, { method: 'POST', body, credentials: 'omit', keepalive: !inNode && body.length < KEEPALIVE_BYTES, signal: AbortSignal.timeout?.(TIMEOUT_MS) })
      status = answer.status
      wait = 1000 * (Number(answer.headers.get('Retry-After')) || 0)
      await answer.arrayBuffer() // releases the connection
    } catch { /* no answer: status 0 */ }
    if (status === 0 || status === 429 || status >= 500) {
      later(Math.max(wait, Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** retry++) * (0.5 + Math.random() / 2)))
      return false
    }
    retry = 0
    queue = queue.filter(event => !batch.includes(event))
    stats[status < 300 ? 'sent' : 'dropped'] += batch.length // any other 4xx would come again
  }
  return true
}

function later(ms) {
  if (timer) return
  timer = setTimeout(() => { timer = null; flush() }, ms)
  timer.unref?.() // does not keep the process running
}

// beacon sends the waiting events when the page may be closed. An event that is already in flight is sent twice and counts once.
function beacon() {
  const batch = queue.slice(0, MAX_BATCH)
  if (batch.length > 0 && navigator.sendBeacon?.(config.url, envelope(batch))) queue = queue.filter(event => !batch.includes(event))
}

// newID is 128 bits as hex; node 18 has no crypto without an import that browsers do not have.
function newID() {
  const bytes = globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? Uint8Array.from({ length: 16 }, () => Math.random() * 256)
  return Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('')
}

const envelope = batch => '{}\n' + batch.map(event => `{"type":"event"}\n${event}\n`).join('')

// dying does what node does without a listener: it prints the error and ends the process, after a moment for sending.
async function dying(error, event, origin) {
  captureError(error, { origin }, { level: 'fatal', handled: false })
  if (process.listenerCount(event) > 1) return // another listener decides
  await Promise.race([flush(), new Promise(resolve => setTimeout(resolve, LAST_MS))])
  console.error(error)
  process.exit(1)
}

// chain is the error with its causes, oldest first.
function chain(error, handled) {
  const values = []
  for (let e = error; e != null && values.length < MAX_CHAIN; e = e.cause ?? e.errors?.[0]) {
    const type = e.name && e.name !== 'Error' ? e.name : e instanceof Error ? e.constructor.name : undefined
    const value = String(e.message ?? (Object(e) === e ? JSON.stringify(e) : e)).slice(0, MAX_TEXT)
    values.unshift({ type: type && String(type), value, stacktrace: { frames: frames(e.stack) } })
  }
  if (values.length === 0) values.push({ type: undefined, value: String(error) })
  values.at(-1).mechanism = { type: 'generic', handled }
  return values
}

// frames reads a stack in V8's form, "at f (file:1:2)", or in that of other engines, "f@file:1:2"; oldest call first.
function frames(stack) {
  return String(stack ?? '').split('\n').flatMap(line => {
    const [, f, file, lineno] = /^\s*at (?:async )?(?:(.*?) \()?(.*?):(\d+):\d+\)?$/.exec(line) ?? /^(.*?)@(.*?):(\d+):\d+$/.exec(line) ?? []
    if (!file || line.length > MAX_LINE) return []
    const path = file.replace(/^file:\/\//, ''), root = config.root ? config.root.replace(/\/*$/, '/') : ''
    return [{ filename: root && path.startsWith(root) ? path.slice(root.length) : path, lineno: Number(lineno), function: f || '?', in_app: !/node_modules|^node:/.test(path) }]
  }).slice(0, MAX_FRAMES).reverse()
}
