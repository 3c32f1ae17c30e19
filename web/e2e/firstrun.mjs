// The page before the first error, and the first error. The ledger must be empty;
// ERRATA_WIPE=1 empties it.
import { clean } from './axe.mjs';
import { api, check, enter, event, run, send, until } from './browser.mjs';

const total = async () => (await api('GET', '/tools/logs/errors?limit=1')).meta.total;
if (process.env.ERRATA_WIPE) await api('POST', '/tools/logs/errors/cleanup', { before: '2100-01-01' });
if ((await total()) > 0) {
  console.error('The ledger is not empty; ERRATA_WIPE=1 empties it.');
  process.exit(2);
}

const secret = (page, label) => page.locator('.secret', { has: page.getByText(label, { exact: true }) }).locator('code').innerText();

await run({
  'an empty list shows how to begin, and turns into the list': async (open) => {
    const { page } = await open();
    await enter(page);
    await page.waitForSelector('.firstrun .snippets');
    // A new user finds the project that is there, and can make another one.
    check((await page.locator('.firstrun').innerText()).includes('The project default is ready'), 'the first project is not named');
    const first = (await api('GET', '/projects')).data[0];
    check((await secret(page, 'DSN')) === first.dsn, 'it is not the DSN of the first project');
    check((await page.getByRole('tabpanel').innerText()).includes(first.dsn), 'the code does not name the DSN');
    await clean(page, 'first run, as it begins');
    await page.getByRole('button', { name: 'Create a project…' }).click();
    await page.getByLabel('Name').fill('First shop');
    await page.getByLabel('Platform').fill('php');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const key = await secret(page, 'Ingest key');
    const dsn = await secret(page, 'DSN');
    check((await page.getByRole('tab', { selected: true }).innerText()) === 'PHP', 'the code is not for the platform');
    await clean(page, 'first run');
    check(/^\w+_ing_/.test(key), `the ingest key is ${key}`);
    check(dsn !== first.dsn && new URL(dsn).username !== '', `the DSN is ${dsn}`);
    for (const name of ['Go', 'PHP', 'JavaScript', 'Node.js', 'Python']) {
      await page.getByRole('tab', { name, exact: true }).click();
      await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
      check((await page.getByRole('tabpanel').innerText()).includes(dsn), `the ${name} snippet does not name the DSN`);
    }
    await page.keyboard.press('ArrowRight');
    await until('the curl snippet with the key', async () => (await page.getByRole('tabpanel').innerText()).includes(key));
    await send([event('FirstError', 'my first error')]);
    await page.waitForSelector('.list-rows .line');
    check((await page.locator('.list-rows').innerText()).includes('my first error'), 'the first error is not in the list');
    check((await page.locator('.kept').innerText()).includes(key), 'the key that is shown once went away with the view');
    await clean(page, 'the kept key');
    await page.getByRole('button', { name: 'I have copied the key' }).click();
    await page.locator('.kept').waitFor({ state: 'detached' });
  },
  'an empty list with a filter is not a first run': async (open) => {
    const { page } = await open();
    await enter(page, '?levels=debug');
    await page.waitForSelector('.state.empty');
    check((await page.locator('.firstrun').count()) === 0, 'a filter that finds nothing looks like an empty ledger');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await until('the list', async () => (await page.locator('.list-rows .line').count()) === 1);
  },
});
