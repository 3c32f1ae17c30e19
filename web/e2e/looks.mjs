// Accessibility, dark, phone, zoom: every view, axe finds nothing, nothing
// sticks out to the side.
import { all, clean, colours, layout } from './axe.mjs';
import { api, check, enter, event, run, send, until, url } from './browser.mjs';

if ((await api('GET', '/tools/logs/errors?limit=1')).meta.total === 0) {
  await send([event('LooksError', 'to be looked at')]);
  await until('a record', async () => (await api('GET', '/tools/logs/errors?limit=1')).meta.total > 0);
}
const { data: [row] } = await api('GET', '/tools/logs/errors?limit=1');

const settings = ['logging', 'two-step', 'location', 'addresses', 'modules', 'keys', 'audit', 'cleanup', 'import'];
const places = {
  // A few rows: axe looks at each of them.
  errors: ['?limit=6', '.list-rows .line'],
  filtered: ['?limit=6&levels=error,fatal&file=*&min_occurrence=1', '.chip'],
  none: ['?search=nothing+has+this', '.state.empty'],
  record: [`?limit=6&record=${row.signature}${row.type === 'database' ? '&book=database' : ''}`, '.plot canvas'],
  missing: ['?limit=6&record=00000000000000000000000000000000', '.record .failure'],
  overview: ['?view=overview', 'h1'],
  ...Object.fromEntries(settings.map((tab) => [`settings ${tab}`, [`?view=settings&tab=${tab}`, '.settings-content > *']])),
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
  await page.goto(`${url}/${place}`);
  await page.waitForSelector(ready);
  await page.waitForTimeout(350);
}

// 200 % of 1280 pixels leaves 640.
const looks = {
  light: [all, { colorScheme: 'light' }],
  dark: [colours, { colorScheme: 'dark' }],
  phone: [layout, { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true }],
  'at 200 %': [layout, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
};

const steps = {};
for (const [name, [rules, options]] of Object.entries(looks)) {
  steps[name] = async (open) => {
    const { page } = await open({ ...options, reducedMotion: 'reduce' });
    await page.goto(`${url}/`);
    await page.waitForSelector('.signin');
    await clean(page, 'sign in', rules);
    await enter(page);
    for (const [where, place] of Object.entries(places)) {
      await go(page, place);
      await clean(page, where, rules);
      await fits(page, where);
    }
    // What opens on top.
    await go(page, places.errors);
    await page.locator('.list-rows .line input').first().click();
    await clean(page, 'selected', rules);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.waitForSelector('dialog[open]');
    await clean(page, 'question', rules);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await clean(page, 'help', rules);
    await page.keyboard.press('Escape');
    if (await page.locator('.filters-toggle').isVisible()) await page.locator('.filters-toggle').click();
    for (const menu of await page.locator('details.menu > summary:visible').all()) {
      await menu.click();
      await clean(page, `menu ${await menu.innerText()}`, rules);
      await fits(page, `menu ${await menu.innerText()}`);
      await page.keyboard.press('Escape');
    }
  };
}

steps['dark is dark'] = async (open) => {
  const shade = async (options) => {
    const { page } = await open(options);
    await enter(page);
    await page.waitForSelector('.list-rows .line');
    return page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
  };
  check((await shade({ colorScheme: 'dark' })) < 150, 'dark is light');
  check((await shade({ colorScheme: 'light' })) > 600, 'light is dark');
  const { page } = await open({ colorScheme: 'light' });
  await enter(page);
  await page.waitForSelector('.list-rows .line');
  await page.locator('.topbar .menu.end summary').click();
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  await page.reload();
  await page.waitForSelector('.list-rows .line');
  check((await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0))) < 150, 'the chosen theme is forgotten');
};

steps['everything can be reached with Tab, and is seen to be'] = async (open) => {
  const { page } = await open();
  await enter(page);
  await page.waitForSelector('.list-rows .line');
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      const s = getComputedStyle(e);
      return { name: e.outerHTML.slice(0, 60), ring: s.outlineStyle !== 'none' || e.closest('.segments') !== null };
    });
    check(at.ring, `no ring around ${at.name}`);
    seen.add(at.name);
  }
  check(seen.size > 25, `Tab reaches only ${seen.size} things`);
};

await run(steps);
