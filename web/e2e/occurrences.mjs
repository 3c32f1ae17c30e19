// The single occurrences of a record: steps between them, their context, how they
// are spread, and the ways to them.
import { gzipSync } from 'node:zlib';
import { all, clean, layout } from './axe.mjs';
import { api, check, enter, id, run, send, settled, until, url, visit } from './browser.mjs';
import { group, occurrence } from './seed.mjs';

const errors = '/tools/logs/errors';
const mark = `occ${id().slice(0, 8)}`;
const one = async (name) => (await api('GET', `${errors}?exception_class=${name}`)).data[0];
const seen = (name, count) => until(`${count} of ${name}`, async () => (await one(name))?.count === count);
const many = `Many${mark}`;
const total = 32;
const known = id();
// One after the other, so that their order in the log is theirs.
for (let i = 0; i < total; i++) await send([occurrence(many, i, i === 10 ? { event_id: known } : {})]);
await seen(many, total);
const row = await one(many);

const steps = (page) => page.locator('.steps-at');
const at = (page, n, of = total) => until(`${n} of ${of}`, async () => (await steps(page).innerText()) === `${n} of ${of}`);
const opened = async (page, place = `?record=${row.signature}`) => {
  await enter(page, place);
  await steps(page).waitFor();
  await settled(page);
};
const param = (page, name) => new URL(page.url()).searchParams.get(name);
const list = (page) => page.locator('#occurrences tbody tr');

await run({
  'the first load is small': async () => {
    const html = await (await fetch(`${url}/`, { headers: { Accept: 'text/html' } })).text();
    const parts = [...html.matchAll(/(?:src|href)="\.?\/?([^"]+)"/g)].map((m) => m[1]);
    const bodies = await Promise.all(parts.map(async (part) => Buffer.from(await (await fetch(`${url}/${part}`)).arrayBuffer())));
    const kilobytes = [Buffer.from(html), ...bodies].reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0) / 1000;
    console.log(`      first load ${kilobytes.toFixed(1)} kB compressed`);
    check(parts.length >= 2 && kilobytes <= 170, `${kilobytes} kB in ${parts}`);
  },
  'the latest is shown, and keys and buttons lead to the others': async (open) => {
    const { page } = await open();
    await opened(page);
    await at(page, total);
    const strip = page.locator('.occurrence');
    for (const want of ['shop@1.4.2', 'staging', 'u-1', 'web-1', 'Transaction\npay', 'Handled\nno']) check((await strip.innerText()).includes(want), `the latest does not tell ${want}: ${await strip.innerText()}`);
    for (const [key, n] of [['h', total - 1], ['h', total - 2], ['l', total - 1], ['H', 1], ['l', 2], ['L', total]]) {
      await page.keyboard.press(key);
      await at(page, n);
      await settled(page);
    }
    check(await page.getByRole('button', { name: 'Next occurrence' }).isDisabled(), 'there is one after the latest');
    for (const [name, n] of [['First', 1], ['Next', 2], ['Previous', 1], ['Latest', total]]) {
      await page.getByRole('button', { name: `${name} occurrence`, exact: true }).click();
      await at(page, n);
      await settled(page);
    }
    await page.keyboard.press('H');
    await at(page, 1);
    for (const want of ['shop@1.4.1', 'production', 'u-0', 'web-0', 'Request\nPOST /checkout?page=2', 'Handled\nno']) check((await strip.innerText()).includes(want), `the first does not tell ${want}`);
    await page.locator('.before').getByText('signed in as u-0').waitFor({ state: 'detached' });
    await page.reload();
    await at(page, 1);
    check((await page.locator('.numbers').innerText()).replace(/\s+/g, ' ').includes(`Seen ${total}× Users 5`), `the numbers are ${await page.locator('.numbers').innerText()}`);
    await page.locator('.numbers').getByText('shop@1.4.1').waitFor();
  },
  'one that comes meanwhile is counted, and does not move what is read': async (open) => {
    const { page } = await open();
    const name = `Live${mark}`;
    await send([occurrence(name, 1), occurrence(name, 2)]);
    await seen(name, 2);
    await opened(page, `?record=${(await one(name)).signature}&search=${name}`);
    await page.locator('.live.is-live').waitFor();
    await at(page, 2, 2);
    for (const i of [3, 4]) await send([occurrence(name, i)]);
    await at(page, 2, 4);
    await page.keyboard.press('l');
    await at(page, 3, 4);
    await page.keyboard.press('L');
    await at(page, 4, 4);
  },
  'source lines, the column, variables': async (open) => {
    const { page } = await open();
    await opened(page);
    const first = page.locator('.unfolds[open]');
    check((await first.count()) === 1, `${await first.count()} frames are unfolded`);
    const here = first.locator('.code .at');
    check(/118\s+raise RuntimeError/.test((await here.innerText()).replace(/\s+/g, ' ')), `the line is ${await here.innerText()}`);
    check((await here.locator('mark').innerText()) === 'R', `the column is at ${await here.locator('mark').innerText()}`);
    for (const [kind, want] of [['word', 'raise'], ['string', 'payment gateway answered 502']]) check((await here.locator(`.is-${kind}`).first().innerText()).includes(want), `${want} is no ${kind}`);
    check((await first.locator('.code > div').count()) >= 7, 'lines are missing');
    await first.locator('.is-comment').getByText('often away').waitFor();
    const shapes = await first.locator('.variables').innerText();
    check(shapes.includes('order') && shapes.includes('card') && !shapes.includes('4111'), `the variables are ${shapes}`);
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await page.getByText('django/wsgi.py:12').waitFor();
    await page.getByRole('button', { name: 'Fold all' }).click();
    await until('all folded', async () => (await first.count()) === 0);
    await page.locator('.unfolds > summary').first().focus();
    await page.keyboard.press('Enter');
    await until('one unfolded by Enter', async () => (await first.count()) === 1);
  },
  'breadcrumbs, contexts and extra': async (open) => {
    const { page } = await open();
    await opened(page);
    const before = page.locator('.before');
    check((await before.locator('.crumbs > li').count()) === 3, 'not the last three');
    await before.getByRole('button', { name: '1 earlier one' }).click();
    await before.getByText('signed in as u-1').waitFor();
    const text = (await before.innerText()).replace(/\s+/g, ' ');
    for (const want of ['−1 min 5 s auth', '−9.0 s ui.click button#pay', '−2.5 s httplib error POST https://pay.example/charge → 502']) check(text.includes(want), `it does not tell ${want}: ${text}`);
    await before.locator('.crumb-data > summary').click();
    await before.getByText('status_code').waitFor();
    const contexts = page.locator('.part', { has: page.getByRole('heading', { name: 'Contexts' }) });
    await contexts.getByText('Desktop').waitFor();
    const extra = page.locator('.part', { has: page.getByRole('heading', { name: 'Extra' }) });
    await extra.getByText('119.9').waitFor();
  },
  'an exception group is a tree': async (open) => {
    const { page } = await open();
    const name = `Group${mark}`;
    await send([group(name)]);
    await seen(name, 1);
    await opened(page, `?record=${(await one(name)).signature}`);
    const members = page.locator('.causes.members').first().locator('> li');
    check((await members.count()) === 2, `${await members.count()} members`);
    check(/^in the group First/.test(await members.nth(0).innerText()) && /^in the group Second/.test(await members.nth(1).innerText()), `they are ${await members.allInnerTexts()}`);
    check((await members.nth(1).innerText()).includes('caused by Root'), 'the cause of a member is not below it');
    check(!(await members.nth(0).innerText()).includes('Root'), 'the cause is below the wrong member');
  },
  'facets lead to the list that they limit': async (open) => {
    const { page } = await open();
    await opened(page);
    const facet = (name) => page.getByRole('region', { name, exact: true });
    check(/production\s*75 %\s*staging\s*25 %/.test(await facet('Environments').innerText()), `environments: ${await facet('Environments').innerText()}`);
    check(/checkout\s*50 %/.test(await facet('feature').innerText()), `a tag: ${await facet('feature').innerText()}`);
    check(/shop@1\.4\.2\s*12×\s*38 %[^]*shop@1\.4\.1\s*20×\s*63 %/.test(await facet('Releases over time').innerText()), `releases: ${await facet('Releases over time').innerText()}`);
    await facet('5 users').getByRole('button', { name: 'u-3' }).click();
    await until('their occurrences', async () => (await list(page).count()) === 6);
    for (const text of await list(page).allInnerTexts()) check(text.includes('u-3'), `another user: ${text}`);
    for (const [where, link, name, value] of [['feature', 'checkout', 'tag', 'feature:checkout'], ['Environments', 'staging', 'environment', 'staging'], ['Releases over time', 'shop@1.4.1', 'release', 'shop@1.4.1']]) {
      await visit(page, `?record=${row.signature}`);
      await steps(page).waitFor();
      await facet(where).getByRole('link', { name: link }).click();
      await until(`the list of ${value}`, async () => param(page, name) === value && param(page, 'record') === null);
      await page.locator('.list-rows .line', { hasText: many }).waitFor();
      const want = { tag: 16, environment: 8, release: 20 }[name];
      await until(`${want} in the list`, async () => (await page.locator('.list-rows .line', { hasText: many }).locator('.c-count').innerText()) === String(want));
    }
  },
  'the list has them all, and filters': async (open) => {
    const { page } = await open();
    await opened(page);
    await page.getByRole('button', { name: 'All occurrences' }).click();
    await until('a page of them', async () => (await list(page).count()) === 25);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await until('all of them', async () => (await list(page).count()) === total);
    const numbers = await list(page).locator('td:first-child').allInnerTexts();
    check(numbers.join() === Array.from({ length: total }, (_, i) => total - i).join(), `they are ${numbers}`);
    await list(page).nth(total - 3).getByRole('link').click();
    await at(page, 3);
    check((await page.locator('.record-body').evaluate((e) => e.scrollTop)) === 0, 'the record stays scrolled');
    const filter = page.locator('.occurrence-filter');
    await filter.locator('summary').click();
    await filter.getByLabel('Environment').fill('stag*');
    await filter.getByLabel('Tag').fill('feature:cart');
    await page.keyboard.press('Enter');
    await until('those of both', async () => (await list(page).count()) === 8);
    await filter.getByLabel('User').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No occurrence that is kept matches.').waitFor();
    await filter.getByRole('button', { name: 'All of them' }).click();
    await until('all again', async () => (await list(page).count()) === 25);
  },
  'the search takes an event id, and a tag': async (open) => {
    const { page } = await open();
    await enter(page);
    await page.locator('.list-rows .line').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(known.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
    await page.keyboard.press('Enter');
    await at(page, 11);
    check(param(page, 'record') === row.signature && param(page, 'event_id') === known, `it is at ${page.url()}`);
    check((await page.getByRole('searchbox').inputValue()) === '', 'the id stays in the search');
    await page.locator('.chip', { hasText: known }).waitFor();
    await settled(page);
    check((await page.locator('.list-rows .line').count()) === 1, 'the list shows others too');
    await page.locator('.chip', { hasText: known }).click();
    await page.getByRole('searchbox').fill('0123456789abcdef0123456789abcdef');
    await page.keyboard.press('Enter');
    await until('a search for an id that nothing has', async () => param(page, 'search') === '0123456789abcdef0123456789abcdef');
    await page.getByText('No record matches').waitFor();
    await page.getByRole('searchbox').fill('tag:tenant:acme');
    await page.keyboard.press('Enter');
    await until('the tag', async () => param(page, 'tag') === 'tenant:acme' && param(page, 'search') === null);
    await page.getByText('occurrences with tenant:acme').waitFor();
    // Beside a record there is no room for all filters.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Close the record' }).click();
    await page.locator('.filters summary[aria-label="Tag: tenant:acme"]').click();
    await page.getByLabel('Another tag').fill('feature:cart');
    await page.keyboard.press('Enter');
    await until('both tags', async () => param(page, 'tag') === 'tenant:acme\nfeature:cart');
    await settled(page);
    const line = page.locator('.list-rows .line', { hasText: many });
    await until('the count of both', async () => (await line.locator('.c-count').innerText()) === '16');
    // The record that is open follows the filter.
    await visit(page, `?record=${row.signature}&tag=feature:checkout`);
    await at(page, 31);
    await page.locator('.numbers').getByText('16×').waitFor();
  },
  'users stand in the list': async (open) => {
    const { page } = await open({ viewport: { width: 1600, height: 800 } });
    await enter(page, `?exception_class=${many}`);
    await until('five', async () => (await page.locator('.list-rows .c-users').innerText()) === '5');
  },
  'what is not kept any more is said in words': async (open) => {
    const { page } = await open();
    await page.route(/\/occurrences\/latest/, async (route) => {
      const response = await route.fetch();
      const { data, meta } = await response.json();
      await route.fulfill({ response, json: { data: { ...data, payload: {}, payload_available: false }, meta } });
    });
    await opened(page);
    await page.getByText('What this event told is not kept any more').waitFor();
    check(!(await page.locator('.stack-trace').isVisible()), 'there is a stack of another one');
    await clean(page, 'without its context');
    await page.getByText('What the first sighting told').click();
    await page.locator('.stack-trace').waitFor();
    await page.locator('.before').getByText('button#pay').waitFor();
    await visit(page, `?record=${row.signature}&occurrence=1`);
    await page.getByText('This occurrence is not kept any more').waitFor();
  },
  'a project keeps what its switches say': async (open) => {
    const { page } = await open();
    const { data: shop } = await api('POST', '/projects', { name: mark });
    await enter(page, `?view=projects&id=${shop.id}`);
    await page.getByText('Everything here is saved.').waitFor();
    for (const label of ['Source lines', 'Breadcrumbs', 'Users']) await page.getByLabel(label, { exact: true }).uncheck();
    await page.getByLabel('Variables').selectOption('off');
    await page.getByLabel('Occurrences').fill('7');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Everything here is saved.').waitFor();
    const kept = (await api('GET', `/projects/${shop.id}`)).data;
    check(JSON.stringify(kept.context) === JSON.stringify({ source_lines: false, breadcrumbs: false, extra: true, vars: 'off', users: false }) && kept.occurrence_days === 7, `it keeps ${JSON.stringify(kept)}`);
    const name = `Less${mark}`;
    const to = new URL(shop.dsn);
    const answer = await fetch(`${url}/api/${shop.id}/store/?sentry_key=${to.username}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ event_id: id(), ...occurrence(name, 1) }) });
    check(answer.ok, `the project answers ${answer.status}`);
    await seen(name, 1);
    await opened(page, `?record=${(await one(name)).signature}`);
    const text = await page.locator('.record').innerText();
    check((await page.locator('.code, .variables, .before').count()) === 0, 'there are source lines, variables or breadcrumbs');
    check(!text.includes('u-1') && text.includes('119.9'), `the user, or no extra: ${text}`);
  },
  'the chart by release, and one release alone': async (open) => {
    const { page, problems } = await open();
    await opened(page);
    const chart = page.getByRole('region', { name: 'Trend' });
    const says = (words) => until(words, async () => (await chart.getByRole('img').getAttribute('aria-label')).includes(words));
    await says(`Seen ${total} times`);
    check((await chart.locator('.trend-legend').count()) === 0, 'a legend without releases');
    await chart.getByRole('button', { name: 'By release' }).click();
    await says('shop@1.4.1: 20, shop@1.4.2: 12');
    check((await chart.locator('.trend-legend').innerText()).replace(/\s+/g, ' ').trim() === 'shop@1.4.1 20× shop@1.4.2 12×', `the legend is ${await chart.locator('.trend-legend').innerText()}`);
    const release = chart.getByRole('button', { name: /^shop@1.4.2/ });
    await release.click();
    await says('Seen 12 times');
    check((await release.getAttribute('aria-pressed')) === 'true', 'the release is not pressed');
    await release.click();
    await says(`Seen ${total} times`);
    await page.reload();
    await says('shop@1.4.2: 12');
    check(problems.length === 0, problems.join());
  },
  'wide, on a phone, in the dark: axe finds nothing, and nothing sticks out': async (open) => {
    for (const [rules, options] of [[all, { viewport: { width: 1920, height: 1000 } }], [all, { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true }], [layout, { viewport: { width: 320, height: 900 } }]]) {
      const { page, context, problems } = await open({ ...options, reducedMotion: 'reduce' });
      await opened(page);
      await clean(page, 'a record', rules);
      await page.getByRole('button', { name: 'Unfold all' }).click();
      await page.getByRole('button', { name: 'By release' }).click();
      await page.locator('.trend-legend').waitFor();
      if (process.env.ERRATA_PICTURES) await page.locator('.trend').screenshot({ path: `${process.env.ERRATA_PICTURES}/trend-${options.viewport.width}.png` });
      await page.getByRole('button', { name: 'All occurrences' }).click();
      await list(page).first().waitFor();
      await page.locator('.occurrence-filter > summary').click();
      await page.locator('.crumb-data > summary').click();
      await page.evaluate(() => { scrollTo(0, 0); document.querySelector('.record-body').scrollTo(0, 0); });
      await clean(page, 'all unfolded', rules);
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      check(wide <= room, `${wide} of ${room}`);
      check(problems.length === 0, problems.join());
      await context.close();
    }
  },
});
