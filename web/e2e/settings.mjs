// The overview and every form of the settings, against a running service: a
// written value is read again after a reload, and a refused one is reported at
// its field. All settings are restored at the end; keys stay revoked.
// long: one step for each form, read one after the other.
import { clean } from './axe.mjs';
import { api, check, enter, event, id, run, send, settled, until, url, visit } from './browser.mjs';

const open = async (page, name) => {
  await enter(page, `?view=settings&tab=${name}`);
  await page.waitForSelector('.settings-content h2');
  await page.waitForSelector('.state.loading', { state: 'detached' });
  await settled(page);
};
const save = async (page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything here is saved.').waitFor();
};
/** Saves values that may be refused, and returns whether they were. */
const refused = async (page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const told = page.locator('.savebar-text', { hasText: /Not saved: see|Everything here is saved/ });
  await told.waitFor();
  return (await told.innerText()).startsWith('Not saved');
};
const again = async (page) => {
  await page.reload();
  await page.waitForSelector('.savebar');
  await settled(page);
};
const toggle = (page, name, at = 0) => page.getByRole('switch', { name }).nth(at);
const text = (page, selector) => page.locator(selector).first().innerText();

const day = (back) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);

const security = '/settings/security';

await run({
  'overview': async (open) => {
    await send([event('Overview', 'for the chart', { level: 'fatal' })]);
    // The overview refreshes only after half a minute.
    await until('the record', async () => (await api('GET', '/tools/logs/errors?limit=1&search=for+the+chart')).meta.total > 0);
    const { page } = await open();
    await enter(page, '?view=overview');
    await page.waitForSelector('.over-time canvas');
    await page.getByText(/mean of the last minute|nothing in the last minute/).waitFor();
    await until('the tiles', async () => (await page.locator('.tile').count()) >= 7);
    await clean(page, 'overview');
    await page.getByRole('radio', { name: '14 days' }).check();
    await page.waitForURL(/range=14d/);
    await page.getByRole('radio', { name: 'by book' }).check();
    await page.waitForURL(/by=book/);
    await page.reload();
    await page.waitForSelector('.over-time canvas');
    await until('the range after the reload', () => page.getByRole('radio', { name: '14 days' }).isChecked());
    await page.locator('.legend tbody a').first().click();
    await page.waitForURL(/levels=/);
    check(/date_range=14d/.test(page.url()), 'the list does not have the range');
    await page.goBack();
    await page.locator('.top-name').first().click();
    await page.waitForURL(/record=[0-9a-f]{32}/);
  },

  'overview without its scopes': async (open) => {
    const { data } = await api('POST', '/keys', { name: `narrow ${id()}`, kind: 'adm', scopes: ['Tools/GetErrorLog'] });
    const { page } = await open();
    await enter(page, '?view=overview', data.key);
    await page.locator('.denied').nth(1).waitFor();
    check((await page.locator('.denied code').allInnerTexts()).join() === 'Ops/Read,Tools/GetErrorLogs', 'the scopes are not named');
    await clean(page, 'overview, denied');
    await api('DELETE', `/keys/${data.id}`);
  },

  'logging': async (openTab) => {
    const { page } = await openTab();
    const { data: before } = await api('GET', '/tools/logs/settings');
    await api('PUT', '/tools/logs/settings', { error_log: 1, error_debug: 0, development: 0, module_log: 0, query_logging: 0, query_logging_ips: [] });
    await open(page, 'logging');
    await clean(page, 'logging');
    for (const name of ['Record module exchanges', 'Record database queries', 'Show causes', 'Development mode']) await toggle(page, name).check();
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.9\n\n10.0.0.0/8\n');
    await page.getByText('5 changes not saved').waitFor();
    await until('one tab that is marked', async () => (await page.locator('.tab-dirty').count()) === 1);
    // Unsaved changes survive a visit elsewhere.
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('link', { name: /^Logging/ }).click();
    await page.getByText('5 changes not saved').waitFor();
    await clean(page, 'logging, changed');
    await save(page);
    await again(page);
    for (const name of ['Record module exchanges', 'Record database queries', 'Show causes', 'Development mode']) check(await toggle(page, name).isChecked(), `${name} is not on after a reload`);
    check((await page.getByLabel('Addresses', { exact: true }).inputValue()) === '203.0.113.9\n10.0.0.0/8', 'the addresses are not those that were saved');
    // A wrong line is named, marked and focused.
    await page.getByLabel('Addresses', { exact: true }).fill('203.0.113.9\n\nnobody');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.field.wrong .error').waitFor();
    await until('one line that is marked', async () => (await page.locator('.lines-marks i').count()) === 1);
    await page.waitForFunction(() => document.activeElement?.name === 'query_logging_ips');
    const by = await page.getByLabel('Addresses', { exact: true }).getAttribute('aria-describedby');
    check((await page.evaluate((ids) => ids.split(' ').map((i) => document.getElementById(i)?.textContent).join(), by)).includes('nobody'), 'the error is not tied to the field');
    await clean(page, 'logging, refused');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Everything here is saved.').waitFor();
    await api('PUT', '/tools/logs/settings', before);
  },

  'somebody else changes the same': async (openTab) => {
    const { page } = await openTab();
    await api('PUT', `${security}/ip-verification`, { admin: { status: 0, whitelist: '' }, client: { status: 0, whitelist: '' } });
    await open(page, 'addresses');
    await page.getByLabel('Exempt addresses').nth(1).fill('192.0.2.1');
    await api('PUT', `${security}/ip-verification`, { admin: { whitelist: '192.0.2.2' }, client: { whitelist: '192.0.2.3' } });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else has changed the same fields meanwhile.').waitFor();
    check((await api('GET', `${security}/ip-verification`)).data.client.whitelist === '192.0.2.3', 'it was written over');
    await until('the other change', async () => (await page.getByLabel('Exempt addresses').first().inputValue()) === '192.0.2.2');
    await clean(page, 'conflict');
    await page.getByRole('button', { name: 'Save mine over theirs' }).click();
    await page.getByText('Everything here is saved.').waitFor();
    const { data } = await api('GET', `${security}/ip-verification`);
    check(data.client.whitelist === '192.0.2.1' && data.admin.whitelist === '192.0.2.2', `not both: ${JSON.stringify(data)}`);
    await api('PUT', `${security}/ip-verification`, { admin: { whitelist: '' }, client: { whitelist: '' } });
  },

  'two-step': async (openTab) => {
    const { page } = await openTab();
    await api('PUT', `${security}/two-factor`, { authentications: [], admin: 0, client: 0, show_popup: 0 });
    await open(page, 'two-step');
    await toggle(page, 'Admins').check();
    await page.getByText('Nobody is asked, although a switch is on').waitFor();
    await page.getByRole('checkbox', { name: /totp/ }).check();
    await toggle(page, 'Clients').check();
    await toggle(page, 'Remind at sign-in').check();
    await clean(page, 'two-step');
    await save(page);
    await again(page);
    await page.getByRole('checkbox', { name: /totp/ }).waitFor();
    check(await page.getByRole('checkbox', { name: /totp/ }).isChecked(), 'the method is not on');
    for (const name of ['Admins', 'Clients', 'Remind at sign-in']) check(await toggle(page, name).isChecked(), `${name} is not on`);
    // Turning a method off asks first.
    await page.getByRole('checkbox', { name: /totp/ }).uncheck();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    check((await api('GET', `${security}/two-factor`)).data.authentications.length === 1, 'it did not ask');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Everything here is saved.').waitFor();
    check((await api('GET', `${security}/two-factor`)).data.authentications.length === 0, 'it is still on');
    await api('PUT', `${security}/two-factor`, { admin: 0, client: 0, show_popup: 0 });
  },

  'location': async (openTab) => {
    const { page } = await openTab();
    const { data: methods } = await api('GET', `${security}/two-factor/methods`);
    const mail = methods.some((m) => m.key === 'email');
    await api('PUT', `${security}/location-verification`, { admin: { status: 0, type: 'country' }, client: { status: 0, type: 'country' } });
    await open(page, 'location');
    await clean(page, 'location');
    await toggle(page, 'Check the location').check();
    check((await refused(page)) === !mail, 'it is taken without a way to send the code, or refused with one');
    if (mail) {
      await page.getByText('no location module is chosen').first().waitFor();
      await again(page);
      check(await toggle(page, 'Check the location').isChecked(), 'it is not on');
      await toggle(page, 'Check the location').uncheck();
      await save(page);
    } else {
      await page.locator('.field.wrong .error').getByText('no mail module is configured').waitFor();
      await page.waitForFunction(() => document.activeElement?.name === 'admin.method');
      await clean(page, 'location, refused');
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByText('Everything here is saved.').waitFor();
    }
    // A type that is sent alone is checked alone.
    await page.getByLabel('Compare by').nth(1).selectOption('city');
    const no = await refused(page);
    const { data } = await api('GET', `${security}/location-verification`);
    check(data.client.type === (no ? 'country' : 'city'), 'the page and the service disagree');
    if (no) await page.getByRole('button', { name: 'Discard' }).click();
    else await api('PUT', `${security}/location-verification`, { client: { type: 'country' } });
  },

  'addresses': async (openTab) => {
    const { page } = await openTab();
    await api('PUT', `${security}/ip-verification`, { admin: { status: 0, whitelist: '' }, client: { status: 0, whitelist: '' } });
    await open(page, 'addresses');
    await clean(page, 'addresses');
    await toggle(page, 'Check the address').check();
    await page.getByText('is not exempt').waitFor();
    await page.getByLabel('Exempt addresses').first().fill('10.0.0.0/8\nnot an address\n2001:db8::/32\n::zz');
    await until('bad lines that are marked while typing', async () => (await page.locator('.lines-marks i').count()) === 2);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.field.wrong .error').getByText('Line 2').waitFor();
    // The wrong line is selected when the answer is drawn.
    await page.waitForFunction(() => { const a = document.activeElement; return a?.name === 'admin.whitelist' && a.value.slice(a.selectionStart, a.selectionEnd) === 'not an address'; });
    check((await api('GET', `${security}/ip-verification`)).data.admin.status === 0, 'half of it was written');
    await clean(page, 'addresses, refused');
    await page.getByLabel('Exempt addresses').first().fill('10.0.0.0/8\n2001:db8::/32');
    await page.getByRole('button', { name: /^Add / }).click();
    await page.locator('p').getByText(/Your address .* is exempt\./).waitFor();
    await toggle(page, 'Check the address', 1).check();
    await page.getByLabel('Exempt addresses').nth(1).fill('192.0.2.7');
    await save(page);
    await again(page);
    check(/^10\.0\.0\.0\/8\n2001:db8::\/32\n\S+$/.test(await page.getByLabel('Exempt addresses').first().inputValue()), 'the list of admins is another');
    check((await page.getByLabel('Exempt addresses').nth(1).inputValue()) === '192.0.2.7', 'the list of clients is another');
    check(await toggle(page, 'Check the address', 1).isChecked(), 'clients are not checked');
    // Switched on without the caller's own address: saved, with a warning that
    // stays.
    await page.getByLabel('Exempt addresses').first().fill('10.0.0.0/8');
    await save(page);
    await page.getByText('errata security reset-ip').waitFor();
    await api('PUT', `${security}/ip-verification`, { admin: { status: 0, whitelist: '' }, client: { status: 0, whitelist: '' } });
  },

  'modules': async (openTab) => {
    const { page } = await openTab();
    const { data: before } = await api('GET', '/settings/localization');
    await api('PUT', '/settings/localization', { ip_module: '' });
    await open(page, 'modules');
    await clean(page, 'modules');
    await page.getByLabel('Location module').selectOption('mmdb');
    const no = await refused(page);
    const { data } = await api('GET', '/settings/localization');
    if (no) {
      check(data.ip_module === '', 'the page and the service disagree');
      await page.waitForFunction(() => document.activeElement?.name === 'ip_module');
      await page.getByRole('button', { name: 'Discard' }).click();
    } else {
      await again(page);
      check((await page.getByLabel('Location module').inputValue()) === 'mmdb', 'the module is not chosen');
    }
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Enter the address for the mail.').waitFor();
    await page.getByLabel('Send a test mail to').fill('somebody@example.com');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.panel .field.wrong, .toast.good').first().waitFor();
    await settled(page);
    await clean(page, 'modules, mail');
    await api('PUT', '/settings/localization', before);
  },

  'keys': async (openTab) => {
    const { page } = await openTab();
    const name = `e2e ${id().slice(0, 8)}`;
    await open(page, 'keys');
    await page.waitForSelector('.table');
    await clean(page, 'keys');
    await page.getByRole('button', { name: 'Create a key…' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Enter a name for the key.').waitFor();
    await page.getByRole('radio', { name: 'Admin' }).check();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Tick at least one scope.').waitFor();
    await page.getByRole('checkbox', { name: /GetErrorLogs/ }).check();
    await page.getByRole('checkbox', { name: /Ops\/Read/ }).check();
    await page.getByLabel('Expires after').selectOption('30');
    await clean(page, 'new key');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = await text(page, '.made .secret code');
    check(/^\w+_adm_/.test(secret), `no key: ${secret}`);
    await clean(page, 'the new key');
    await page.locator('.made').getByRole('button', { name: 'Copy' }).first().click();
    await until('the copy', async () => (await page.evaluate(() => navigator.clipboard.readText())) === secret);
    const { data: me } = await api('GET', '/whoami', undefined, secret);
    check(me.name === name && me.scopes.join() === 'Tools/GetErrorLogs,Ops/Read', `another key: ${JSON.stringify(me)}`);
    await page.reload();
    await page.waitForSelector('.table');
    await settled(page);
    check(!(await page.content()).includes(secret), 'the key is shown again');
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    // The key was used a moment ago.
    await page.locator('dialog[open]').getByText(/^Last used (just now|\d+s ago)\.$/).waitFor();
    await clean(page, 'revoke');
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText(`“${name}” is revoked.`).waitFor();
    await until('the revocation', async () => (await fetch(`${url}/api/v1/admin/whoami`, { headers: { Authorization: `Bearer ${secret}` } })).status === 401);
    await page.getByRole('button', { name: `Revoke ${name}` }).waitFor({ state: 'detached' });
  },

  'an ingest key and its DSN': async (openTab) => {
    const { page } = await openTab();
    const name = `e2e ${id().slice(0, 8)}`;
    await open(page, 'keys');
    await page.getByRole('button', { name: 'Create a key…' }).click();
    await page.getByLabel('Name').fill(name);
    const project = page.getByRole('dialog').getByLabel('Project');
    check((await project.inputValue()) === '', 'it is for a project that nobody chose');
    await project.selectOption({ label: 'default' });
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('.made .secret').nth(1).waitFor();
    const dsn = await page.locator('.made .secret code').nth(1).innerText();
    check(/^https?:\/\/\w+@.+\/1$/.test(dsn), `no DSN of the project: ${dsn}`);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const { data: keys } = await api('GET', '/keys');
    await api('DELETE', `/keys/${keys.find((k) => k.name === name).id}`);
  },

  'audit trail': async (openTab) => {
    const { page } = await openTab();
    await api('PUT', `${security}/ip-verification`, { client: { whitelist: '192.0.2.1\n192.0.2.2' } });
    await api('PUT', `${security}/ip-verification`, { client: { whitelist: '192.0.2.1\n192.0.2.3' } });
    await api('PUT', `${security}/ip-verification`, { client: { whitelist: '' } });
    // The page asks once, and says when the trail is behind.
    await until('the trail', async () => !(await api('GET', '/audit?limit=1')).meta.behind);
    await open(page, 'audit');
    await page.waitForSelector('.audit li');
    await clean(page, 'audit');
    await page.getByLabel('About').selectOption('settings.*');
    await page.waitForURL(/action=settings/);
    await settled(page);
    await page.locator('.audit summary').nth(1).click();
    await page.locator('.text-diff .plus').getByText('192.0.2.3').waitFor();
    await page.locator('.text-diff .minus').getByText('192.0.2.2').waitFor();
    await clean(page, 'audit, open');
    await page.getByLabel('By').fill('nobody has this name');
    await page.getByLabel('By').press('Enter');
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForSelector('.audit li');
    await page.getByLabel('From').fill(day(400));
    await page.getByLabel('To').fill(day(399));
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('are as they were written').waitFor();
    const { meta } = await api('GET', '/audit');
    if (meta.next_cursor) {
      await page.getByRole('button', { name: 'Older' }).click();
      await page.waitForURL(/cursor=/);
      await page.getByRole('button', { name: 'Newest' }).click();
    }
  },

  'cleanup': async (openTab) => {
    const { page } = await openTab();
    // Older than all other events of the scripts, and not too old to be accepted.
    const old = day(29);
    const at = Date.parse(`${old}T12:00:00Z`) / 1000;
    await send([1, 2, 3].map((n) => event(`Old${id().slice(0, 6)}${n}`, 'long ago', { timestamp: at })));
    await until('the old records', async () => (await api('POST', '/tools/logs/errors/cleanup/preview', { before: old })).data.count >= 3);
    await open(page, 'cleanup');
    await clean(page, 'cleanup');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Pick the last day to delete.').waitFor();
    const { data: preview } = await api('POST', '/tools/logs/errors/cleanup/preview', { before: old });
    await page.getByLabel('Last day to delete').fill(old);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: /^Delete \d/ }).click();
    const sure = page.locator('dialog[open]');
    await sure.waitFor();
    await clean(page, 'cleanup, typed');
    const go = sure.getByRole('button', { name: /^Delete/ });
    check(await go.isDisabled(), 'nothing had to be typed');
    await sure.getByRole('textbox').fill('delete');
    check(await go.isDisabled(), 'half of it is enough');
    await sure.getByRole('textbox').fill(`delete ${preview.count} record${preview.count === 1 ? '' : 's'}`);
    await go.click();
    await page.getByText(/records? deleted/).waitFor();
    await clean(page, 'cleanup, done');
    check((await api('POST', '/tools/logs/errors/cleanup/preview', { before: old })).data.count === 0, 'something is left');
  },

  'import': async (openTab) => {
    const { page } = await openTab();
    await open(page, 'import');
    await clean(page, 'import');
    await page.getByRole('button', { name: 'Import the files' }).click();
    await page.locator('[aria-label="What the import did"]').waitFor();
    await clean(page, 'import, done');
  },

  'replay': async (openTab) => {
    const { page } = await openTab();
    await open(page, 'replay');
    await page.getByRole('button', { name: 'Replay the log' }).click();
    await page.locator('[aria-label="What the replay found"]').waitFor({ timeout: 120_000 });
    check((await page.locator('.table tbody tr').count()) === 12, 'the comparison is missing');
    const cells = async (name) => (await page.getByRole('row', { name }).getByRole('cell').allInnerTexts()).slice(-3);
    for (const name of ['Events by environment and release', 'Checksum of environments and releases']) {
      const [live, again, agrees] = await cells(name);
      check(live !== '' && live !== '0' && live === again && agrees === 'yes', `${name}: ${live}, ${again}, ${agrees}`);
    }
    await clean(page, 'replay');
  },

  'dead letters': async (openTab) => {
    const { page } = await openTab();
    await open(page, 'dead');
    await page.locator('.state.empty, .letters').waitFor();
    await clean(page, 'dead letters');
  },

  'a narrow key': async (openTab) => {
    const { data } = await api('POST', '/keys', { name: `narrow ${id().slice(0, 8)}`, kind: 'adm', scopes: ['Settings/GetTwoFactor', 'Settings/GetIpVerification'] });
    const { page } = await openTab();
    const needs = {
      logging: 'Tools/GetLogSettings', location: 'Settings/GetLocationVerification', modules: 'Settings/GetLocalization', keys: 'Keys/Manage',
      audit: 'Audit/Read', cleanup: 'Tools/ClearErrorLogs', import: 'Tools/RebuildErrorLogs', replay: 'Ops/Replay', dead: 'Ops/Replay',
    };
    await enter(page, '?view=settings&tab=two-step', data.key);
    await page.getByText('You can read this, but not change it').waitFor();
    check(await toggle(page, 'Admins').isDisabled(), 'it may change what it may only read');
    await clean(page, 'two-step, read only');
    for (const [name, scope] of Object.entries(needs)) {
      await visit(page, `?view=settings&tab=${name}`);
      await page.locator(`.tabs a[aria-current][href$="tab=${name}"]`).waitFor();
      await page.locator('.denied').first().waitFor();
      check((await page.locator('.denied code').first().innerText()) === scope, `${name} does not name ${scope}`);
      await clean(page, `${name}, denied`);
    }
    await api('DELETE', `/keys/${data.id}`);
  },
});
