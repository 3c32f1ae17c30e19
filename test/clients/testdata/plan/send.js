// Sends the events of a plan with an SDK for JavaScript: a client for each
// project, which throws what the plan says and captures it.

const patience = 120000

// So many events wait for their answers together: the SDKs drop what is more than
// they hold.
export async function sendAll(events, clients, Scope, together) {
  let waiting = 0
  let taken = 0
  for (const client of clients) client.on('afterSendEvent', (_, answer) => (taken += answer.statusCode === 200 ? 1 : 0))
  for (const planned of events) {
    try {
      fail(planned)
    } catch (error) {
      capture(error, planned, clients[planned.project], new Scope())
    }
    if (++waiting === together) {
      await sent(clients)
      waiting = 0
    }
  }
  await sent(clients)
  if (taken !== events.length) throw new Error(`${taken} of ${events.length} events were taken`)
}

function fail({ class: name, message }) {
  const error = new Error(message)
  error.name = name
  throw error
}

function capture(error, planned, client, scope) {
  scope.setClient(client)
  scope.setFingerprint([planned.class])
  scope.setLevel(planned.level)
  scope.setTag('book', planned.book)
  scope.addEventProcessor((event) => ({ ...event, timestamp: planned.millis / 1000, environment: planned.environment, release: planned.release }))
  scope.captureException(error)
}

async function sent(clients) {
  for (const client of clients) {
    if (!(await client.flush(patience))) throw new Error('the SDK does not get rid of its events')
  }
}
