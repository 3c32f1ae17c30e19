// From an empty ledger to an empty ledger, with a shop on another origin whose
// errors a real SDK sends: seen, found, read, resolved, seen again, deleted. A
// second person only watches. Nobody reloads.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { api, check, enter, run, settled, tab, until } from './browser.mjs';

const errors = '/tools/logs/errors';
if ((await api('GET', `${errors}?limit=1`)).meta.total > 0) {
  console.error('The ledger is not empty.');
  process.exit(2);
}

const script = `const { dsn } = document.body.dataset
Sentry.init({ dsn, release: 'shop@2.0.1', environment: 'staging' })
Sentry.setTag('feature', 'tea counter')

class OutOfStock extends Error {
  name = 'OutOfStock'
}

function reserve(what) {
  throw new OutOfStock('no ' + what + ' is left') // HERE
}

function on(id, what) {
  document.getElementById(id).addEventListener('click', what)
}

on('reserve', () => reserve('oolong'))
on('say', () => Sentry.captureMessage('the kettle is slow', 'info'))
on('save', () => Sentry.captureException(new TypeError('the order was not saved'), { tags: { book: 'database' } }))
`;
const line = script.split('\n').findIndex((text) => text.includes('// HERE')) + 1;

const cart = (dsn) => `<!doctype html>
<meta charset="utf-8"><link rel="icon" href="data:,"><title>Tea</title>
<body data-dsn="${dsn}">
<button id="reserve">Reserve</button><button id="say">Say</button><button id="save">Save</button>
<script src="/sdk.js"></script><script src="/shop.js"></script>`;

/** The SDK as a shop would bundle it. Its names stay, because it filters its own frames by them. */
async function sdk() {
  const [{ output: [{ code }] }] = await build({
    configFile: false, logLevel: 'error',
    build: { write: false, minify: false, lib: { entry: fileURLToPath(import.meta.resolve('@sentry/browser')), formats: ['iife'], name: 'Sentry' } },
  });
  return code;
}

/** A shop that serves a page and sends to the DSN, and the URL of its cart. */
async function shop(dsn) {
  const js = 'text/javascript; charset=utf-8';
  const files = { '/sdk.js': [js, await sdk()], '/shop.js': [js, script], '/cart': ['text/html; charset=utf-8', cart(dsn)] };
  const server = createServer((request, response) => {
    const [type, text] = files[new URL(request.url, 'http://shop').pathname] ?? [];
    response.writeHead(text ? 200 : 404, { 'Content-Type': type ?? 'text/plain' }).end(text);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}/cart?page=2`;
}

const rows = (page) => page.locator('.list-rows .line');
const row = (page, text) => rows(page).filter({ hasText: text });
const tea = 'no oolong is left';
const kept = async (text) => (await api('GET', `${errors}?search=${encodeURIComponent(text)}`)).data;

/** The list shows exactly these records, in any order. */
async function shown(page, ...texts) {
  await until(`a list of ${texts.join(', ') || 'nothing'}`, async () => (await rows(page).count()) === texts.length
    && (await Promise.all(texts.map((text) => row(page, text).count()))).every((n) => n === 1));
}

/** The values of the record, by their labels. */
const facts = (page) => page.locator('.record dl > div').evaluateAll((all) => Object.fromEntries(all.map((e) => [e.querySelector('dt').textContent, e.querySelector('dd').textContent])));

async function stage(name, work) {
  const start = Date.now();
  try {
    await work();
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
  console.log(`      ${name} (${Date.now() - start} ms)`);
}

await run({
  'seen, found, read, resolved, seen again, deleted': async (open, b) => {
    const { page } = await open();
    const watching = await tab(b);
    const customer = await (await b.newContext()).newPage();
    let at;

    /** A click in the shop, in a new page each time, because the SDK sends an error of a page only once. */
    const press = async (name) => {
      await customer.goto(at);
      const answer = customer.waitForResponse((r) => r.url().includes('/envelope/') && r.request().postData().includes('"type":"event"'));
      await customer.getByRole('button', { name }).click();
      check((await answer).status() === 200, `the SDK was answered ${(await answer).status()}`);
    };

    /** Beside the record the list has no room for the status. */
    const state = async (name) => {
      for (const seen of [page.locator('.record'), row(watching.page, tea)]) await seen.locator(`.state-${name}`).waitFor();
      await row(page, tea).locator(`.state-${name}`).waitFor({ state: 'attached' });
    };

    await stage('an empty service, followed', async () => {
      for (const p of [page, watching.page]) {
        const stream = p.waitForResponse((r) => r.url().endsWith(`${errors}/stream`));
        await enter(p);
        check((await stream).status() === 200, 'the stream is refused');
        await p.getByRole('heading', { name: 'No errors yet' }).waitFor();
        await p.evaluate(() => { globalThis.since = 'the first run'; });
      }
      at = await shop(await page.locator('.secret', { hasText: 'DSN' }).locator('code').innerText());
    });

    await stage('the first error turns it into the list', async () => {
      await press('Reserve');
      for (const p of [page, watching.page]) {
        await shown(p, tea);
        await p.locator('.live.is-live').waitFor();
        await until('the first', async () => (await row(p, tea).locator('.c-count').innerText()) === '1');
      }
      await press('Say');
      await press('Save');
      await shown(page, tea, 'kettle', 'not saved');
    });

    await stage('filters narrow to it and away', async () => {
      const level = async (name, on) => {
        await page.locator('.filters .menu summary').first().click();
        await page.getByLabel(name, { exact: true }).setChecked(on);
        await page.keyboard.press('Escape');
      };
      await level('info', true);
      await shown(page, 'kettle');
      await level('info', false);
      await level('error', true);
      await shown(page, tea, 'not saved');
      await page.getByLabel('Book').selectOption('database');
      await shown(page, 'not saved');
      await page.getByLabel('Book').selectOption('system');
      await shown(page, tea);
      await page.getByRole('searchbox').fill('oolong');
      await page.waitForURL(/search=oolong/);
      await shown(page, tea);
      await page.getByRole('searchbox').fill('darjeeling');
      await page.getByText('No record matches').waitFor();
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      await shown(page, tea, 'kettle', 'not saved');
      await page.getByRole('searchbox').fill('OutOfStock');
      await shown(page, tea);
    });

    await stage('the record, field by field', async () => {
      await row(page, tea).getByRole('link').click();
      await page.waitForSelector('.plot canvas');
      await settled(page);
      check((await page.locator('.record h2').innerText()).includes('OutOfStock'), 'the class is missing');
      check((await page.locator('.record-message').innerText()) === tea, 'the message is another');
      const told = await facts(page);
      const want = {
        Seen: '1×', Book: 'system', Request: '/cart?page=2', Since: 'shop@2.0.1',
        Release: 'shop@2.0.1', Environment: 'staging', feature: 'tea counter', Platform: 'javascript', Handled: 'no: the application did not catch it',
      };
      for (const [name, value] of Object.entries(want)) check(told[name]?.endsWith(value), `${name} is ${told[name]} and not ${value}: ${JSON.stringify(told)}`);
      const frame = page.locator('.stack-trace .frame').first();
      check((await frame.innerText()).includes('reserve') && (await frame.innerText()).includes(`shop.js:${line}`), `the first frame is ${await frame.innerText()}`);
    });
    const [{ signature }] = await kept(tea);

    await stage('resolved', async () => {
      await page.locator('.record').getByRole('button', { name: 'Resolve' }).click();
      await page.getByText('1 record resolved.').waitFor();
      await state('resolved');
      check((await kept(tea))[0].status === 'resolved', 'the API does not know of it');
    });

    await stage('seen again, regressed', async () => {
      await press('Reserve');
      await state('regressed');
      for (const p of [page, watching.page]) await until('the count in the list', async () => (await row(p, tea).locator('.c-count').innerText()) === '2');
      await until('the count in the record', async () => (await facts(page)).Seen === '2×');
      await page.locator('.record').getByRole('button', { name: 'Resolve' }).waitFor();
      await page.locator('.record').getByRole('button', { name: 'Reopen' }).waitFor({ state: 'detached' });
      const found = await kept(tea);
      check(found.length === 1 && found[0].signature === signature, 'it is another record');
      check(found[0].status === 'open' && found[0].regressed && found[0].count === 2, `the API says ${JSON.stringify(found[0])}`);
    });

    await stage('deleted', async () => {
      await page.locator('.record').getByRole('button', { name: 'Delete…' }).click();
      const asked = page.locator('dialog[open]');
      await asked.getByRole('heading', { name: 'Delete 1 record?' }).waitFor();
      check((await asked.innerText()).includes('2 events'), 'it does not say how much goes');
      await asked.getByRole('button', { name: 'Delete 1 record' }).click();
      await page.getByText('1 record deleted.').waitFor();
      await page.locator('.record').waitFor({ state: 'detached' });
      await page.getByText('No record matches').waitFor();
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      for (const p of [page, watching.page]) await shown(p, 'kettle', 'not saved');
      check((await kept(tea)).length === 0, 'the API lists it');
      const answer = await api('GET', `${errors}/${signature}`).catch((error) => error.message);
      check(/: 404 /.test(answer), `the API has it: ${JSON.stringify(answer)}`);
    });

    for (const p of [page, watching.page]) check((await p.evaluate(() => globalThis.since)) === 'the first run', 'the page was loaded anew');
    check(watching.problems.length === 0, watching.problems.join());
  },
});
