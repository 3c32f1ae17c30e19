// A shop in node with @sentry/node in which everything fails, each time in another
// way. It asks itself for each over HTTP; what nobody catches comes last.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import * as Sentry from '@sentry/node'

class OrderError extends Error {
  name = 'OrderError'
}

class QueryFailedError extends Error {
  name = 'QueryFailedError'
  constructor(query, cause) {
    super(cause.message, { cause })
    this.query = query
  }
}

const kinds = {
  nested() {
    try {
      undefined.sku // HERE cause
    } catch (cause) {
      throw new OrderError('order 42 failed', { cause }) // HERE nested
    }
  },
  group() {
    throw new AggregateError([new TypeError('mail was refused'), new RangeError('invoice was refused')], 'two steps failed') // HERE group
  },
  async coroutine() {
    const stock = async () => {
      await null
      throw new RangeError('no stock in any hall') // HERE coroutine
    }
    await Promise.all([stock(), null])
  },
  generator() {
    function* prices(items) {
      for (const item of items) yield item.price.amount // HERE generator
    }
    return [...prices([{ price: { amount: 1 } }, {}])]
  },
  database() {
    throw new QueryFailedError('SELECT price FROM orders', new Error('relation "orders" does not exist')) // HERE database
  },
  async refused() {
    const free = net.createServer().listen(0, '127.0.0.1')
    await new Promise((ready) => free.once('listening', ready))
    const { port } = free.address()
    await new Promise((closed) => free.close(closed))
    await fetch(`http://127.0.0.1:${port}/pay?card=4111111111111111`) // HERE refused
  },
  async timeout() {
    const never = http.createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((ready) => never.once('listening', ready))
    try {
      await fetch(`http://127.0.0.1:${never.address().port}/slow`, { signal: AbortSignal.timeout(5) }) // HERE timeout
    } finally {
      never.closeAllConnections()
      never.close()
    }
  },
  recursion() {
    const walk = (n) => walk(n + 1) + 1 // HERE recursion
    walk(0)
  },
  unicode() {
    throw new Error('Größe ungültig: 尺寸 🙈 👩‍👩‍👧') // HERE unicode
  },
  rtl() {
    throw new Error('ההזמנה לא נשמרה כי אין מלאי במחסן') // HERE rtl
  },
  huge() {
    throw new Error('line of a report\n'.repeat(2000)) // HERE huge
  },
  secret() {
    const password = ['planted', 'hunter2'].join('-')
    throw new Error(`login failed: password=${password} card=${['4111', '1111', '1111', '1111'].join(' ')}`) // HERE secret
  },
  custom() {
    throw new OrderError('order 9: already paid') // HERE custom
  },
  missing() {
    return import('shop-that-is-not-installed') // HERE missing
  },
  parse() {
    JSON.parse('{"price": }') // HERE parse
  },
  file() {
    readFileSync('/no/such/folder/prices.csv') // HERE file
  },
  attribute() {
    const shelf = null
    return shelf.price // HERE attribute
  },
  called() {
    const basket = {}
    basket.total() // HERE called
  },
  reference() {
    return notDefinedAnywhere // HERE reference
  },
  bigint() {
    return 1n / 0n // HERE bigint
  },
  url() {
    return new URL('http://') // HERE url
  },
  silent() {
    throw new Error() // HERE silent
  },
  string() {
    throw 'out of order' // HERE string
  },
  object() {
    throw { code: 'E_STOCK', hall: 7 } // HERE object
  },
  warning() {
    Sentry.captureMessage('the queue is nearly full', 'warning') // HERE warning
  },
  scoped() {
    Sentry.withScope((scope) => {
      scope.setUser({ id: 'u-77', username: 'ada', email: 'ada@example.test' })
      scope.setTag('feature', 'checkout')
      scope.setContext('cart', { items: 3, currency: 'EUR' })
      scope.setExtra('retry', true)
      scope.setTransactionName('pay for an order')
      for (const step of ['basket', 'address', 'payment']) Sentry.addBreadcrumb({ category: 'step', message: `${step} shown`, level: 'info' })
      Sentry.captureException(new OrderError('order 77: the bank said no')) // HERE scoped
    })
  },
}

async function answer(request, response) {
  const kind = request.url.slice(1).split('?')[0]
  Sentry.setUser({ id: '1204' })
  Sentry.setTag('kind', kind)
  Sentry.addBreadcrumb({ category: 'shop', message: 'before the failure' })
  try {
    await kinds[kind]()
  } catch (error) {
    Sentry.captureException(error) // HERE captured
  }
  response.end()
}

if (process.argv[2] === 'reject') {
  Sentry.setTag('kind', 'reject')
  Promise.reject(new RangeError('nobody waits')) // HERE reject
} else if (process.argv[2] === 'throw') {
  Sentry.setTag('kind', 'throw')
  setTimeout(() => { throw new OrderError('the worker died') }, 1) // HERE throw
} else {
  const shop = http.createServer(answer).listen(0, '127.0.0.1')
  await new Promise((ready) => shop.once('listening', ready))
  for (const kind of Object.keys(kinds)) {
    await (await fetch(`http://127.0.0.1:${shop.address().port}/${kind}?page=2&token=planted-s3cret`, { method: 'POST', headers: { connection: 'close' } })).text()
  }
  shop.close()
  await Sentry.close(20000)
}
