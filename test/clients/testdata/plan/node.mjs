// An application in node for each project, with @sentry/node.
import { readFileSync } from 'node:fs'
import { NodeClient, Scope, defaultStackParser, makeNodeTransport } from '@sentry/node'
import { sendAll } from './send.js'

const clients = JSON.parse(process.env.PROJECTS).map(({ dsn }) => {
  const client = new NodeClient({ dsn, transport: makeNodeTransport, stackParser: defaultStackParser, integrations: [], sendClientReports: false })
  client.init()
  return client
})
const lines = readFileSync(process.env.PLAN, 'utf8').trimEnd().split('\n')
await sendAll(lines.map((line) => JSON.parse(line)), clients, Scope, 40)
for (const client of clients) await client.close(1000)
