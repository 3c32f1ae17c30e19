// Code that the scripts share. They need a running service:
//
//	ERRATA_URL   its URL, by default http://127.0.0.1:8080
//	ERRATA_KEY   an admin key with the scope *
//	ERRATA_DSN   a DSN of it
//	CHROMIUM     the browser, by default /usr/bin/chromium-headless-shell: Chromium
//                without its window, which needs a quarter less of a processor
import { chromium } from 'playwright-core';

export const url = need('ERRATA_URL').replace(/\/$/, '');
export const key = need('ERRATA_KEY');
export const dsn = new URL(need('ERRATA_DSN'));

function need(name) {
  const value = process.env[name];
  if (!value) {
    console.error(`${name} is not set; see e2e/browser.mjs for what the scripts need.`);
    process.exit(2);
  }
  return value;
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

// Only what never comes is a failure: a busy machine takes many times as long as
// an idle one.
const patience = 30_000;
// For a whole step, below the limit that test/browser gives a script.
const stepPatience = 240_000;

/** The time limit of each wait in a page. */
const waiting = new WeakMap();

/** A tab. problems collects what must not happen in it: console errors, exceptions, reports of the policy, foreign requests. */
export async function tab(b, options = {}) {
  const context = await b.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: 'Europe/Berlin', locale: 'en-GB', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  const problems = [];
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on('console', (m) => {
    // A refused call is an expected answer; everything else is a fault.
    if (m.type() === 'error' && !/status of (401|403|404|422)/.test(m.text())) problems.push(`console: ${m.text()}`);
  });
  page.on('pageerror', (e) => problems.push(`exception: ${e.message}`));
  page.on('dialog', (d) => { problems.push(`a script ran: ${d.type()} ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => {
    if (!r.url().startsWith(url) && !r.url().startsWith('data:')) problems.push(`request to ${r.url()}`);
    if (r.url().includes('csp-report')) problems.push(`report: ${r.postData()}`);
  });
  // The stream never ends.
  const asked = new Set();
  waiting.set(page, asked);
  // The browser may not report the end of requests that a page had open when it was left,
  // nor of those that it still sends until the next one is there.
  let leaving = false;
  page.on('framenavigated', () => {
    if (leaving) asked.clear();
    leaving = false;
  });
  page.on('request', (r) => {
    if (r.isNavigationRequest()) {
      leaving = true;
      asked.clear();
    }
    if (!new URL(r.url()).pathname.endsWith('/stream')) asked.add(r);
  });
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (r) => asked.delete(r));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
  });
  return { context, page, problems };
}

/** Opens a place of the page, signed in. */
export async function enter(page, place = '', theKey = key) {
  await page.addInitScript((k) => { if (!sessionStorage.getItem('errata.key')) sessionStorage.setItem('errata.key', k); }, theKey);
  await page.goto(`${url}/${place}`);
}

/** Goes to another place like a link of the page: nothing is reloaded. */
export async function visit(page, place) {
  await page.evaluate((to) => { history.pushState(null, '', location.pathname + to); dispatchEvent(new PopStateEvent('popstate')); }, place);
}

/** Waits until the page has all its answers and has drawn them. */
export async function settled(page) {
  const asked = waiting.get(page);
  do {
    await until(() => `an answer to ${[...asked].map((r) => `${r.method()} ${r.url()}`).join(', ')}`, () => asked.size === 0);
    // Drawing an answer may cause further requests, in an effect, which runs in a
    // timer after the next frame; that effect may cause more.
    await page.evaluate(async () => {
      for (let i = 0; i < 2; i++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    });
  } while (asked.size > 0);
}

export async function api(method, path, body, theKey = key) {
  const response = await fetch(`${url}/api/v1/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${theKey}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** The number of events in the records that a filter finds. */
export async function counted(filter = '') {
  let sum = 0;
  for (let page = 1; page > 0;) {
    const { data, meta } = await api('GET', `/tools/logs/errors?limit=100&page=${page}&${filter}`);
    sum += data.reduce((n, row) => n + row.count, 0);
    page = meta.next_page;
  }
  return sum;
}

/** Sends events as a Sentry SDK would. */
export async function send(events) {
  const at = dsn.pathname.lastIndexOf('/');
  const to = `${url}${dsn.pathname.slice(0, at)}/api/${dsn.pathname.slice(at + 1)}/store/?sentry_key=${dsn.username}`;
  for (let i = 0; i < events.length; i += 8) {
    await Promise.all(events.slice(i, i + 8).map(async (event) => {
      const response = await fetch(to, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ event_id: id(), ...event }) });
      if (!response.ok) throw new Error(`send: ${response.status} ${await response.text()}`);
    }));
  }
}

let ingest;

/** Sends native events, with a key that is created for them. */
export async function sendNative(events) {
  ingest ??= (await api('POST', '/keys', { name: 'e2e', kind: 'ing', expires_in_days: 1 })).data.key;
  const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers: { Authorization: `Bearer ${ingest}`, 'Content-Type': 'application/json' }, body: JSON.stringify(events) });
  if (!response.ok) throw new Error(`send: ${response.status} ${await response.text()}`);
}

export function id() {
  return crypto.randomUUID().replaceAll('-', '');
}

/** An event with a stack. */
export function event(type, value, more = {}) {
  return {
    level: 'error', platform: 'php', timestamp: Date.now() / 1000, release: 'shop@1.4.2', environment: 'production', server_name: 'web-3',
    exception: {
      values: [{
        type, value,
        stacktrace: {
          frames: [
            { filename: 'public/index.php', lineno: 12, function: 'main', in_app: true },
            { filename: 'vendor/laravel/framework/src/Pipeline.php', lineno: 141, function: 'Pipeline::then', in_app: false },
            { filename: 'vendor/laravel/framework/src/Router.php', lineno: 802, function: 'Router::dispatch', in_app: false },
            { filename: `src/${type.split('\\').pop()}.php`, lineno: 51, function: 'load', module: 'App\\Orders', in_app: true, vars: { id: 42, name: 'order', options: { deep: true } } },
          ],
        },
      }],
    },
    request: { method: 'POST', url: 'https://shop.example/checkout?page=2', headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)', Accept: 'text/html' } },
    tags: { feature: 'checkout', tenant: 'acme' },
    extra: { cart: { items: 3, total: 119.9, lines: [{ sku: 'A-1', n: 1 }, { sku: 'B-2', n: 2 }] }, retry: true },
    ...more,
  };
}

/** Waits until something is true. what names it: a text, or a function that makes one when it is needed. */
export async function until(what, ask, ms = patience) {
  const end = Date.now() + ms;
  for (;;) {
    if (await ask()) return;
    if (Date.now() > end) throw new Error(`${typeof what === 'function' ? what() : what} did not come true within ${ms} ms`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** An event that a step triggers when it wants to. */
export function later() {
  let now;
  const come = new Promise((done) => { now = done; });
  return { come, now };
}

export function check(ok, what) {
  if (!ok) throw new Error(what);
}

/** A wait inside the page has no limit of its own. */
function within(ms, work) {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`not done within ${ms} ms`)), ms); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Runs steps one after the other, or so many at once of steps that do not mind
 * each other, and ends the process with 0 only when all of them passed.
 */
export async function run(steps, atOnce = 1) {
  const b = await browser();
  let bad = 0;
  const one = async ([name, step]) => {
    const start = Date.now();
    let t;
    try {
      await within(stepPatience, step(async (options) => (t = await tab(b, options)), b));
      if (t?.problems.length) throw new Error([...new Set(t.problems.map((p) => p.slice(0, 300)))].slice(0, 5).join('\n      '));
      console.log(`ok    ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      bad++;
      console.log(`FAIL  ${name}: ${error.message}`);
      if (process.env.ERRATA_SHOTS && t) await t.page.screenshot({ path: `${process.env.ERRATA_SHOTS}/failed-${name.replaceAll(/\W+/g, '-')}.png` }).catch(() => {});
    }
    await t?.context.close();
  };
  const left = Object.entries(steps);
  const next = async () => { while (left.length > 0) await one(left.shift()); };
  await Promise.all(Array.from({ length: atOnce }, next));
  await b.close();
  process.exit(bad ? 1 : 0);
}
