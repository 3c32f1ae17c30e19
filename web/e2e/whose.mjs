// Whose error it is: one project of several, environments and releases with their
// own counts, and commands over all that match.
import { clean } from './axe.mjs';
import { api, check, enter, id, run, settled, until, url } from './browser.mjs';

const rows = (page) => page.locator('.list-rows .line');
const list = async (query) => (await api('GET', `/tools/logs/errors?${query}`)).data;
const made = async (name) => (await api('POST', '/projects', { name: `${name} ${id().slice(0, 8)}`, platform: 'go' })).data;
/** Sends events of a project. */
const send = async (project, ...events) => {
  const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers: { Authorization: `Bearer ${project.key}`, 'Content-Type': 'application/json' }, body: JSON.stringify(events) });
  check(response.status === 202, `send: ${response.status}`);
};
const seen = (name, n) => until(`${n} of ${name}`, async () => (await list(`search=${name}`)).reduce((sum, r) => sum + r.count, 0) === n);
/** A class that no other step has. */
const fresh = (name) => `${name}${id().slice(0, 8)}`;
const select = (page) => page.getByRole('combobox', { name: 'Project' });
const at = (page, name) => new URL(page.url()).searchParams.get(name);
const times = (n, event) => Array.from({ length: n }, () => event);

// No step minds another: each has projects and records of its own.
await run({
  'the list and the overview follow the chosen project': async (open) => {
    const { page } = await open();
    const name = fresh('Follow');
    const [shop, desk] = [await made('Shop'), await made('Desk')];
    await send(shop, { exception_class: `${name}A`, message: 'of the shop' });
    await send(desk, ...times(2, { exception_class: `${name}B`, message: 'of the desk' }));
    await seen(name, 3);
    const streams = [];
    page.on('request', (r) => { if (new URL(r.url()).pathname.endsWith('/stream')) streams.push(new URL(r.url()).searchParams.get('project') ?? ''); });
    await enter(page, `?search=${name}`);
    await until('two rows', async () => (await rows(page).count()) === 2);
    await rows(page).filter({ hasText: `${name}A` }).locator('.c-project', { hasText: shop.name }).waitFor();
    await clean(page, 'two projects');
    // By the keyboard.
    await page.keyboard.press('p');
    await page.waitForFunction(() => document.activeElement?.matches('.project-switch'));
    await page.keyboard.type(shop.name);
    await until('the choice', () => at(page, 'project') === shop.slug);
    await until('one row', async () => (await rows(page).count()) === 1 && (await page.locator('.c-project').count()) === 0);
    await until('a stream of the project', () => streams.at(-1) === shop.slug);
    await clean(page, 'one project');
    // Changes of the other one are not told, those of this one are.
    await page.locator('.live.is-live').waitFor();
    await send(desk, { exception_class: `${name}B`, message: 'of the desk' });
    await send(shop, { exception_class: `${name}A`, message: 'of the shop' });
    await rows(page).locator('.c-count', { hasText: '2' }).waitFor();
    check((await rows(page).count()) === 1, 'a row of another project came');
    // Views keep it, and so does a reload.
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    check(at(page, 'project') === shop.slug && (await select(page).inputValue()) === shop.slug, 'the overview forgets it');
    await until('the events of the project alone', async () => (await page.locator('.legend tfoot b').innerText()) === '2');
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.reload();
    await until('its row alone', async () => (await rows(page).count()) === 1);
    await rows(page).first().getByRole('link').click();
    await page.locator('.sums').getByRole('link', { name: shop.name }).waitFor();
    await select(page).selectOption('');
    await until('all of them, with no record open', async () => at(page, 'project') === null && at(page, 'record') === null && (await rows(page).count()) > 1);
  },

  'environments and releases have counts of their own': async (open) => {
    const { page } = await open();
    const name = fresh('Scoped');
    const shop = await made('Scoped');
    const of = (environment, release) => ({ exception_class: name, message: 'somewhere', environment, release });
    await send(shop, ...times(3, of('production', '1.4.1')), ...times(2, of('Staging, EU', '1.4.2')));
    await seen(name, 5);
    await enter(page, `?search=${name}`);
    const count = rows(page).first().locator('.c-count');
    const counts = (n) => until(`a count of ${n}`, async () => (await count.innerText()) === String(n));
    await counts(5);
    const menu = (label) => page.locator('.name-picker > summary', { hasText: label });
    await menu('Environment').click();
    await clean(page, 'environments', undefined, '.name-picker[open]');
    await page.getByRole('checkbox', { name: 'Staging* EU' }).click();
    await counts(2);
    check(at(page, 'environment') === 'Staging* EU', `the address has ${at(page, 'environment')}`);
    await page.getByText('count, first and last are those in environment Staging* EU').waitFor();
    await page.keyboard.press('Escape');
    await menu('Release').click();
    await page.getByLabel('Another release').fill('1.4.*');
    await page.keyboard.press('Enter');
    await page.getByText('environment Staging* EU and release 1.4.*').waitFor();
    await counts(2);
    await clean(page, 'a scoped list');
    // The stream tells whole records: what happens elsewhere does not count here.
    await page.locator('.live.is-live').waitFor();
    await page.evaluate(() => {
      globalThis.shown = new Set();
      const look = () => globalThis.shown.add(document.querySelector('.list-rows .c-count')?.textContent);
      new MutationObserver(look).observe(document.querySelector('.list-rows'), { subtree: true, childList: true, characterData: true });
    });
    await send(shop, of('production', '1.4.1'));
    await seen(name, 6);
    await send(shop, of('Staging, EU', '1.4.3'));
    await counts(3);
    const shown = await page.evaluate(() => [...globalThis.shown]);
    check(shown.every((n) => n === '2' || n === '3'), `it has shown ${shown}`);
    await rows(page).first().getByRole('link').click();
    const numbers = page.locator('.numbers');
    await numbers.getByText('7×').waitFor();
    check(/Within the filter\s*3×/.test(await numbers.innerText()), `the record says ${await numbers.innerText()}`);
    const whole = page.locator('.record-all');
    for (const link of [shop.name, 'Staging, EU', 'production', '1.4.3', '1.4.1', '1.4.2']) await whole.getByRole('link', { name: link, exact: true }).waitFor();
    await clean(page, 'its record');
    await whole.getByRole('link', { name: 'production' }).click();
    await until('the link to what was seen there', () => at(page, 'environment') === 'production' && at(page, 'release') === null);
    await counts(4);
  },

  'what is refused of a project stands in sight': async (open) => {
    const { page } = await open();
    const shop = await made('Marked');
    await api('PATCH', `/projects/${shop.id}`, { archived: true, limits: { events_per_minute: 600, new_records_per_hour: null }, noise: [{ field: 'class', match: 'Bot*', action: 'drop' }] });
    await enter(page, `?project=${shop.slug}`);
    await page.getByText('This project has no record.').waitFor();
    // The list may be there before the projects are.
    await page.getByRole('link', { name: 'Its DSN' }).waitFor();
    await until('three marks', async () => (await page.locator('.mark-link').allInnerTexts()).join() === 'archived,own limits,drops noise');
    check((await page.getByText('own limits').getAttribute('title')) === 'It may send 600 events a minute', 'the limit is not named');
    check((await select(page).locator(':checked').innerText()) === `${shop.name} (archived)`, 'the switcher does not say that it is archived');
    await clean(page, 'marks');
    await page.getByText('drops noise').click();
    await page.getByRole('heading', { name: shop.name, level: 2 }).waitFor();
    // Only here, because the other steps send errors.
    await page.route('**/tools/logs/settings', async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      await route.fulfill({ response, json: { data: { ...data, error_log: false } } });
    });
    await page.goto(`${url}/`);
    await page.locator('.mark-link', { hasText: 'recording off' }).waitFor();
    await clean(page, 'recording off');
  },

  'all that match, also those of other pages': async (open) => {
    const { page } = await open();
    const name = fresh('Match');
    const shop = await made('Match');
    await send(shop, ...[1, 2, 3, 4, 5].map((n) => ({ exception_class: `${name}${'abcdef'[n]}`, message: 'one of five' })));
    await seen(name, 5);
    const asked = [];
    page.on('request', (r) => { if (['POST', 'DELETE'].includes(r.method()) && /errors(\/status)?$/.test(r.url())) asked.push(JSON.parse(r.postData())); });
    const all = page.getByLabel('Select all on this page');
    const bulk = page.locator('.bulk');
    const every = bulk.getByRole('button', { name: 'Select all 5 that match' });
    // Who chooses by occurrences is told that whole records are meant.
    await enter(page, `?search=${name}&limit=2&environment=(unknown)`);
    await all.click();
    await every.click();
    await bulk.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByText('These are whole records').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    // A whole project is deleted only by who types the number.
    await page.goto(`${url}/?limit=2&project=${shop.slug}`);
    await rows(page).nth(1).waitFor();
    check((await page.getByLabel('Rows').locator(':checked').innerText()) === '2', 'the number of rows of the address is not shown');
    await all.click();
    await every.click();
    await bulk.getByRole('button', { name: 'Delete…' }).click();
    check(await page.getByRole('dialog').getByRole('button', { name: 'Delete 5' }).isDisabled(), 'a whole project goes with one click');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${url}/?search=${name}&limit=2&levels=error&project=${shop.slug}`);
    await all.click();
    await every.click();
    await bulk.getByText('All 5 that match selected').waitFor();
    await clean(page, 'all selected');
    // One that is taken out ends it.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await bulk.getByText('1 selected').waitFor();
    await page.keyboard.press('x');
    await every.click();
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Mute all 5 records that match?' }).waitFor();
    check((await dialog.getByRole('listitem').allInnerTexts()).join() === `Project: ${shop.slug},Search: ${name},Level: error`, 'the filter is not named');
    await dialog.getByText('There is no undo for this').waitFor();
    await clean(page, 'mute all?', undefined, 'dialog[open]');
    await dialog.getByRole('button', { name: 'Mute 5' }).click();
    await page.getByText('5 records muted.').waitFor();
    check((await page.locator('.toast').getByRole('button', { name: 'Undo' }).count()) === 0, 'it offers an undo');
    check((await list(`search=${name}&status=muted`)).length === 5, 'not all are muted');
    await all.click();
    await every.click();
    // One more since then: the answer counts it.
    await send(shop, { exception_class: `${name}more`, message: 'the sixth' });
    await seen(name, 6);
    await bulk.getByRole('button', { name: 'Delete…' }).click();
    await clean(page, 'delete all?', undefined, 'dialog[open]');
    await dialog.getByRole('button', { name: /^Delete \d/ }).click();
    await page.getByText('6 records deleted.').waitFor();
    await page.getByText('No record matches').waitFor();
    check(JSON.stringify(asked) === JSON.stringify([{ filter: { project: shop.slug, search: name, levels: 'error' }, status: 'muted' }, { filter: { project: shop.slug, search: name, levels: 'error' } }]), `asked ${JSON.stringify(asked)}`);
    check((await list(`search=${name}`)).length === 0, 'some are left');
  },

  'the overview by project': async (open) => {
    const { page } = await open();
    const shop = await made('Overview');
    await send(shop, ...times(30, { exception_class: fresh('Sum'), message: 'counted' }));
    await until('its events', async () => (await api('GET', `/projects/${shop.id}`)).data.totals?.events_24h === 30);
    await enter(page, '?view=overview');
    const line = page.locator('.by-project li', { hasText: shop.name });
    await line.getByRole('link', { name: '30 events' }).waitFor();
    await page.locator('.top-name', { hasText: `${shop.name} ` }).first().waitFor();
    await clean(page, 'the overview by project');
    await line.getByRole('link', { name: shop.name }).click();
    await until('its overview', async () => at(page, 'project') === shop.slug && at(page, 'view') === 'overview' && (await page.locator('.by-project').count()) === 0);
    await page.goBack();
    await line.getByRole('link', { name: '30 events' }).click();
    await until('its records', async () => at(page, 'project') === shop.slug && at(page, 'date_range') === '24h' && (await rows(page).count()) === 1);
    await page.getByRole('link', { name: 'Projects' }).click();
    const row = page.getByRole('row', { name: shop.name });
    await row.waitFor();
    check((await row.getByRole('link').allInnerTexts()).slice(1).join() === '1,30', 'its totals are not told');
    // The choice changes nothing here, and stays for the views that follow it.
    check((await select(page).count()) === 0, 'projects have a choice of a project');
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('navigation', { name: 'Settings' }).waitFor();
    check((await select(page).count()) === 0, 'settings have a choice of a project');
    await views.getByRole('link', { name: 'Errors' }).click();
    await until('the choice', async () => (await select(page).inputValue()) === shop.slug);
    await settled(page);
  },

  'a key that may not see projects is told which one is chosen': async (open) => {
    const { page } = await open();
    const shop = await made('Narrow');
    const { key } = (await api('POST', '/keys', { name: fresh('narrow'), kind: 'adm', scopes: ['Tools/GetErrorLogs'] })).data;
    await enter(page, `?project=${shop.slug}`, key);
    await page.locator('.chip', { hasText: `Project: ${shop.slug}` }).click();
    await rows(page).first().waitFor();
    check(at(page, 'project') === null && (await select(page).count()) === 0, 'the filter stays');
  },
}, 2);
