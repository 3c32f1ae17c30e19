// A shop in a page with @sentry/browser, which is the global Sentry here.
Sentry.init({
  attachStacktrace: true,
  dsn: new URLSearchParams(location.search).get('dsn'),
  release: 'shop@1.4.2',
  environment: 'production',
})
Sentry.setUser({ id: '1204' })

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

function on(id, what) {
  document.getElementById(id).addEventListener('click', what)
}

let number = 42
on('buy', function buy() {
  try {
    load(number++)
  } catch (error) {
    Sentry.captureException(error, { tags: { book: 'database' } })
  }
})
on('say', () => Sentry.captureMessage('queue is full')) // HERE message
on('boom', () => boom({}))
on('reject', () => {
  Promise.reject(new RangeError('nobody waits')) // HERE rejected
})
