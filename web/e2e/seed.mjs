// A ledger that looks like a real one: sixty problems over two weeks.
import { event, send } from './browser.mjs';

const problems = [
  ['App\\Orders\\OrderMissing', 'order 42 was not found', 'error', 40],
  ['PDOException', 'SQLSTATE[HY000]: General error: 2006 MySQL server has gone away', 'critical', 120],
  ['TypeError', 'Cannot read properties of undefined (reading \'price\')', 'error', 300],
  ['RuntimeError', 'payment gateway answered 502 after 3 tries', 'fatal', 25],
  ['ValueError', 'invalid literal for int() with base 10: \'abc\'', 'warning', 12],
  ['redis.exceptions.ConnectionError', 'Error 111 connecting to redis:6379. Connection refused.', 'error', 88],
  ['Illuminate\\Database\\QueryException', 'Deadlock found when trying to get lock; try restarting transaction', 'error', 17],
  ['java.lang.NullPointerException', 'Cannot invoke "Cart.total()" because "cart" is null', 'error', 61],
  ['Notice', 'Undefined index: coupon', 'info', 9],
  ['DeprecationWarning', 'utf8_encode() is deprecated', 'warning', 200],
  ['net/http.Error', 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)', 'error', 33],
  ['ChunkLoadError', 'Loading chunk 17 failed. (missing: https://cdn.example/static/js/17.2b1f.chunk.js)', 'error', 70],
];

export async function seed(times = 1) {
  const now = Date.now() / 1000;
  const events = [];
  problems.forEach(([type, value, level, n], p) => {
    for (let v = 0; v < 5; v++) {
      const count = Math.max(1, Math.round((n * times) / (1 + v * 3) / 6));
      for (let i = 0; i < count; i++) {
        // Most events in the last day, the rest over two weeks.
        const ago = i % 3 === 0 ? (13 * 86400 * ((i * 7919 + p * 104729) % 1000)) / 1000 : (86400 * ((i * 6151 + p * 3571) % 1000)) / 1000;
        const e = event(v === 0 ? type : `${type}${v}`, value, { level, timestamp: now - ago, request: { method: v % 2 ? 'GET' : 'POST', url: `https://shop.example/${['checkout', 'orders', 'cart', 'api/v2/items', 'login'][v]}?page=${v}` } });
        e.exception.values[0].stacktrace.frames[3].filename = `src/${['Orders', 'Payment', 'Cart', 'Session', 'Catalog'][v]}/${type.split(/[\\./]/).pop()}.php`;
        e.exception.values[0].stacktrace.frames[3].lineno = 20 + p * 13 + v;
        events.push(e);
      }
    }
  });
  await send(events);
  return events.length;
}

if (import.meta.url === `file://${process.argv[1]}`) console.log(`${await seed(Number(process.argv[2] ?? 1))} events sent`);
