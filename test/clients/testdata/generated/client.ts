// A client of types that openapi-typescript makes. openapi-fetch has no code of
// its own for any route.
import createClient from 'openapi-fetch'
import type { paths } from './schema'

declare const process: { env: Record<string, string>; argv: string[] }

const client = (key: string) => createClient<paths>({ baseUrl: process.env.URL, headers: { Authorization: `Bearer ${key}` } })

/** have is the data of an answer that must be a success. */
function have<T>(answer: { data?: { data: T }; error?: unknown }): T {
  if (!answer.data) throw new Error(JSON.stringify(answer.error))
  return answer.data.data
}

async function send() {
  const event = { message: 'order 42 failed', exception_class: 'OrderError', line: 51, fingerprint: ['order', 42] }
  const taken = have(await client(process.env.INGEST).POST('/api/v1/events', { body: [event, event] }))
  if (taken.accepted !== 2) throw new Error(JSON.stringify(taken))
}

async function read() {
  const api = client(process.env.ADMIN)
  const list = await api.GET('/api/v1/admin/tools/logs/errors', { params: { query: { search: 'ORDER 42', order: 'count', limit: 5 } } })
  const [row] = have(list)
  const path = { signature: row.signature }
  const detail = have(await api.GET('/api/v1/admin/tools/logs/errors/{signature}', { params: { path } }))
  const settings = have(await api.PUT('/api/v1/admin/tools/logs/settings', { body: { query_logging: 1, module_log: false } }))
  const deleted = have(await api.DELETE('/api/v1/admin/tools/logs/errors', { body: { signatures: [row.signature] } }))
  const again = await api.GET('/api/v1/admin/tools/logs/errors/{signature}', { params: { path } })
  console.log(JSON.stringify({
    total: list.data?.meta.total, signature: row.signature, count: row.count, first_seen: new Date(row.first_seen).toISOString(),
    message: detail.payload.message, logging: settings.query_logging, deleted: deleted.count, code: again.error?.error.code,
  }))
}

await (process.argv[2] === 'send' ? send() : read())
