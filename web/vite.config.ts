import { defineConfig } from 'vitest/config';

// A running service, for `npm run dev` alone.
const service = 'http://127.0.0.1:8080';

export default defineConfig({
  // Relative, so that the page works below a path of a reverse proxy.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // Keeps light-dark() as it is written: what the compiler makes of it for
    // older browsers cannot follow the switch of the theme.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // Both would put something inline, which the policy of the page refuses.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': service } },
  test: { include: ['test/**/*.test.ts'] },
});
