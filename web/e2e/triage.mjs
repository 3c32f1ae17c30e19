// A move that is taken back, titles that name what is open, and where the focus
// goes when a record is opened and closed.
import { clean } from './axe.mjs';
import { api, check, enter, event, id, run, send, until, url } from './browser.mjs';

const mark = `run${id().slice(0, 8)}`;
const rows = (page) => page.locator('.list-rows .line');
const one = async (name) => (await api('GET', `/tools/logs/errors?search=${encodeURIComponent(name)}`)).data[0];
const sent = async (...names) => {
  await send(names.map((name) => event(name, `about ${name}`)));
  for (const name of names) await until(name, async () => await one(name));
  return Promise.all(names.map(one));
};
const move = (records, status) => api('POST', '/tools/logs/errors/status', { signatures: records.map((r) => r.signature), status });
const statuses = async (names) => (await Promise.all(names.map(one))).map((r) => r.status).join();
/** The list with the stream open: what changes then is told. */
const followed = async (page, place) => {
  await enter(page, place);
  await rows(page).first().waitFor();
  await page.locator('.live.is-live').waitFor();
};
const undo = (page) => page.locator('.toast').getByRole('button', { name: 'Undo' });

// No step minds another: each has records of its own.
await run({
  'one move is undone': async (open) => {
    const { page } = await open();
    const name = `Undo${mark}`;
    await sent(name);
    await followed(page, `?search=${name}&status=open`);
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByText('1 record resolved.').waitFor();
    check((await one(name)).status === 'resolved', 'it was not resolved');
    await page.waitForSelector('.state.empty');
    check(await page.locator('.toasts [aria-live="polite"]').getByRole('button', { name: 'Undo' }).isVisible(), 'it is not told to a screen reader');
    await clean(page, 'the offer');
    // With Tab from where the focus is, and Enter.
    await undo(page).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 record put back.').waitFor();
    await rows(page).first().waitFor();
    check((await one(name)).status === 'open', 'it is not open again');
    await until('the focus on its row', () => page.evaluate(() => document.activeElement.closest('.line') !== null));
  },

  'several go back to what each of them was': async (open) => {
    const { page } = await open();
    const names = [1, 2, 3, 4].map((n) => `Several${n}${mark}`);
    const records = await sent(...names);
    await move([records[1]], 'muted');
    await move([records[3]], 'resolved');
    await followed(page, `?search=${mark}&exception_class=Several*`);
    await until('four', async () => (await rows(page).count()) === 4);
    const asked = [];
    page.on('request', (r) => { if (r.url().endsWith('/errors/status')) asked.push(JSON.parse(r.postData())); });
    await page.getByLabel('Select all on this page').click();
    await page.locator('.bulk').getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('4 records resolved.').waitFor();
    check((await statuses(names)) === 'resolved,resolved,resolved,resolved', 'not all are resolved');
    await page.keyboard.press('z');
    await page.getByText('3 records put back.').waitFor();
    check((await statuses(names)) === 'open,muted,open,resolved', `they are ${await statuses(names)}`);
    check(asked.length === 3 && asked.slice(1).map((a) => `${a.status} ${a.signatures.length}`).sort().join() === 'muted 1,open 2', `asked ${JSON.stringify(asked)}`);
    await page.keyboard.press('z');
    check((await undo(page).count()) === 0, 'the undo can be undone');
  },

  'what somebody else has changed meanwhile stays': async (open) => {
    const { page } = await open();
    const names = [1, 2].map((n) => `Meanwhile${n}${mark}`);
    const records = await sent(...names);
    await followed(page, `?search=${mark}&exception_class=Meanwhile*`);
    await until('two', async () => (await rows(page).count()) === 2);
    await page.getByLabel('Select all on this page').click();
    await page.locator('.bulk').getByRole('button', { name: 'Resolve' }).click();
    await undo(page).waitFor();
    // The pointer on the message: it stays while this takes its time.
    await page.locator('.toast').hover();
    await move([records[0]], 'muted');
    await rows(page).filter({ hasText: names[0] }).locator('.state-muted').waitFor();
    await undo(page).click();
    await page.getByText('1 record put back. 1 record was changed or seen again meanwhile, and stays so.').waitFor();
    check((await statuses(names)) === 'muted,open', `they are ${await statuses(names)}`);
  },

  'the open record is undone with it': async (open) => {
    const { page } = await open();
    const name = `Opened${mark}`;
    const [record] = await sent(name);
    // Not in the list: only its own answer tells its status.
    await followed(page, `?search=${mark}&exception_class=Several*&record=${record.signature}`);
    const tools = page.locator('.record .tools');
    await tools.getByRole('button', { name: 'Mute' }).click();
    await tools.locator('.state-muted').waitFor();
    await undo(page).click();
    await tools.locator('.state-open').waitFor();
    check((await one(name)).status === 'open', 'it is not open again');
  },

  'the offer stays while it has the focus, and ends after ten seconds': async (open) => {
    const { page } = await open();
    await page.clock.install();
    const name = `Ends${mark}`;
    await sent(name);
    await followed(page, `?search=${name}`);
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await undo(page).focus();
    await page.clock.fastForward(60_000);
    check(await undo(page).isVisible(), 'it went away under the finger');
    await page.keyboard.press('/');
    await page.clock.fastForward(10_000);
    await undo(page).waitFor({ state: 'detached' });
    await page.getByRole('searchbox').blur();
    await page.keyboard.press('z');
    check((await one(name)).status === 'muted', 'it was undone after all');
  },

  'titles name the place and the record': async (open) => {
    const { page } = await open();
    const name = `Titled${mark}`;
    const [record] = await sent(name);
    const titled = (want) => until(`the title ${want}`, async () => (await page.title()) === want);
    await page.goto(`${url}/`);
    await titled('Sign in · Errata');
    await enter(page, `?search=${name}`);
    await rows(page).first().waitFor();
    await titled('Errors · Errata');
    await rows(page).first().getByRole('link').click();
    await titled(`${name}: about ${name} · Errata`);
    await page.goBack();
    await titled('Errors · Errata');
    for (const [view, want] of [['overview', 'Overview'], ['projects', 'Projects'], ['settings', 'Settings']]) {
      await page.goto(`${url}/?view=${view}`);
      await titled(`${want} · Errata`);
    }
    await page.goto(`${url}/?record=${record.signature}`);
    await titled(`${name}: about ${name} · Errata`);
  },

  'the focus goes to the heading of a record, and back to its row': async (open) => {
    const { page } = await open();
    const names = [1, 2].map((n) => `Focus${n}${mark}`);
    await sent(...names);
    await followed(page, `?search=${mark}&exception_class=Focus*`);
    await until('two', async () => (await rows(page).count()) === 2);
    const heading = () => page.waitForFunction(() => document.activeElement?.matches('.record h2'));
    const row = (key) => page.waitForFunction((k) => document.activeElement?.closest('.line')?.dataset.key === k, key);
    const keys = await rows(page).evaluateAll((all) => all.map((e) => e.dataset.key));
    await rows(page).first().getByRole('link').click();
    await page.waitForSelector('.stack-trace');
    await heading();
    // By Tab alone from the heading to Resolve, and by it to the next.
    let tabs = 0;
    for (; tabs < 10 && !(await page.evaluate(() => document.activeElement.textContent === 'Resolve')); tabs++) await page.keyboard.press('Tab');
    check(tabs <= 4, `${tabs} tabs from the heading to Resolve`);
    await page.getByRole('button', { name: 'Next record' }).click();
    await page.locator('.record-message', { hasText: (await rows(page).nth(1).locator('.c-message').innerText()).split(' ').pop() }).waitFor();
    await heading();
    await page.getByRole('button', { name: 'Close the record' }).click();
    await row(keys[1]);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.stack-trace');
    await heading();
    await page.goBack();
    await row(keys[1]);
    await page.keyboard.press('Enter');
    await heading();
    await page.keyboard.press('Escape');
    await row(keys[1]);
  },
}, 2);
