// Pictures of every view, light and dark, wide and narrow, into the named folder:
// node e2e/shots.mjs shots
import { mkdirSync } from 'node:fs';
import { api, browser, enter, send, tab, until, url } from './browser.mjs';
import { group, occurrence, seed } from './seed.mjs';

const folder = process.env.ERRATA_SHOTS || process.argv[2] || 'shots';
mkdirSync(folder, { recursive: true });

const b = await browser();
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const schemes = ['light', 'dark'];
let n = 0;

async function each(name, take, only = Object.keys(sizes)) {
  for (const size of only) {
    for (const colorScheme of schemes) {
      const { context, page, problems } = await tab(b, { viewport: sizes[size], colorScheme, reducedMotion: 'reduce' });
      try {
        await take(page);
        await page.waitForTimeout(250);
        await page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png` });
        n++;
      } catch (error) {
        console.log(`${name} ${size} ${colorScheme}: ${error.message.split('\n')[0]}`);
        process.exitCode = 1;
      }
      if (problems.length) console.log(`${name} ${size} ${colorScheme}: ${problems[0]}`);
      await context.close();
    }
  }
}

await each('signin', async (page) => { await page.goto(`${url}/`); await page.waitForSelector('.signin'); });

let { meta } = await api('GET', '/tools/logs/errors?limit=1');
if (meta.total === 0) {
  await each('firstrun', async (page) => { await enter(page); await page.waitForSelector('.firstrun .snippets'); });
}
if (meta.total < 40) {
  await seed();
  await until('the seed', async () => (await api('GET', '/tools/logs/errors?limit=1')).meta.total >= 40);
  const { data } = await api('GET', '/tools/logs/errors?limit=30&order=count');
  await api('POST', '/tools/logs/errors/status', { signatures: data.slice(20, 24).map((r) => r.signature), status: 'resolved' });
  await api('POST', '/tools/logs/errors/status', { signatures: data.slice(24, 27).map((r) => r.signature), status: 'muted' });
}
const { data: rows } = await api('GET', '/tools/logs/errors?order=count&limit=5');
const record = `record=${rows[0].signature}${rows[0].type === 'database' ? '&book=database' : ''}`;

const list = async (page, place = '') => { await enter(page, place); await page.waitForSelector('.list-rows .line'); await page.waitForSelector('.spark', { timeout: 3000 }).catch(() => {}); };

await each('errors', (page) => list(page));
await each('errors-filtered', (page) => list(page, '?levels=error,fatal&status=open&file=src*&order=count'));
await each('errors-selected', async (page) => {
  await list(page);
  for (const i of [1, 2, 4]) await page.locator('.list-rows .line input').nth(i).click();
});
await each('errors-none', async (page) => { await enter(page, '?search=nothing+has+this'); await page.waitForSelector('.state.empty'); });
await each('record', async (page) => { await enter(page, `?${record}`); await page.waitForSelector('.stack-trace'); await page.waitForSelector('.plot canvas'); });
for (let i = 0; i < 30; i++) await send([occurrence('PaymentError', i)]);
await send([group('ExceptionGroup')]);
await until('their records', async () => (await api('GET', '/tools/logs/errors?exception_class=PaymentError')).data.some((r) => r.count >= 30) && (await api('GET', '/tools/logs/errors?exception_class=ExceptionGroup')).meta.total === 1);
const happened = async (page, name, more = '') => {
  const [{ signature }] = (await api('GET', `/tools/logs/errors?exception_class=${name}`)).data;
  await enter(page, `?record=${signature}${more}`);
  await page.waitForSelector('.stack-trace');
  await page.waitForSelector('.facet');
};
await each('occurrence', (page) => happened(page, 'PaymentError'));
await each('occurrence-whole', async (page) => { await happened(page, 'PaymentError'); await page.setViewportSize({ width: page.viewportSize().width, height: 2600 }); });
await each('occurrence-first', async (page) => { await happened(page, 'PaymentError', '&occurrence=first'); await page.getByRole('button', { name: '1 earlier one' }).click(); await page.locator('.crumb-data > summary').click(); });
await each('occurrence-list', async (page) => { await happened(page, 'PaymentError'); await page.getByRole('button', { name: 'All occurrences' }).click(); await page.waitForSelector('#occurrences tbody'); });
await each('occurrence-group', (page) => happened(page, 'ExceptionGroup'));
await each('errors-tag', (page) => list(page, '?tag=feature:checkout'));
await each('delete', async (page) => {
  await list(page);
  await page.locator('.list-rows .line input').nth(1).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.waitForSelector('dialog[open]');
});
await each('keyboard', async (page) => { await list(page); await page.keyboard.press('?'); await page.waitForSelector('dialog[open]'); });
await each('menu', async (page) => { await list(page); await page.locator('.topbar .menu summary').click(); });
await each('overview', async (page) => { await enter(page, '?view=overview'); await page.waitForSelector('.page h1'); await page.waitForTimeout(1200); });
await each('projects', async (page) => { await enter(page, '?view=projects'); await page.waitForSelector('.projects .table'); });
await each('project', async (page) => {
  await enter(page, '?view=projects&id=1');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.keyboard.type('ChunkLoadError*');
  await page.getByLabel('Slug').fill('Not a slug');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForSelector('.field.wrong');
});
await each('undo', async (page) => {
  await list(page);
  for (const i of [1, 2]) await page.locator('.list-rows .line input').nth(i).click();
  await page.keyboard.press('m');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).waitFor();
  await page.keyboard.press('z');
  await page.getByText('2 records put back.').waitFor();
});
for (const name of ['logging', 'two-step', 'location', 'addresses', 'modules', 'keys', 'audit', 'cleanup', 'import']) {
  await each(`settings-${name}`, async (page) => { await enter(page, `?view=settings&tab=${name}`); await page.waitForSelector('.settings-content > *'); await page.waitForTimeout(600); });
}
// With several projects, last: before, there is nothing to choose.
const { data: desk } = await api('POST', '/projects', { name: 'Help desk', platform: 'python-django' });
await fetch(`${url}/api/v1/events`, {
  method: 'POST', headers: { Authorization: `Bearer ${desk.key}`, 'Content-Type': 'application/json' },
  body: JSON.stringify(['production', 'staging', 'staging'].map((environment, i) => ({ exception_class: `Ticket${'ABC'[i]}Error`, message: 'a ticket was not saved', file: 'desk/tickets.py', line: 7, environment, release: `2.${i}.0` }))),
});
await api('PATCH', `/projects/${desk.id}`, { limits: { events_per_minute: 600, new_records_per_hour: null }, noise: [{ set: 'crawlers', action: 'drop' }] });
await until('its records', async () => (await api('GET', `/tools/logs/errors?project=${desk.slug}`)).meta.total === 3);
await each('whose-all', (page) => list(page));
await each('whose-scoped', (page) => list(page, `?project=${desk.slug}&environment=staging`));
await each('whose-matching', async (page) => {
  await list(page, '?limit=25&levels=error');
  await page.getByLabel('Select all on this page').click();
  await page.getByRole('button', { name: /that match$/ }).click();
  await page.locator('.bulk').getByRole('button', { name: 'Delete…' }).click();
  await page.waitForSelector('dialog[open]');
});
await each('whose-overview', async (page) => { await enter(page, '?view=overview'); await page.locator('.by-project').scrollIntoViewIfNeeded(); });
await b.close();
console.log(`${n} pictures in ${folder}`);
