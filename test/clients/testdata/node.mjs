// A shop in node with @sentry/node: it answers two requests and captures
// a message. "throw" and "reject" end it by an error that nobody catches.
import http from 'node:http'
import * as Sentry from '@sentry/node'

class OrderError extends Error {
  name = 'OrderError'
}

function load(number) {
  let order
  try {
    order.sku // HERE cause
  } catch (cause) {
    throw new OrderError(`order ${number} failed`, { cause }) // HERE nested
  }
}

function boom(stock) {
  stock.tea.count++ // HERE unhandled
}

let number = 42
const shop = http.createServer((request, response) => {
  Sentry.setUser({ id: '1204', ip_address: '203.0.113.9' })
  Sentry.setTag('book', 'database')
  try {
    load(number++)
  } catch (error) {
    Sentry.captureException(error)
  }
  response.end()
})

async function checkout() {
  await new Promise((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const { port } = shop.address()
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(`http://127.0.0.1:${port}/checkout?page=2&token=s3cret`, { method: 'POST', headers: { connection: 'close', 'X-Forwarded-For': '198.51.100.7' } })
    await answer.text()
    // Twice as well: the SDK drops an error that equals the one before it.
    Sentry.captureMessage('queue is full') // HERE message
  }
  shop.close()
}

switch (process.argv[2]) {
  case 'capture':
    await checkout()
    await Sentry.close(20000)
    break
  case 'throw':
    setTimeout(() => boom({}), 1)
    break
  case 'reject':
    Promise.reject(new RangeError('nobody waits')) // HERE rejected
    break
}
