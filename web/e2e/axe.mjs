// Checks a page with axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { check, settled } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// All rules once; after that only the rules whose result can change.
export const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
export const colours = ['color-contrast'];
export const layout = ['target-size', 'link-name', 'button-name', 'label', 'page-has-heading-one', 'scrollable-region-focusable', 'aria-hidden-focus', 'region', 'nested-interactive'];

/** within is a selector for one part: something that opened on a page without findings. */
export async function clean(page, where, rules = all, within = null) {
  // A part of a page has other findings than the whole.
  await settled(page);
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const options = { runOnly: rules === all ? all : { type: 'rule', values: rules }, resultTypes: ['violations'] };
  const { violations } = await page.evaluate(([inside, how]) => globalThis.axe.run(inside ?? document, how), [within, options]);
  const words = violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].target.join(' ')}: ${v.nodes[0].failureSummary.split('\n').slice(1, 2).join('')}`);
  check(words.length === 0, `${where}: ${words.join('; ')}`);
}
