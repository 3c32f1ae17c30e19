// Alerts: from an empty service to the first webhook, rules with a preview, channels
// with a test, messages, the bell of a record, and a message's link that mutes. The ledger
// must be empty at first, and the service must allow 127.0.0.1 (--alert-allow-hosts).
import { createServer } from 'node:http';
import { createHmac } from 'node:crypto';
import { clean } from './axe.mjs';
import { api, check, enter, event, key, run, send, until, url } from './browser.mjs';

/** A receiver of webhooks. */
const got = [];
let answer = [204, ''];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    got.push({ headers: request.headers, text: body, body: JSON.parse(body) });
    response.writeHead(answer[0], { 'Content-Type': 'text/plain' }).end(answer[1]);
  });
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const hook = `http://127.0.0.1:${server.address().port}/hook`;
const of = (type) => got.filter((m) => m.body.type === type);
const secret = (page, label) => page.locator('.secret', { has: page.getByText(label, { exact: true }) }).locator('code').innerText();
const row = (page, table, text) => page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text });
const alerts = async (page, more = '') => {
  await enter(page, `?view=settings&tab=alerts${more}`);
  await row(page, 'Sent messages', 'FirstError').first().waitFor();
};
const first = 'New problems, and those that come back';

await run({
  'from an empty service to the first webhook by the page alone': async (open) => {
    const began = Date.now();
    const { page } = await open();
    await page.goto(url);
    await page.getByLabel('Key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('URL').fill('https://');
    await page.getByRole('button', { name: 'Tell me' }).click();
    await page.locator('.field.wrong .error').waitFor();
    await page.getByLabel('URL').fill(hook);
    await clean(page, 'the card', undefined, '.firstrun');
    await page.getByRole('button', { name: 'Tell me' }).click();
    await page.getByText('The receiver has taken it: 204').waitFor();
    const signing = await secret(page, 'Secret');
    await clean(page, 'the card, done', undefined, '.firstrun');
    check(of('error.test').length === 1, `tests: ${of('error.test').length}`);
    await send([event('FirstError', 'nobody knew of this')]);
    await until('the webhook', () => of('error.new').length === 1);
    const took = Date.now() - began;
    console.log(`      the first webhook after ${(took / 1000).toFixed(1)} s`);
    check(took < 60_000, `the first webhook came after ${took} ms`);
    const { headers, text, body } = of('error.new')[0];
    const mac = createHmac('sha256', Buffer.from(signing.replace(/^whsec_/, ''), 'base64')).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`).digest('base64');
    check(headers['webhook-signature'] === `v1,${mac}`, `it is signed ${headers['webhook-signature']}, not v1,${mac}`);
    check(body.data.items[0].record.message === 'nobody knew of this' && body.data.rule.name === first, JSON.stringify(body));
  },

  'the secret is shown until it was copied, and then never': async (open) => {
    const { page } = await open();
    await alerts(page);
    check((await page.locator('.secret').count()) === 0, 'another tab shows the secret');
    await row(page, 'Channels', hook).waitFor();
    await row(page, 'Rules', first).getByText('new problems, problems that come back').waitFor();
    await row(page, 'Sent messages', 'FirstError').getByText('sent').waitFor();
    await clean(page, 'alerts');
  },

  'a rule with a preview': async (open) => {
    const { page } = await open({ viewport: { width: 1280, height: 1500 } });
    await alerts(page);
    await page.getByRole('button', { name: 'New rule…' }).click();
    const dialog = page.getByRole('dialog');
    // It would have fired for the first error of the step before.
    await dialog.getByText('It would have fired 1 time in the last 7 days.').waitFor();
    await dialog.getByText('nobody knew of this').waitFor();
    await dialog.getByText('Only some errors').click();
    await dialog.getByRole('group', { name: 'Levels' }).getByLabel('fatal').check();
    await dialog.getByText('It would not have fired in the last 7 days.').waitFor();
    await dialog.getByRole('group', { name: 'Levels' }).getByLabel('fatal').uncheck();
    await dialog.getByLabel('a problem is new').uncheck();
    await dialog.getByText('Problems that come back are not counted here').waitFor();
    await dialog.getByLabel('a project sends nothing').check();
    await dialog.getByText('It would not have fired in the last 7 days.').waitFor();
    await dialog.getByLabel('a project sends nothing').uncheck();
    await dialog.getByLabel('a project has far more errors than usual').check();
    await dialog.getByLabel('Times the usual').fill('1');
    await dialog.getByText('when.spike.factor is a number').waitFor();
    await dialog.getByLabel('a project has far more errors than usual').uncheck();
    await dialog.getByLabel('a problem happens often in a short time').check();
    await dialog.getByLabel('Minutes', { exact: true }).fill('5000');
    await dialog.getByLabel('Environments').fill('production, qa');
    await dialog.getByRole('button', { name: 'Make the rule' }).click();
    await dialog.locator('.field.wrong .error').getByText('Give the rule a name').waitFor();
    await page.waitForFunction(() => document.activeElement?.name === 'name');
    await dialog.getByLabel('Name').fill('Often');
    await dialog.getByRole('button', { name: 'Make the rule' }).click();
    await dialog.getByText('a number from 1 to 1440').first().waitFor();
    await page.waitForFunction(() => document.activeElement?.name === 'minutes');
    await clean(page, 'a rule, refused', undefined, 'dialog[open]');
    await dialog.getByLabel('Minutes', { exact: true }).fill('15');
    await dialog.getByRole('button', { name: 'Make the rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const made = (await api('GET', '/alerts/rules')).data.find((r) => r.name === 'Often');
    check(JSON.stringify(made.when) === '{"regressed":true,"frequency":{"count":100,"minutes":15}}' && made.environments.join() === 'production,qa' && made.to.length === 1, JSON.stringify(made));
    await row(page, 'Rules', 'Often').getByText('only production, qa').waitFor();
    // The link of a message opens it.
    await alerts(page, `&rule=${made.id}`);
    check((await dialog.getByLabel('Environments').inputValue()) === 'production, qa' && (await dialog.getByLabel('Minutes', { exact: true }).inputValue()) === '15', 'the form does not show the rule');
    await dialog.getByLabel('Name').fill('Often in production');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Rules', 'Often in production').getByRole('checkbox').uncheck();
    await until('it is off', async () => !(await api('GET', '/alerts/rules')).data.find((r) => r.id === made.id).enabled);
    await row(page, 'Rules', 'Often in production').getByRole('button', { name: 'Remove Often in production' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await row(page, 'Rules', 'Often in production').waitFor({ state: 'detached' });
    await alerts(page, '&rule=rule-gone');
    await dialog.getByText('There is no such rule any more.').waitFor();
  },

  'channels: made, tested, changed, removed': async (open) => {
    const { page } = await open();
    await alerts(page);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New channel…' }).click();
    for (const kind of ['Telegram', 'E-mail', 'Slack', 'ntfy', 'Webhook']) {
      await dialog.getByLabel('Kind').selectOption({ label: kind });
      await clean(page, `a new channel, ${kind}`, undefined, 'dialog[open]');
    }
    await dialog.getByLabel('URL').fill('ftp://example.com/hook');
    await dialog.getByRole('button', { name: 'Make the channel' }).click();
    await dialog.locator('.field.wrong .error').waitFor();
    await dialog.getByLabel('URL').fill(`${hook}?second`);
    await dialog.getByLabel('Name').fill('Second');
    await dialog.getByRole('button', { name: 'Make the channel' }).click();
    check((await secret(page, 'Secret')).startsWith('whsec_'), 'its secret is not shown');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    check((await page.locator('.secret').count()) === 0, 'its secret is shown again');
    answer = [503, 'not <b>now</b>'];
    await page.getByRole('button', { name: 'Test Second' }).click();
    await row(page, 'Channels', 'Second').getByText('503 not <b>now</b>').waitFor();
    answer = [200, 'fine'];
    await page.getByRole('button', { name: 'Test Second' }).click();
    await row(page, 'Channels', 'Second').getByText('The receiver has taken it: 200 fine').waitFor();
    await clean(page, 'a tested channel');
    await page.getByRole('link', { name: 'Second' }).click();
    await dialog.getByLabel('Name').fill('Renamed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Channels', 'Renamed').waitFor();
    check(await page.getByRole('button', { name: 'Remove Webhook' }).isDisabled(), 'a channel in use can be removed');
    await page.getByRole('button', { name: 'Remove Renamed' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await row(page, 'Channels', 'Renamed').waitFor({ state: 'detached' });
  },

  'the bell of a record, and a message that mutes': async (open) => {
    const { page } = await open();
    const [one] = (await api('GET', '/tools/logs/errors')).data;
    // Only the bell tells of it.
    for (const rule of (await api('GET', '/alerts/rules')).data) await api('PATCH', `/alerts/rules/${rule.id}`, { enabled: false });
    await enter(page, `?record=${one.signature}`);
    await page.locator('.follow > summary').click();
    await page.locator('.follow').getByLabel('Webhook').check();
    await page.getByText('is told when this problem comes back').waitFor();
    await clean(page, 'the bell', undefined, '.follow');
    const followed = (await api('GET', '/alerts/rules')).data.find((r) => r.signatures.includes(one.signature));
    check(followed?.enabled && followed.when.regressed, JSON.stringify(followed));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Resolve', exact: true }).click();
    await page.getByText('1 record resolved.').waitFor();
    await send([event('FirstError', 'nobody knew of this')]);
    await until('the message', () => of('error.regressed').length === 1);
    const { mute_link: link } = of('error.regressed')[0].body.data.items[0];
    await page.goto(link.replace(/^https?:\/\/[^/]*/, url));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Mute this problem?').waitFor();
    await clean(page, 'asked to mute', undefined, 'dialog[open]');
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText('1 record muted.').waitFor();
    check(!page.url().includes('ask='), 'a reload would ask again');
    await page.locator('.follow > summary').click();
    await page.locator('.follow').getByLabel('Webhook').uncheck();
    await page.getByText('is not told of this problem any more').waitFor();
    check(!(await api('GET', '/alerts/rules')).data.some((r) => r.signatures.length > 0), 'an empty rule is left');
  },

  'a key that may only read, and one that may not': async (open) => {
    const { data: reader } = await api('POST', '/keys', { name: 'reader', kind: 'adm', scopes: ['Alerts/Read', 'Tools/*'] });
    const { data: other } = await api('POST', '/keys', { name: 'other', kind: 'adm', scopes: ['Tools/GetErrorLogs'] });
    const { page } = await open();
    await enter(page, '?view=settings&tab=alerts', reader.key);
    await page.getByRole('link', { name: first }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    check(await page.getByRole('dialog').getByLabel('Name').isDisabled(), 'a reader can change a rule');
    check((await page.getByRole('dialog').getByRole('button', { name: 'Save' }).count()) === 0, 'a reader can save');
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
    check(await page.getByRole('button', { name: 'New channel…' }).isDisabled(), 'a reader can make a channel');
    const { page: theirs } = await open();
    await enter(theirs, '?view=settings&tab=alerts', other.key);
    await theirs.getByText('Alerts/Read').waitFor();
  },
});
