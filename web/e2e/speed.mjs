// How soon the list can be used. It is the one script with a time limit.
import { api, check, enter, event, run, send, settled, until, url } from './browser.mjs';

await send(Array.from({ length: 100 }, (_, n) => event(`Speed${n}`, 'one row of a long list')));
await until('the rows', async () => (await api('GET', '/tools/logs/errors?limit=1')).meta.total >= 100);

const rows = (page) => page.locator('.list-rows .line');

await run({
  'a hundred rows can be used within 300 ms of the answer': async (open) => {
    const { page } = await open();
    // The time from the last byte of the list to the frame that shows it and
    // accepts a click.
    await enter(page, '?limit=100');
    await rows(page).nth(99).waitFor();
    const once = (direction) => page.evaluate((to) => new Promise((done) => {
      const first = () => [...document.querySelectorAll('.list-rows .line')].map((row) => row.dataset.key).join();
      const before = first();
      const begun = performance.now();
      const watch = new MutationObserver(() => {
        if (!first() || first() === before) return;
        watch.disconnect();
        // Drawn, and a click works.
        requestAnimationFrame(() => setTimeout(() => {
          document.querySelector('.list-rows input').click();
          requestAnimationFrame(() => {
            if (!document.querySelector('.bulk')) return done(Infinity);
            const at = performance.now();
            // The browser may record the answer later than the page draws it.
            const entered = () => {
              const answer = performance.getEntriesByType('resource').findLast((e) => e.startTime >= begun && e.name.includes(to));
              if (answer) done(at - answer.responseEnd);
              else setTimeout(entered);
            };
            entered();
          });
        }));
      });
      watch.observe(document.querySelector('main'), { subtree: true, childList: true });
      history.pushState(null, '', `?limit=100&order=first_seen&${to}`);
      dispatchEvent(new PopStateEvent('popstate'));
    }), `direction=${direction}`);
    // The best of several: other work of the machine is not the page's, and
    // spares one of them.
    let ms = Infinity;
    for (let n = 0; n < 4 || (ms > 300 && n < 20); n++) {
      ms = Math.min(ms, await once(n % 2 ? 'desc' : 'asc'));
      await settled(page);
    }
    console.log(`      ${await rows(page).count()} rows, ${Math.round(ms)} ms`);
    check(ms <= 300, `it took ${ms} ms`);
  },
});
