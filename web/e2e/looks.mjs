// Accessibility, dark, phone, zoom: in every view axe finds nothing, and nothing
// is wider than the page.
import { all, clean, colours, layout } from './axe.mjs';
import { api, check, counted, enter, event, run, send, settled, until, url, visit } from './browser.mjs';

const errors = '/tools/logs/errors';
const listed = async () => (await api('GET', `${errors}?limit=100`)).data;
if ((await listed()).length < 6) {
  // Every level, both books, every status.
  const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'fatal'];
  const events = levels.map((level) => event(`Looks\\${level}`, `to be looked at: ${level}`, { level, tags: level === 'notice' ? { book: 'database' } : { feature: 'looks' } }));
  const of = async (level) => (await listed()).find((r) => r.level === level);
  await send(events);
  await until('the records', async () => (await listed()).length >= levels.length);
  const move = async (level, status) => api('POST', `${errors}/status`, { signatures: [(await of(level)).signature], status });
  await move('fatal', 'resolved');
  await move('debug', 'muted');
  await move('error', 'resolved');
  await send([events[levels.indexOf('error')]]);
  await until('what is seen again', async () => (await of('error')).regressed);
}
const [row] = (await api('GET', `${errors}?limit=1&levels=error,critical&types=system`)).data;

const settings = ['logging', 'two-step', 'location', 'addresses', 'modules', 'keys', 'audit', 'cleanup', 'import', 'replay', 'dead'];
// Each view with something that only it shows.
const places = {
  // A few rows: axe checks each of them.
  errors: ['?limit=8', '.list-rows .line'],
  filtered: ['?limit=8&levels=error,fatal&file=*&min_occurrence=1', '.chip'],
  none: ['?search=nothing+has+this', '.state.empty'],
  record: [`?limit=8&record=${row.signature}`, '.plot canvas'],
  missing: ['?limit=8&record=00000000000000000000000000000000', '.record .failure'],
  overview: ['?view=overview', '.over-time canvas'],
  projects: ['?view=projects', '.projects .table'],
  project: ['?view=projects&id=1', '.projects .rules-add'],
  ...Object.fromEntries(settings.map((tab) => [`settings ${tab}`, [`?view=settings&tab=${tab}`, `.tabs a[aria-current][href$="tab=${tab}"]`]])),
};

async function fits(page, where) {
  const wide = await page.evaluate(() => {
    const w = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= w) return '';
    const e = [...document.querySelectorAll('body *')].find((x) => x.getBoundingClientRect().right > w + 1);
    return `${document.documentElement.scrollWidth} of ${w}: ${e?.outerHTML.slice(0, 120)}`;
  });
  check(wide === '', `${where} sticks out: ${wide}`);
}

async function go(page, [place, ready]) {
  await visit(page, place);
  await page.locator(ready).first().waitFor({ state: 'attached' });
  await settled(page);
}

// 200 % of 1280 pixels leaves 640; 400 % leaves 320. The phone shows the dark
// colours of the narrow layout.
const looks = {
  light: [all, { colorScheme: 'light' }],
  dark: [colours, { colorScheme: 'dark' }],
  phone: [all, { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true }],
  'at 200 %': [layout, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  'at 400 %': [layout, { viewport: { width: 320, height: 700 }, colorScheme: 'dark' }],
};

const steps = {};
for (const [name, [rules, options]] of Object.entries(looks)) {
  steps[name] = async (open) => {
    const { page } = await open({ ...options, reducedMotion: 'reduce' });
    await page.goto(`${url}/`);
    await page.waitForSelector('.signin');
    await clean(page, 'sign in', rules);
    await enter(page);
    await page.waitForSelector('.list-rows .line');
    for (const [where, place] of Object.entries(places)) {
      await go(page, place);
      await clean(page, where, rules);
      await fits(page, where);
    }
    // Boxes that open on top.
    await go(page, places.errors);
    await page.locator('.list-rows .line input').first().click();
    await page.waitForSelector('.bulk');
    await clean(page, 'selected', rules);
    await fits(page, 'selected');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.waitForSelector('dialog[open]');
    await clean(page, 'question', rules, 'dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await clean(page, 'help', rules, 'dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    if (await page.locator('.filters-toggle').isVisible()) await page.locator('.filters-toggle').click();
    const menus = page.locator('details.menu > summary:visible');
    await until('at least four menus', async () => (await menus.count()) >= 4);
    for (const menu of await menus.all()) {
      await menu.click();
      await page.waitForSelector('details.menu[open]');
      await clean(page, `menu ${await menu.innerText()}`, rules, 'details.menu[open]');
      await fits(page, `menu ${await menu.innerText()}`);
      await page.keyboard.press('Escape');
      await page.waitForSelector('details.menu[open]', { state: 'detached' });
    }
  };
}

steps['dark is dark'] = async (open) => {
  const { page } = await open({ colorScheme: 'light' });
  const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
  await enter(page);
  await page.waitForSelector('.list-rows .line');
  await until('light', async () => (await shade()) > 600);
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('dark, as the system is', async () => (await shade()) < 150);
  await page.emulateMedia({ colorScheme: 'light' });
  await until('light again', async () => (await shade()) > 600);
  await page.locator('.topbar .menu.end summary').click();
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  await until('dark, as it was chosen', async () => (await shade()) < 150);
  await page.reload();
  await page.waitForSelector('.list-rows .line');
  await until('dark, as it was chosen before the reload', async () => (await shade()) < 150);
};

/** A zone in which the day has just begun: the label of its first hour is the date, the widest there is. */
function midnight() {
  const east = (24 - new Date().getUTCHours()) % 24;
  return east <= 12 ? `Etc/GMT-${east}` : `Etc/GMT+${24 - east}`;
}

steps['no label of a chart is cut off'] = async (open) => {
  const { page } = await open({ viewport: { width: 390, height: 844 }, timezoneId: midnight() });
  await enter(page, '?view=overview');
  for (const range of ['24h', '14d']) {
    await go(page, [`?view=overview&range=${range}`, '.over-time canvas']);
    await page.getByRole('radio', { name: range === '24h' ? '24 hours' : '14 days', checked: true }).waitFor();
    await settled(page);
    // A label that reaches the edge leaves ink in the last column.
    const ink = await page.locator('.over-time canvas').evaluate((c) => {
      const { data } = c.getContext('2d').getImageData(c.width - 1, 0, 1, c.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    });
    check(ink === 0, `${range}: ${ink} pixels at the edge`);
  }
};

steps['a text from right to left is cut at its end'] = async (open) => {
  const words = { Hebrew: 'ההזמנה לא נשמרה ', Arabic: 'تعذر حفظ الطلب ', English: 'the order was not saved ' };
  const told = Object.entries(words).map(([name, text]) => event(`Script\\${name}Error`, `${text.repeat(12)}(${name})`));
  await send(Array.from({ length: 30 }, () => told).flat());
  await until('their records', async () => (await counted('exception_class=Script*Error')) >= 30 * told.length);
  const { page } = await open();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const [place, texts] of [['?exception_class=Script*Error', '.c-message a'], ['?view=overview', '.top-name']]) {
      await enter(page, place);
      for (const name of Object.keys(words)) {
        const line = page.locator(texts).filter({ hasText: `${name}Error` }).first();
        await line.waitFor();
        await settled(page);
        const shown = await line.evaluate((link) => {
          const box = link.getBoundingClientRect();
          const letter = document.createRange();
          const message = [...link.querySelectorAll('bdi')].at(-1).firstChild;
          letter.setStart(message, 0);
          letter.setEnd(message, 1);
          const at = letter.getBoundingClientRect();
          return at.left >= box.left - 1 && at.right <= box.right + 1;
        });
        check(shown, `${name} at ${width} in ${place}: the beginning of the message is cut off`);
      }
    }
  }
};

steps['everything can be reached with Tab, and is seen to be'] = async (open) => {
  const { page } = await open();
  await enter(page);
  await page.waitForSelector('.list-rows .line');
  // A redraw meanwhile could take the focus with it.
  await settled(page);
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return null;
      const s = getComputedStyle(e);
      return { name: e.outerHTML.slice(0, 60), ring: s.outlineStyle !== 'none' || e.closest('.segments') !== null };
    });
    // After the last one.
    if (!at) break;
    check(at.ring, `no ring around ${at.name}`);
    seen.add(at.name);
  }
  check(seen.size > 25, `Tab reaches only ${seen.size} things`);
};

// These steps only look.
await run(steps, 2);
