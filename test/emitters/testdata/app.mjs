// An application that makes the mistakes that its arguments name.
const { start, captureError, flush, stats } = await import(process.env.EMITTER)
class OrderError extends Error {}

function load(number) {
  try {
    throw new TypeError('no tea') // HERE cause
  } catch (cause) {
    throw new OrderError(`order ${number} failed`, { cause }) // HERE order
  }
}

start({ dsn: process.env.DSN, release: '1.4.2', root: new URL('.', import.meta.url).pathname })
for (const what of process.argv.slice(2)) {
  switch (what) {
    case 'capture':
      try { load(42) } catch (e) { console.log(captureError(e, { order: 42, cart: { tea: 2 } }), captureError(e)) }
      break
    case 'odd': {
      const cycle = {}
      cycle.cycle = cycle
      captureError('just a text')
      captureError(null)
      captureError(cycle)
      captureError(new Error('with odd tags'), { cycle })
      captureError(new AggregateError([new RangeError('too far')], 'several'))
      console.log(stats.dropped, 'dropped')
      break
    }
    case 'many':
      for (let i = 0; i < 60; i++) captureError(new SyntaxError(`parcel ${i} is lost`))
      while (!await flush()) await new Promise(resolve => setTimeout(resolve, 20))
      break
    case 'reject':
      Promise.reject(new EvalError('nobody waits'))
      await new Promise(resolve => setTimeout(resolve, 10_000))
      break
    case 'throw':
      setTimeout(() => load(50))
      await new Promise(resolve => setTimeout(resolve, 10_000))
      break
    case 'others':
      process.on('uncaughtException', e => console.log('their handler:', e.message))
      setTimeout(() => { throw new URIError('theirs, too') })
      await new Promise(resolve => setTimeout(resolve, 50))
      break
  }
}
console.log('the end')
