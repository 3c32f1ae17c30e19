// 250 events of an attacker who wants the page to run something: nothing runs,
// nothing is reported, nothing leaves its place.
import { api, check, counted, enter, id, run, send, settled, until, url } from './browser.mjs';

const code = (s) => String.fromCodePoint(...s);
const strings = [
  '<script>alert(1)</script>', '</title></script><script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'><svg onload=alert(1)>", '<svg><script>alert(1)</script></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>', '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>', '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>parent.alert(1)</script>">', '<object data="data:text/html,<script>alert(1)</script>">', '<embed src=javascript:alert(1)>', '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">', '<link rel=stylesheet href=https://evil.example/x.css>', '<style>*{background:url(https://evil.example/x)}</style>',
  '<form action=https://evil.example/><button>go</button></form>', '<a href="javascript:alert(1)">x</a>', '<details open ontoggle=alert(1)>', '<input autofocus onfocus=alert(1)>', '<video><source onerror=alert(1)>',
  '<body onload=alert(1)>', '<template><script>alert(1)</script></template>', '<noscript><p title="</noscript><img src=x onerror=alert(1)>">', '<!--><img src=x onerror=alert(1)>-->', '<x onclick=alert(1) style=position:fixed;inset:0>x',
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' \u0001javascript:alert(1)', 'java\tscript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'vbscript:msgbox(1)', '//evil.example/x', 'https://evil.example/" onmouseover="alert(1)',
  'https://ok.example/<script>alert(1)</script>', '{{constructor.constructor("alert(1)")()}}', '${alert(1)}', '#{alert(1)}', '<%= alert(1) %>', "');alert(1);//", '__proto__', 'constructor', 'toString',
  '\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007', '\u001b[2J\u001b[1;1H', '\u0000\u0001\u0002\u0007\b\u000b\f\u007f', 'a\r\nSet-Cookie: x=1', '\u009b31m',
  'user\u202egnp.exe', '\u202e\u202dabc\u2066\u2067def', '\u2067'.repeat(200), 'pay\u200bpal \ufeff\u00ad\u200e\u200f', '\u2028\u2029', 'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034da\u036b\u0357\u0334\u0362\u0335\u031c\u0330\u0354l\u0368\u0367\u0369\u0358\u0320g\u0311'.repeat(20),
  '\ud800', '\udfff\ud800', code([0x1f468, 0x200d, 0x1f469, 0x200d, 0x1f467]), code([0x10ffff, 0xfffe]), 'ﷺ'.repeat(100), 'ا'.repeat(500), 'A'.repeat(1_000_000), `<b>${'b'.repeat(900_000)}`, 'a b '.repeat(50_000), '\n'.repeat(5_000), 'W'.repeat(5_000),
  '../../../../etc/passwd', 'C:\\..\\..\\x', '%3Cscript%3Ealert(1)%3C/script%3E', '&lt;script&gt;alert(1)&lt;/script&gt;', '&#x3c;script&#x3e;', '\\u003cscript\\u003e', '`${alert(1)}`', '```\n<script>alert(1)</script>', '[x](javascript:alert(1))', '![x](https://evil.example/x.png)',
  '=HYPERLINK("https://evil.example")', '@SUM(1+1)*cmd|calc', "1' OR '1'='1", '{"$ne":null}', '%s%s%n', '-- ', "\u2019; DROP TABLE records", 'x'.repeat(200) + '<script>alert(1)</script>',
];

// Without digits, which the signature would replace; so records of an earlier run
// must be deleted.
const mark = 'hostilemark';
for (;;) {
  const { data } = await api('GET', `/tools/logs/errors?limit=100&search=${mark}`);
  if (data.length === 0) break;
  await api('DELETE', '/tools/logs/errors', { signatures: data.map((r) => r.signature) });
}

/** The same string in every field that takes a string. */
function hostile(s, n) {
  const where = n % 3;
  return {
    event_id: id(), level: ['error', 'fatal', 'warning'][n % 3], timestamp: Date.now() / 1000, platform: s.slice(0, 40), release: s.slice(0, 200), environment: s.slice(0, 60), server_name: s.slice(0, 200), transaction: s.slice(0, 200), logger: s.slice(0, 100),
    exception: { values: [{ type: where === 0 ? s.slice(0, 300) : `Hostile${n}`, value: `${mark} ${s}`, module: s.slice(0, 100), stacktrace: { frames: [
      { filename: where === 1 ? s.slice(0, 500) : `f${n}.js`, lineno: n, function: s.slice(0, 300), module: s.slice(0, 100), in_app: true, colno: 3, context_line: s.slice(0, 200), pre_context: [s.slice(0, 300), `"${s.slice(0, 100)}`], post_context: [`/* ${s.slice(0, 100)}`, s.slice(0, 100)], vars: { [s.slice(0, 40) || 'k']: s.slice(0, 100) } }, { filename: s.slice(0, 100), abs_path: s.slice(0, 100), function: 'lib', in_app: false },
      { filename: `own${n}.js`, lineno: n, function: s.slice(0, 100), in_app: true },
    ] } }] },
    request: { method: s.slice(0, 20), url: where === 2 ? s.slice(0, 500) : `https://shop.example/${encodeURIComponent(s.slice(0, 100).toWellFormed?.() ?? 'x')}`, headers: { 'User-Agent': s.slice(0, 300), Referer: s.slice(0, 300) } },
    breadcrumbs: { values: [{ timestamp: s.slice(0, 20), category: s.slice(0, 60), type: s.slice(0, 20), level: s.slice(0, 20), message: s.slice(0, 500), data: { url: 'javascript:alert(1)', method: s.slice(0, 20), [s.slice(0, 40) || 'k']: s.slice(0, 100) } }] },
    contexts: { [s.slice(0, 40) || 'k']: { name: s.slice(0, 200), link: 'javascript:alert(1)' } },
    user: { id: s.slice(0, 100) }, tags: { [s.slice(0, 30) || 'k']: s.slice(0, 190), link: 'javascript:alert(1)' },
    extra: { [s.slice(0, 100) || 'k']: s.slice(0, 20_000), link: 'javascript:alert(1)', good: 'https://ok.example/?a=<b>', deep: JSON.parse('['.repeat(60) + ']'.repeat(60)) },
  };
}

const events = Array.from({ length: 250 }, (_, n) => hostile(strings[n % strings.length], n));
await send(events);
// An event that is still on its way could be in one answer and not in the next.
await until('all of them', async () => (await counted(`search=${mark}`)) === events.length);

// Only the elements that the page is made of.
const tags = new Set(['DIV', 'SPAN', 'A', 'BDI', 'INPUT', 'SVG', 'PATH', 'RECT', 'TIME', 'BUTTON', 'H1', 'H2', 'H3', 'H4', 'MARK', 'TABLE', 'THEAD', 'TBODY', 'TR', 'TH', 'TD', 'DATALIST', 'DL', 'DT', 'DD', 'P', 'OL', 'UL', 'LI', 'DETAILS', 'SUMMARY', 'PRE', 'CODE', 'SECTION', 'HEADER', 'FIELDSET', 'LEGEND', 'LABEL', 'CANVAS', 'B', 'I', 'KBD', 'SELECT', 'OPTION', 'NAV', 'MAIN', 'FORM', 'TEXTAREA']);

const foreign = (page) => page.evaluate((allowed) => {
  const all = [...document.querySelectorAll('body *')];
  const bad = all.filter((e) => e.closest('#app') && e.id !== 'app' && !allowed.includes(e.tagName.toUpperCase())).map((e) => e.outerHTML.slice(0, 80));
  const links = [...document.querySelectorAll('a[href]')].filter((a) => {
    if (!['http:', 'https:'].includes(a.protocol)) return true;
    return a.origin !== location.origin && !(a.rel.includes('noopener') && a.rel.includes('noreferrer'));
  }).map((a) => a.outerHTML.slice(0, 80));
  const handlers = all.filter((e) => [...e.attributes].some((x) => x.name.startsWith('on'))).map((e) => e.outerHTML.slice(0, 80));
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth ? [`sticks out: ${document.documentElement.scrollWidth}`] : [];
  return [...bad, ...links, ...handlers, ...wide, ...(document.scripts.length === 1 ? [] : [`${document.scripts.length} scripts`]), ...(Object.prototype.hasOwnProperty.call(Object.prototype, 'polluted') ? ['polluted'] : [])];
}, [...tags]);

await run({
  '250 hostile events in the list': async (open) => {
    const { page } = await open();
    await enter(page, `?limit=100&search=${mark}`);
    await page.waitForSelector('.list-rows .line');
    const { meta } = await api('GET', `/tools/logs/errors?limit=100&search=${mark}`);
    let seen = 0;
    for (let at = 1; at <= Math.ceil(meta.total / 100); at++) {
      await page.goto(`${url}/?limit=100&search=${mark}&page=${at}`);
      await page.waitForSelector('.list-rows .line');
      await settled(page);
      seen += await page.locator('.list-rows .line').count();
      const bad = await foreign(page);
      check(bad.length === 0, bad.slice(0, 3).join('\n'));
      // A row keeps its height with every text.
      const high = await page.evaluate(() => Math.max(...[...document.querySelectorAll('.list-rows .line')].map((e) => e.getBoundingClientRect().height)));
      check(high <= 30, `a row is ${high} px high`);
    }
    console.log(`      ${seen} records of 250 events`);
    check(seen === meta.total, `${seen} of ${meta.total} are shown`);
  },
  'and opened': async (open) => {
    const { page } = await open();
    await enter(page, `?limit=1&search=${mark}`);
    await page.waitForSelector('.list-rows .line');
    const rows = (await Promise.all([1, 2, 3].map((at) => api('GET', `/tools/logs/errors?limit=100&page=${at}&search=${mark}`)))).flatMap((a) => a.data);
    // One of each string: every part of a record is the same for all. The line is
    // the event's number.
    const each = new Map(rows.map((row) => [row.line % strings.length, row]));
    check(each.size === strings.length, `only ${each.size} of ${strings.length} strings have a record`);
    for (const row of each.values()) {
      await page.evaluate((to) => { history.replaceState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }, `?limit=1&search=${mark}&record=${row.signature}&book=${row.type}`);
      await page.waitForFunction((s) => document.querySelector('.record-event > p > code')?.textContent === s, row.signature);
      await page.evaluate(() => document.querySelectorAll('.record details.part:not([open]) > summary').forEach((s) => s.click()));
      await page.evaluate(() => document.querySelectorAll('.record .folded, .record .tree details:not([open]) > summary').forEach((s) => s.click()));
      // A branch is drawn after the event that reports that it unfolded.
      await page.waitForFunction(() => !document.querySelector('.record .folded') && [...document.querySelectorAll('.record .tree details[open]')].every((d) => d.querySelector(':scope > .branch')));
      await page.evaluate(() => document.querySelectorAll('.record .unfolds:not([open]) > summary, .record .crumb-data:not([open]) > summary').forEach((s) => s.click()));
      await settled(page);
      const bad = await foreign(page);
      check(bad.length === 0, `${row.signature}: ${bad.slice(0, 3).join('\n')}`);
    }
  },
  'as a name of a filter, a view, a search': async (open) => {
    const { page } = await open();
    await enter(page, `?${new URLSearchParams({ search: '<img src=x onerror=alert(1)>', file: '"><script>alert(1)</script>', record: 'javascript:alert(1)', view: '__proto__', tab: '<svg onload=alert(1)>' })}`);
    await page.waitForSelector('.state.empty');
    await settled(page);
    check((await foreign(page)).length === 0, (await foreign(page)).join('\n'));
  },
});
