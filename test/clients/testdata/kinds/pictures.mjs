// Pictures of the records that an application made: the list, some records with their
// source lines and breadcrumbs, and how their occurrences are spread; wide, and on a
// phone in the dark.
//
//   node pictures.mjs FOLDER NAME KIND…   beside what web/e2e/browser.mjs needs
import { mkdirSync } from 'node:fs';
import { api, browser, enter, settled, tab } from '../../../../web/e2e/browser.mjs';

const [folder, name, ...kinds] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const sizes = {
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
};
const b = await browser();
let bad = '';
for (const [size, options] of Object.entries(sizes)) {
  const { context, page, problems } = await tab(b, { ...options, reducedMotion: 'reduce' });
  const shoot = (what) => page.screenshot({ path: `${folder}/${name}-${what}-${size}.png` });
  await enter(page);
  await page.locator('.list-rows .line').first().waitFor();
  await settled(page);
  await shoot('list');
  for (const kind of kinds) {
    const { data } = await api('GET', `/tools/logs/errors?tag=kind:${encodeURIComponent(kind)}`);
    for (const row of data.slice(0, 1)) {
      await enter(page, `?record=${row.signature}${row.type === 'database' ? '&book=database' : ''}`);
      await page.locator('.occurrence').waitFor();
      await settled(page);
      await shoot(kind);
      await page.locator('.record-all').scrollIntoViewIfNeeded();
      await page.evaluate(() => document.querySelector('.record-all').scrollIntoView());
      await settled(page);
      await shoot(`${kind}-spread`);
    }
  }
  if (problems.length > 0) bad = problems.join('\n');
  await context.close();
}
await b.close();
if (bad) {
  console.error(bad);
  process.exit(1);
}
