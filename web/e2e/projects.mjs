// Projects: created, changed, refused at the field, archived; and a key that may
// not see them.
import { clean } from './axe.mjs';
import { api, check, enter, id, run, settled, until, url, visit } from './browser.mjs';

const named = async (name) => (await api('GET', '/projects')).data.find((p) => p.name === name);
const secret = (page, label) => page.locator('.secret', { has: page.getByText(label, { exact: true }) }).locator('code').innerText();
const project = async (page, of) => {
  await enter(page, `?view=projects&id=${of.id}`);
  await page.getByText('Everything here is saved.').waitFor();
  await settled(page);
};
const save = async (page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything here is saved.').waitFor();
};
const made = async () => (await api('POST', '/projects', { name: `e2e ${id().slice(0, 8)}`, platform: 'go' })).data;
/** High enough for the whole form: axe calls a field too small that is half below a bar. */
const high = { viewport: { width: 1280, height: 1500 } };
/** What the service answers to an event of the project. */
const sending = async (of) => (await fetch(`${url}/api/v1/events`, {
  method: 'POST', headers: { Authorization: `Bearer ${of.key}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ message: 'of a project' }),
})).status;

// No step minds another: each has projects of its own.
await run({
  'one is created, and shows its key once': async (open) => {
    const { page } = await open();
    const name = `Shop ${id().slice(0, 8)}`;
    await enter(page, '?view=errors');
    await page.locator('main').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('cell', { name: 'default' }).first().waitFor();
    check((await page.title()) === 'Projects · Errata', `the title is ${await page.title()}`);
    await clean(page, 'projects');
    await page.getByRole('button', { name: 'Create a project…' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Enter a name for the project.').waitFor();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Platform').fill('no such thing!');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('dialog .field.wrong .error').getByText('A platform is a word').waitFor();
    await page.waitForFunction(() => document.activeElement?.name === 'platform');
    await clean(page, 'create, refused', undefined, 'dialog[open]');
    await page.getByLabel('Platform').fill('python-django');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const [dsn, key] = [await secret(page, 'DSN'), await secret(page, 'Ingest key')];
    const kept = await named(name);
    check(kept.dsn === dsn && kept.platform === 'python-django' && /^\w+_ing_/.test(key), `made ${JSON.stringify(kept)} with ${dsn} and ${key}`);
    check((await page.getByRole('tab', { selected: true }).innerText()) === 'Python', 'the code is not for its platform');
    check((await page.getByRole('tabpanel').innerText()).includes(dsn), 'the code does not name the DSN');
    await clean(page, 'the new project');
    await page.reload();
    await page.getByRole('link', { name }).waitFor();
    check(!(await page.content()).includes(key), 'the key is shown again');
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name, level: 2 }).waitFor();
    await until('the title', async () => (await page.title()) === `${name} · Errata`);
    check((await secret(page, 'DSN')) === dsn, 'its page has another DSN');
  },

  'its settings are written and read again': async (open) => {
    const { page } = await open(high);
    const of = await made();
    await project(page, of);
    await clean(page, 'a project');
    await page.getByLabel('Name', { exact: true }).fill(`${of.name}, renamed`);
    await page.getByLabel('Slug').fill(`${of.slug}-b`);
    await page.getByLabel('Platform').fill('php-laravel');
    await page.getByLabel('Events a minute').fill('600');
    await page.getByLabel('New records an hour').fill('0');
    await page.getByLabel('Records', { exact: true }).fill('90');
    await page.getByLabel('Occurrences').fill('7');
    for (const [at, [field, match, action]] of [['class', 'ChunkLoadError*', 'noise'], ['user_agent', '*bot*', 'drop'], ['ip', '10.*', 'mute']].entries()) {
      await page.getByRole('button', { name: 'Add a rule' }).click();
      // The focus is where one types next.
      await page.waitForFunction((n) => document.activeElement?.name === n, `noise[${at}].match`);
      await page.keyboard.type(match);
      await page.getByLabel(`Field of rule ${at + 1}`).selectOption(field);
      await page.getByLabel(`Action of rule ${at + 1}`).selectOption(action);
    }
    await page.getByRole('button', { name: 'Remove rule 2' }).click();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Remove rule 2');
    await page.getByText('8 changes not saved').waitFor();
    await clean(page, 'a project, changed');
    await save(page);
    const { data } = await api('GET', `/projects/${of.id}`);
    const want = {
      name: `${of.name}, renamed`, slug: `${of.slug}-b`, platform: 'php-laravel', retention_days: 90, occurrence_days: 7, limits: { events_per_minute: 600, new_records_per_hour: 0 },
      noise: [{ field: 'class', match: 'ChunkLoadError*', action: 'noise' }, { field: 'ip', match: '10.*', action: 'mute' }],
    };
    for (const [name, value] of Object.entries(want)) check(JSON.stringify(data[name]) === JSON.stringify(value), `${name} is ${JSON.stringify(data[name])}`);
    await page.reload();
    await page.getByText('Everything here is saved.').waitFor();
    check((await page.getByLabel('Events a minute').inputValue()) === '600' && (await page.getByLabel('Text of rule 2').inputValue()) === '10.*', 'after a reload it is another');
    // Nothing stands for the limit of the service.
    await page.getByLabel('Events a minute').fill('');
    await save(page);
    check((await api('GET', `/projects/${of.id}`)).data.limits.events_per_minute === null, 'an empty limit is not that of the service');
  },

  'what is wrong stands at its field': async (open) => {
    const { page } = await open(high);
    const of = await made();
    await project(page, of);
    const wrong = page.locator('.field.wrong .error, .rules .error');
    await page.getByLabel('Events a minute').fill('many');
    await page.getByLabel('Occurrences').fill('0');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('three that are wrong', async () => (await wrong.count()) === 3);
    await page.waitForFunction(() => document.activeElement?.name === 'limits.events_per_minute');
    await clean(page, 'a project, refused here');
    await page.getByRole('button', { name: 'Discard' }).click();
    // What only the service knows: the answer names the field.
    await page.getByLabel('Slug').fill('default');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForFunction(() => document.activeElement?.name === 'slug' && document.activeElement.getAttribute('aria-invalid') === 'true');
    await page.getByText('Not saved: see Slug.').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Text of rule 1').fill('x'.repeat(201));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved: see Noise rule 1, match.').waitFor();
    await page.waitForFunction(() => document.activeElement?.name === 'noise[0].match');
    await clean(page, 'a project, refused');
    check((await api('GET', `/projects/${of.id}`)).data.noise.length === 0, 'it was written');
  },

  'into the archive and out of it': async (open) => {
    const { page } = await open(high);
    const of = await made();
    check((await sending(of)) === 202, 'the new project takes no events');
    await project(page, of);
    await page.getByRole('button', { name: 'Archive…' }).click();
    await clean(page, 'archive', undefined, 'dialog[open]');
    await page.getByRole('button', { name: 'Cancel' }).click();
    check(!(await api('GET', `/projects/${of.id}`)).data.archived, 'it did not ask');
    await page.getByRole('button', { name: 'Archive…' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('This project is archived').waitFor();
    await until('a refusal of its events', async () => (await sending(of)) === 403);
    await clean(page, 'an archived project');
    await visit(page, '?view=projects');
    await page.getByRole('row', { name: of.name }).getByText('archived').waitFor();
    await page.getByRole('link', { name: of.name }).click();
    await page.getByRole('button', { name: 'Take out of the archive…' }).click();
    await page.getByRole('button', { name: 'Take out of the archive', exact: true }).click();
    await page.getByRole('button', { name: 'Archive…' }).waitFor();
    await until('its events', async () => (await sending(of)) === 202);
  },

  'keys that may not manage or see them': async (open) => {
    const { page } = await open();
    const [looks, none] = await Promise.all([['Projects/Read', 'Tools/GetErrorLogs'], ['Tools/GetErrorLogs']].map(async (scopes) => (await api('POST', '/keys', { name: `narrow ${id().slice(0, 8)}`, kind: 'adm', scopes })).data));
    await enter(page, '?view=projects', looks.key);
    const create = page.getByRole('button', { name: 'Create a project…' });
    await create.waitFor();
    check(await create.isDisabled() && /Projects\/Manage/.test(await create.getAttribute('title')), 'it may create one');
    await page.getByRole('link', { name: 'default', exact: true }).click();
    await page.getByText('You can read this, but not change it').waitFor();
    check(await page.getByRole('button', { name: 'Archive…' }).isDisabled(), 'it may archive one');
    await clean(page, 'a project, read only');
    await page.evaluate((k) => sessionStorage.setItem('errata.key', k), none.key);
    await page.reload();
    await page.getByText('Your key may not see projects').waitFor();
    check((await page.locator('.denied code').innerText()) === 'Projects/Read', 'the scope is not named');
    await clean(page, 'projects, denied');
  },

  'one that is not there': async (open) => {
    const { page } = await open();
    await enter(page, '?view=projects&id=999999');
    await page.locator('.failure').waitFor();
    await clean(page, 'no such project');
    await page.getByRole('link', { name: 'All projects' }).click();
    await page.getByRole('link', { name: 'default', exact: true }).waitFor();
  },
}, 2);
