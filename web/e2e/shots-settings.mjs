// Pictures of the overview and of the settings, at rest and in use, light and
// dark, wide and narrow: node e2e/shots-settings.mjs shots [part of a name]
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { api, browser, enter, event, send, tab, until } from './browser.mjs';
import { seed } from './seed.mjs';

const folder = process.env.ERRATA_SHOTS || process.argv[2] || 'shots';
const only = process.argv[3] ?? '';
mkdirSync(folder, { recursive: true });

const b = await browser();
const sizes = {
  wide: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 } },
  // 200 % of 1280.
  large: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
};
let n = 0;

async function each(name, take, { full = false } = {}) {
  if (!name.includes(only)) return;
  for (const [size, options] of Object.entries(sizes)) {
    for (const colorScheme of size === 'large' ? ['light'] : ['light', 'dark']) {
      const { context, page, problems } = await tab(b, { ...options, colorScheme, reducedMotion: 'reduce' });
      try {
        await take(page);
        await page.waitForTimeout(200);
        await page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png`, fullPage: full });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) console.log(`${name} ${size}: ${over} px wider than the page`);
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

const settings = async (page, name, wait = '.settings-content h2') => {
  await enter(page, `?view=settings&tab=${name}`);
  await page.waitForSelector(wait);
  await page.waitForSelector('.state.loading', { state: 'detached' });
  await page.waitForTimeout(150);
};

const { meta } = await api('GET', '/tools/logs/errors?limit=1');
if (meta.total < 40) {
  await seed();
  await until('the seed', async () => (await api('GET', '/tools/logs/errors?limit=1')).meta.total >= 40);
}

/** Channels, rules and a message that a receiver here takes. */
async function prepareAlerts() {
  if ((await api('GET', '/alerts/rules')).data.length > 0) return;
  const server = createServer((request, response) => { request.resume(); response.writeHead(204).end(); });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  server.unref();
  const make = async (channel) => (await api('POST', '/alerts/channels', channel)).data.id;
  const [call, incidents] = [
    await make({ name: 'On call', kind: 'email', addresses: ['oncall@example.com'] }),
    await make({ name: 'Incidents', kind: 'webhook', url: `http://127.0.0.1:${server.address().port}/errata` }),
  ];
  await api('POST', '/alerts/rules', { name: 'New in production', environments: ['production'], when: { new: true, regressed: true }, to: [incidents] });
  await api('POST', '/alerts/rules', { name: 'Many customers', levels: ['fatal', 'critical'], when: { frequency: { count: 100, users: 20, minutes: 10 } }, to: [call, incidents] });
  await send([event('PaymentRefused', 'the bank did not answer'), event('OrderError', 'order 42 failed')]);
  await until('the message', async () => (await api('GET', '/alerts/deliveries?state=sent')).data.length > 0);
}

const overview = async (page, more = '') => {
  await enter(page, `?view=overview${more}`);
  await page.waitForSelector('.over-time canvas');
  await page.waitForSelector('.tiles:not(.waiting) .tile');
  await page.waitForSelector('.tile-value:has-text("/s")');
};
await each('overview', (page) => overview(page), { full: true });
await each('overview-14d-book', (page) => overview(page, '&range=14d&by=book'), { full: true });

for (const name of ['logging', 'two-step', 'location', 'addresses', 'modules', 'keys', 'audit', 'cleanup', 'import', 'replay', 'dead']) {
  await each(`settings-${name}`, (page) => settings(page, name), { full: true });
}

await prepareAlerts();
await each('alerts', (page) => settings(page, 'alerts', '.col-state .badge'), { full: true });
await each('alerts-rule', async (page) => {
  await settings(page, 'alerts', '.col-state .badge');
  await page.getByRole('button', { name: 'New rule…' }).click();
  await page.getByLabel('Name').fill('Often, or new in production');
  await page.getByLabel('a problem happens often in a short time').check();
  await page.getByLabel('Events', { exact: true }).fill('5');
  await page.getByLabel('Minutes', { exact: true }).fill('60');
  await page.getByRole('dialog').getByLabel('On call').check();
  await page.waitForSelector('.rehearsal li');
});
await each('alerts-channel', async (page) => {
  await settings(page, 'alerts', '.table');
  await page.getByRole('button', { name: 'New channel…' }).click();
});

await each('settings-addresses-bad', async (page) => {
  await settings(page, 'addresses', '.lines');
  await page.getByRole('switch').first().check();
  await page.locator('.lines textarea').first().fill('10.0.0.0/8\n203.0.113.300\n2001:db8::/32\nnot an address\n192.0.2.7');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForSelector('.field.wrong');
}, { full: true });
await each('settings-newkey', async (page) => {
  await settings(page, 'keys', '.table');
  await page.getByRole('button', { name: 'Create a key…' }).click();
  await page.getByRole('radio', { name: 'Admin' }).check();
  await page.getByLabel('Name').fill('report of the week');
  await page.getByRole('checkbox', { name: /GetErrorLogs/ }).check();
});
await each('settings-audit-open', async (page) => {
  await settings(page, 'audit', '.audit');
  await page.locator('.audit summary').first().click();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.waitForSelector('.verify .note');
});
await each('settings-cleanup-preview', async (page) => {
  await settings(page, 'cleanup');
  await page.getByRole('button', { name: '30 days' }).click();
  await page.waitForSelector('.preview');
  await page.getByLabel('Last day to delete').fill(new Date().toISOString().slice(0, 10));
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('button', { name: /^Delete \d/ }).click();
  await page.waitForSelector('dialog[open]');
});
await b.close();
console.log(`${n} pictures in ${folder}`);
