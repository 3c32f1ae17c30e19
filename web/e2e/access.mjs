// Signing in and out; keys that no longer work, or have fewer scopes.
import { clean } from './axe.mjs';
import { api, check, enter, event, key, run, send, until, url } from './browser.mjs';

const narrow = async (name, scopes) => (await api('POST', '/keys', { name, kind: 'adm', scopes, expires_in_days: 1 })).data;

await send([event('AccessError', 'to be looked at')]);
await until('the record', async () => (await api('GET', '/tools/logs/errors?search=to+be+looked+at')).meta.total > 0);
const { data: [row] } = await api('GET', '/tools/logs/errors?search=to+be+looked+at');

await run({
  'sign in, reload, sign out': async (open) => {
    const { page } = await open();
    await page.goto(`${url}/?levels=error`);
    await page.getByLabel('Admin key').fill(`  ${key} `);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.list-rows .line');
    await until('the place that one came for', () => page.url().endsWith('/?levels=error'));
    const kept = await page.evaluate(() => [Object.values(localStorage).join(), document.cookie]);
    check(!kept.join().includes(key), 'the key is kept beyond the tab');
    await page.reload();
    await page.waitForSelector('.list-rows .line');
    await page.locator('.topbar .menu.end summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('.signin');
    check((await page.evaluate(() => sessionStorage.length)) === 0, 'signing out leaves something behind');
    await page.reload();
    await page.waitForSelector('.signin');
  },
  'remembered on this device until one signs out': async (open) => {
    const { page, context } = await open();
    const kept = (p) => p.evaluate(() => [localStorage.getItem('errata.key'), sessionStorage.getItem('errata.key')]);
    await page.goto(`${url}/`);
    const tick = page.getByRole('checkbox', { name: 'Remember on this device' });
    check(!(await tick.isChecked()), 'it is ticked before one has asked');
    const by = await tick.getAttribute('aria-describedby');
    check(/localStorage.*shared computer/.test(await page.evaluate((i) => document.getElementById(i).textContent, by)), 'it does not say what it does');
    await clean(page, 'sign in');
    await page.getByLabel('Admin key').fill(key);
    await tick.check();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('.list-rows .line');
    check((await kept(page)).join('|') === `${key}|`, 'the key is not kept as it was said');
    // A new tab needs no key, and signs out with the first.
    const second = await context.newPage();
    await second.goto(`${url}/`);
    await second.waitForSelector('.list-rows .line');
    await second.locator('.topbar .menu.end summary').click();
    await second.getByText('on this device, until you sign out').waitFor();
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.waitForSelector('.signin');
    await page.getByText('You have signed out in another tab.').waitFor();
    check((await kept(page)).join('|') === '|', 'signing out leaves the key on the device');
    await page.reload();
    await page.waitForSelector('.signin');
    // A key that works no more is not kept either.
    const k = await narrow('remembered', ['Tools/*']);
    await page.getByLabel('Admin key').fill(k.key);
    await tick.check();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.list-rows .line');
    // The page must not be there when the key dies: it would notice, and have forgotten
    // the reason after the reload.
    await page.goto('about:blank');
    await api('DELETE', `/keys/${k.id}`);
    await page.goto(`${url}/`);
    await page.getByText('Your session has ended').waitFor();
    check((await kept(page)).join('|') === '|', 'the dead key is kept');
  },
  'a wrong key': async (open) => {
    const { page } = await open();
    await page.goto(`${url}/`);
    await page.getByLabel('Admin key').fill('eik_adm_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key does not work').waitFor();
    check(await page.getByLabel('Admin key').evaluate((e) => e.getAttribute('aria-invalid') === 'true'), 'the field is not marked');
    await page.getByLabel('Admin key').fill('');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Paste an admin key.').waitFor();
  },
  'a session that ends': async (open) => {
    const { page } = await open();
    const k = await narrow('ends soon', ['Tools/*']);
    await enter(page, '', k.key);
    await page.waitForSelector('.list-rows .line');
    await api('DELETE', `/keys/${k.id}`);
    await page.locator('.list-rows a').first().click();
    await page.getByText('Your session has ended').waitFor();
    check((await page.evaluate(() => sessionStorage.getItem('errata.key'))) === null, 'the dead key is kept');
    // Another key continues where this one ended.
    await page.getByLabel('Admin key').fill(key);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.stack-trace');
  },
  'a key that may look and not touch': async (open) => {
    const { page } = await open();
    const k = await narrow('looks', ['Tools/GetErrorLogs', 'Tools/GetErrorLog']);
    await enter(page, `?record=${row.signature}`, k.key);
    await page.waitForSelector('.stack-trace');
    for (const name of ['Resolve', 'Mute', 'Delete…']) {
      const button = page.locator('.record').getByRole('button', { name });
      check(await button.isDisabled(), `${name} can be pressed`);
      check(/does not hold the scope Tools\//.test(await button.getAttribute('title')), `${name} does not say why`);
    }
    await page.keyboard.press('e');
    await page.getByText('does not hold the scope Tools/UpdateErrorStatus').waitFor();
    for (const place of ['?view=overview', '?view=settings', '?view=settings&tab=keys', '?view=settings&tab=audit']) {
      await page.goto(`${url}/${place}`);
      await page.waitForSelector('h1');
    }
  },
  'a key that may not even look': async (open) => {
    const { page } = await open();
    const k = await narrow('operates', ['Ops/Read']);
    await enter(page, '', k.key);
    await page.getByText('Your key may not list errors').waitFor();
    check((await page.locator('.state.denied').innerText()).includes('Tools/GetErrorLogs'), 'the scope is not named');
    await page.goto(`${url}/?record=${row.signature}`);
    await page.getByText('Your key may not open records').waitFor();
  },
  'behind a proxy that adds the key': async (open) => {
    const { page } = await open();
    await page.route('**/api/**', (route) => route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${key}` } }));
    await page.goto(`${url}/`);
    await page.waitForSelector('.list-rows .line');
    await page.locator('.topbar .menu.end summary').click();
    await page.getByText('Signed in by the reverse proxy').waitFor();
  },
});
