// The list and a record: filters, keys, changes that appear, actions.
import { api, check, counted, enter, event, id, later, run, send, sendNative, settled, until, url, visit } from './browser.mjs';
import { seed } from './seed.mjs';

if ((await api('GET', '/tools/logs/errors?limit=1')).meta.total < 40) {
  // To the last event: one that is still on its way could be in one answer and
  // not in the next.
  const before = await counted();
  const sent = await seed();
  await until('the seed', async () => (await counted()) >= before + sent);
}

const mark = `run${id().slice(0, 8)}`;
const rows = (page) => page.locator('.list-rows .line');
const listed = async (page, place = '') => {
  await enter(page, place);
  await rows(page).first().waitFor();
};
const one = async (name) => (await api('GET', `/tools/logs/errors?search=${encodeURIComponent(name)}`)).data[0];
const sent = async (name, more) => {
  await send([event(name, `about ${name}`, more)]);
  await until(name, async () => await one(name));
  return one(name);
};

await run({
  'filters are in the address and survive a reload': async (open) => {
    const { page } = await open();
    await listed(page);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.locator('.filters .menu summary', { hasText: 'Level' }).click();
    await page.getByLabel('critical').check();
    await page.getByLabel('fatal').check();
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('e');
    await until('the address', async () => page.url().endsWith('/?status=open&levels=fatal%2Ccritical&search=e') || /levels=(critical%2Cfatal|fatal%2Ccritical)/.test(page.url()) && page.url().includes('search=e'));
    await page.getByRole('button', { name: 'Count' }).click();
    await until('order', async () => page.url().includes('order=count'));
    await settled(page);
    const before = await rows(page).allInnerTexts();
    check(before.length > 0, 'nothing is found');
    for (const text of before) check(/^(crit|fatal)/.test(text.trim()), `a row that the filter excludes: ${text}`);
    await page.reload();
    await rows(page).first().waitFor();
    await settled(page);
    check((await rows(page).count()) === before.length, 'after a reload the list is another');
    check((await page.getByRole('searchbox').inputValue()) === 'e', 'after a reload the search is empty');
    check(await page.getByRole('button', { name: 'Open', exact: true }).evaluate((e) => e.getAttribute('aria-pressed') === 'true'), 'the status is not marked');
    await page.goBack();
    await page.goBack();
    await until('one step back', async () => !page.url().includes('order=count'));
    // Every other filter, by its address.
    const all = await api('GET', '/tools/logs/errors?limit=1');
    for (const filter of ['types=database', 'file=src*', 'exception_class=type*', 'request_uri=checkout', 'http_method=GET', 'user_id=0', 'min_occurrence=5', 'date_range=24h', 'hide_noise=1', 'message=order', 'tag=feature:checkout']) {
      const want = (await api('GET', `/tools/logs/errors?limit=50&${filter}`)).meta.total;
      await visit(page, `?${filter}`);
      await settled(page);
      const words = await page.locator('.info').innerText();
      check(words.includes(`${want.toLocaleString('en')} record`), `${filter}: the page says ${words}, the API ${want} of ${all.meta.total}`);
    }
  },
  'a saved view comes back': async (open) => {
    const { page } = await open();
    await listed(page, '?levels=error&order=count');
    await page.locator('.filters .menu summary[aria-label="Saved views"]').click();
    await page.getByLabel('Name of the view').fill('<b>mine</b>');
    await page.keyboard.press('Enter');
    await page.getByText('View saved in this browser.').waitFor();
    await page.goto(`${url}/`);
    await rows(page).first().waitFor();
    await page.locator('.filters .menu summary[aria-label="Saved views"]').click();
    await page.getByRole('link', { name: '<b>mine</b>' }).click();
    await until('the view', async () => page.url().endsWith('?levels=error&order=count'));
  },
  'by keyboard alone': async (open) => {
    const { page } = await open();
    await listed(page);
    const at = () => page.evaluate(() => [...document.querySelectorAll('.list-rows .line')].indexOf(document.activeElement.closest('.line')));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await until('jj on the second row', async () => (await at()) === 1);
    await page.keyboard.press('k');
    await until('k on the first', async () => (await at()) === 0);
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.waitForSelector('.record h2');
    await until('the record in the address', () => page.url().includes('record='));
    const first = page.url();
    await page.keyboard.press('j');
    await until('the next record', async () => page.url() !== first);
    await page.keyboard.press('Escape');
    await until('the list', async () => !page.url().includes('record='));
    await until('the focus', async () => (await at()) === 2);
    await page.keyboard.press('/');
    await until('the search after /', () => page.getByRole('searchbox').evaluate((e) => e === document.activeElement));
    await page.keyboard.type('jjee');
    await until('letters where one types', async () => (await page.getByRole('searchbox').inputValue()) === 'jjee');
    await page.getByRole('searchbox').fill('');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await until('the sheet', async () => (await page.locator('dialog[open]').count()) === 0);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await until('the overview', async () => page.url().endsWith('?view=overview'));
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await rows(page).first().waitFor();
  },
  'new records appear, and changed ones change': async (open) => {
    const { page } = await open();
    await listed(page);
    await page.locator('.live.is-live').waitFor();
    const name = `Live${mark}`;
    await sent(name);
    await page.getByText(`about ${name}`).first().waitFor();
    const line = rows(page).filter({ hasText: name });
    await send([event(name, `about ${name}`), event(name, `about ${name}`)]);
    await until('the count', async () => (await line.locator('.c-count').innerText()) === '3');
  },
  'what comes between the list and the stream appears': async (open) => {
    const { page } = await open();
    const late = later();
    await page.route('**/errors/stream', async (route) => {
      await late.come;
      await route.continue();
    });
    await listed(page);
    const name = `Between${mark}`;
    await sent(name);
    late.now();
    await page.getByText(`about ${name}`).first().waitFor();
  },
  'an answer that is older than the stream does not stay': async (open) => {
    const { page } = await open();
    const name = `Older${mark}`;
    await sent(name);
    // The requests of the page after the stream opened are answered before the
    // error is sent again, so it comes as a change.
    const answer = later();
    const read = later();
    let asked = 0;
    await page.route(/\/tools\/logs\/errors\?/, async (route) => {
      if (++asked !== 2) return route.continue();
      const response = await route.fetch();
      read.now();
      await answer.come;
      // The page may have sent a new request already, and ignores this answer.
      return route.fulfill({ response }).catch(() => {});
    });
    await listed(page, `?search=${name}`);
    // The row has the focus, so a known change does not reload the list.
    await page.keyboard.press('j');
    await read.come;
    const again = page.waitForRequest(/\/tools\/logs\/errors\?/);
    await send([event(name, `about ${name}`)]);
    const count = rows(page).locator('.c-count');
    await until('the count that the stream tells', async () => (await count.innerText()) === '2');
    answer.now();
    await again;
    await settled(page);
    await until('the count again', async () => (await count.innerText()) === '2');
  },
  'nothing moves under who is reading': async (open) => {
    const { page } = await open();
    await listed(page);
    await page.locator('.live.is-live').waitFor();
    await rows(page).nth(3).locator('input').click();
    await page.getByText('1 selected').waitFor();
    await settled(page);
    const keys = () => page.evaluate(() => [...document.querySelectorAll('.list-rows .line')].map((e) => e.dataset.key).join());
    const before = await keys();
    const third = (await rows(page).nth(3).locator('.c-message').innerText()).trim();
    await sent(`Held${mark}`);
    await page.locator('.pill', { hasText: '1 new' }).waitFor();
    check((await keys()) === before, 'rows moved');
    check((await rows(page).nth(3).locator('.c-message').innerText()).trim() === third, 'the selected row moved');
    await page.locator('.pill').click();
    await page.getByText(`about Held${mark}`).first().waitFor();
    await page.locator('.pill').waitFor({ state: 'detached' });
  },
  'resolve, see again, regressed, delete, gone': async (open) => {
    const { page } = await open();
    const name = `Cycle${mark}`;
    const row = await sent(name);
    await listed(page, `?search=${name}`);
    await page.locator('.live.is-live').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByText('1 record resolved.').waitFor();
    await rows(page).locator('.state-resolved').waitFor();
    check((await one(name)).status === 'resolved', 'the API does not know of it');
    await send([event(name, `about ${name}`)]);
    await rows(page).locator('.state-regressed').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.stack-trace');
    await until('the record in the address', () => page.url().includes(row.signature));
    await page.locator('.record').getByText('regressed').waitFor();
    await page.keyboard.press('m');
    await page.getByText('1 record muted.').waitFor();
    await page.keyboard.press('u');
    await page.getByText('1 record reopened.').waitFor();
    await page.keyboard.press('#');
    await page.getByRole('heading', { name: 'Delete 1 record?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    check((await one(name)) !== undefined, 'Escape deleted it');
    await page.keyboard.press('#');
    await page.getByRole('button', { name: 'Delete 1 record' }).click();
    await page.getByText('1 record deleted.').waitFor();
    await page.waitForSelector('.state.empty');
    check((await one(name)) === undefined, 'the API still has it');
  },
  'triage by keyboard goes on with the next': async (open) => {
    const { page } = await open();
    const names = [1, 2, 3].map((n) => `Triage${n}${mark}`);
    for (const name of names) await sent(name);
    await listed(page, `?search=${mark}&exception_class=Triage*&status=open`);
    await until('three', async () => (await rows(page).count()) === 3);
    const keys = await page.evaluate(() => [...document.querySelectorAll('.list-rows .line')].map((e) => e.dataset.key));
    const at = () => page.evaluate(() => document.activeElement.closest('.line')?.dataset.key);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await until('two are left', async () => (await rows(page).count()) === 2);
    await until('the next has the focus', async () => (await at()) === keys[1]);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.stack-trace');
    await page.keyboard.press('m');
    await until('one is left', async () => (await rows(page).count()) === 1);
    await page.keyboard.press('j');
    await until('the last is open', async () => page.url().includes(keys[2].split(':')[1]));
  },
  'many at once': async (open) => {
    const { page } = await open();
    const names = [1, 2, 3].map((n) => `Many${n}${mark}`);
    for (const name of names) await sent(name);
    await listed(page, `?search=${mark}&exception_class=Many*`);
    await until('three', async () => (await rows(page).count()) === 3);
    await page.getByLabel('Select all on this page').click();
    await page.getByText('3 selected').waitFor();
    // One record is deleted behind the page's back: the report must say what was
    // really deleted.
    await api('DELETE', '/tools/logs/errors', { signatures: [(await one(names[0])).signature] });
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete 3 records' }).click();
    await page.getByText('2 records of 3 deleted; the others were gone already.').waitFor();
  },
  'a record tells all of itself': async (open) => {
    const { page, context } = await open();
    const name = `Whole${mark}`;
    const row = await sent(name, { tags: { colour: 'red' }, extra: { deep: { deeper: ['x', 1, null] } }, user: { id: 'u-77' } });
    await enter(page, `?record=${row.signature}`);
    await page.waitForSelector('.plot canvas');
    const text = await page.locator('.record').innerText();
    for (const want of [`about ${name}`, 'shop@1.4.2', 'production', 'web-3', 'colour', 'red', '2 frames of libraries', 'public/index.php:12', 'POST /checkout']) check(text.includes(want), `the record does not show ${want}`);
    await page.getByText('2 frames of libraries').click();
    await page.getByText('Router::dispatch').waitFor();
    for (const [kind, want] of [['As Markdown', `about ${name}`], ['As JSON', '"payload"'], ['As curl', '$ERRATA_KEY'], ['Link', `record=${row.signature}`]]) {
      await page.locator('.tools-end > .menu:not(.follow) > summary').click();
      await page.getByRole('button', { name: kind, exact: true }).click();
      // By its name: the menu of the kind before is still open.
      await page.locator('.toast', { hasText: `Copied: ${kind.replace('As ', '')}.` }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText()).catch(() => want);
      check(copied.includes(want), `${kind} copied ${copied.slice(0, 80)}`);
    }
    await context.clearPermissions();
    // Select the second half of the chart by dragging.
    await settled(page);
    await page.locator('.plot .u-over').scrollIntoViewIfNeeded();
    const box = await page.locator('.plot .u-over').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'List errors of this range' }).click();
    await until('the range', async () => /date_range=2\d{3}-/.test(page.url()));
    await rows(page).first().waitFor();
  },
  'arguments are shapes, what is extra is a tree': async (open) => {
    const { page } = await open();
    const name = `Native${mark}`;
    await sendNative([{
      exception_class: name, message: `about ${name}`, file: 'orders.go', line: 51, user_id: 1204, ip: '203.0.113.9', request_method: 'POST', request_uri: '/checkout?page=2',
      frames: [{ file: 'main.go', line: 1, function: 'main', in_app: true }, { file: 'orders.go', line: 51, function: 'load', module: 'shop', in_app: true, args: ['a secret name', 42] }],
      payload: { cart: { lines: [{ sku: 'A-1' }, { sku: 'B-2' }] }, docs: 'https://docs.example/x', bad: 'javascript:alert(1)' },
    }]);
    await until(name, async () => await one(name));
    await enter(page, `?record=${(await one(name)).signature}`);
    await page.waitForSelector('.stack-trace');
    const stack = await page.locator('.stack-trace').innerText();
    check(/string\(13\)/.test(stack) && !stack.includes('a secret name'), `the arguments are no shapes: ${stack}`);
    const extra = page.locator('.part', { has: page.getByRole('heading', { name: 'Extra' }) });
    await extra.locator('summary', { hasText: 'lines' }).click();
    // A branch is drawn after the event that reports that it unfolded.
    for (const [at, want] of ['A-1', 'B-2'].entries()) {
      await extra.locator('.branch .branch summary').nth(at).click();
      await extra.getByText(want).waitFor();
    }
    const link = extra.getByRole('link', { name: 'https://docs.example/x' });
    check((await link.getAttribute('rel')).includes('noopener noreferrer'), 'the link says who sent one');
    check((await extra.locator('a').count()) === 1, 'javascript: became a link');
    const text = await page.locator('.record').innerText();
    for (const want of ['1204', '203.0.113.9', 'POST /checkout?page=2']) check(text.includes(want), `the record does not show ${want}`);
  },
  'a record that is not there': async (open) => {
    const { page } = await open();
    await enter(page, '?record=00000000000000000000000000000000');
    await page.locator('.record .failure').waitFor();
    await page.keyboard.press('Escape');
    await until('the list', async () => !page.url().includes('record='));
  },
});
