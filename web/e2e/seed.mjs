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

const source = {
  filename: 'shop/payment.py', function: 'charge', module: 'shop.payment', lineno: 118, colno: 19, in_app: true,
  pre_context: ['def charge(order, card):', '    # the gateway is often away', '    for attempt in range(3):', '        response = gateway.charge(order.total, card)', '        if response.status == 502:'],
  context_line: '            raise RuntimeError("payment gateway answered 502")',
  post_context: ['    return response.json()', ''],
  vars: { order: { id: 42 }, attempt: 3, card: '4111 1111 1111 1111' },
};
const frames = [{ filename: 'manage.py', function: 'main', lineno: 22, in_app: true }, { filename: 'django/base.py', function: 'view', lineno: 104, in_app: false }, { filename: 'django/wsgi.py', function: 'call', lineno: 12, in_app: false }, source];

/** An occurrence of the record of a name, with all that an SDK tells; i sets it apart from the others. */
export function occurrence(name, i, more = {}) {
  const at = Date.now() / 1000 - 3600 + i * 60;
  return event(name, `charge ${name} failed`, {
    platform: 'python', timestamp: at, environment: i % 4 === 3 ? 'staging' : 'production', release: i < 20 ? 'shop@1.4.1' : 'shop@1.4.2', server_name: `web-${i % 3}`, user: { id: `u-${i % 5}` }, transaction: 'pay',
    tags: { feature: i % 2 ? 'cart' : 'checkout', tenant: 'acme' },
    exception: { values: [{ type: name, value: `charge ${name} failed`, mechanism: { type: 'flask', handled: false }, stacktrace: { frames } }] },
    breadcrumbs: { values: [
      { timestamp: at - 65, category: 'auth', message: `signed in as u-${i % 5}`, level: 'info' },
      { timestamp: at - 20, category: 'ui.click', message: 'button#basket', level: 'info' },
      { timestamp: at - 9, category: 'ui.click', message: 'button#pay', level: 'info' },
      { timestamp: at - 2.5, type: 'http', category: 'httplib', level: 'error', data: { method: 'POST', url: 'https://pay.example/charge', status_code: 502 } },
    ] },
    contexts: { device: { family: 'Desktop', arch: 'x86_64' }, app: { memory: { rss: 118230016 } } },
    ...more,
  });
}

/** An exception group: two members, one of which has a cause. */
export function group(name) {
  const value = (type, exception_id, parent_id, more = {}) => ({
    type, value: `${type} said so`, stacktrace: { frames: [{ filename: `shop/${type}.py`, lineno: 7, function: 'go', in_app: true }] },
    mechanism: { type: 'chained', exception_id, ...(parent_id === null ? {} : { parent_id }), ...more },
  });
  return event(name, 'x', { platform: 'python', exception: { values: [value('Root', 3, 2), value('Second', 2, 0), value('First', 1, 0), value(name, 0, null, { is_exception_group: true })] } });
}

if (import.meta.url === `file://${process.argv[1]}`) console.log(`${await seed(Number(process.argv[2] ?? 1))} events sent`);
