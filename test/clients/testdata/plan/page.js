// An application in a page for each project, with @sentry/browser.
import { BrowserClient, Scope, defaultStackParser, makeFetchTransport } from '@sentry/browser'
import { sendAll } from './send.js'

// Together they must stay below the 64 KiB that a page may send with "keepalive",
// which the SDK sets.
const together = 10

window.send = (projects, events) => {
  const clients = projects.map(({ dsn }) => {
    const client = new BrowserClient({ dsn, transport: makeFetchTransport, stackParser: defaultStackParser, integrations: [], sendClientReports: false })
    client.init()
    return client
  })
  return sendAll(events, clients, Scope, together)
}
