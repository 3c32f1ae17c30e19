// A page with @sentry/browser, the global Sentry here, in which everything fails, each
// time in another way.
Sentry.init({
  attachStacktrace: true, sendDefaultPii: true, tracesSampleRate: 0,
  dsn: new URLSearchParams(location.search).get('dsn'), release: 'shop@1.4.2', environment: 'production',
})
Sentry.setUser({ id: '1204' })

class OrderError extends Error {
  name = 'OrderError'
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
    await null
    throw new RangeError('no stock in any hall') // HERE coroutine
  },
  generator() {
    function* prices(items) {
      for (const item of items) yield item.price.amount // HERE generator
    }
    return [...prices([{ price: { amount: 1 } }, {}])]
  },
  async database() {
    const open = indexedDB.open('shop', 1)
    const db = await new Promise((done) => { open.onsuccess = () => done(open.result) })
    db.transaction('orders') // HERE database
  },
  async refused() {
    await fetch('http://127.0.0.1:9/pay?card=4111111111111111') // HERE refused
  },
  async timeout() {
    await fetch('/slow', { signal: AbortSignal.timeout(5) }) // HERE timeout
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
  parse() {
    JSON.parse('{"price": }') // HERE parse
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
  dom() {
    document.querySelector('p[') // HERE dom
  },
  url() {
    return new URL('http://') // HERE url
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
      for (const step of ['basket', 'address', 'payment']) Sentry.addBreadcrumb({ category: 'step', message: `${step} shown`, level: 'info' })
      Sentry.captureException(new OrderError('order 77: the bank said no')) // HERE scoped
    })
  },
}

document.getElementById('go').addEventListener('click', async () => {
  for (const [kind, fail] of Object.entries({ ...kinds, ...window.minified })) {
    Sentry.setTag('kind', kind)
    try {
      await fail({ price: {} })
    } catch (error) {
      Sentry.captureException(error) // HERE captured
    }
  }
  Sentry.setTag('kind', 'reject')
  Promise.reject(new RangeError('nobody waits')) // HERE reject
  setTimeout(async () => {
    await Sentry.flush(20000)
    document.title = 'done'
  })
})
document.getElementById('boom').addEventListener('click', () => {
  Sentry.setTag('kind', 'boom')
  setTimeout(async () => {
    await Sentry.flush(20000)
    document.title = 'over'
  })
  kinds.custom.call.missing.total() // HERE boom
})
