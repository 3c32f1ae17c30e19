import { defineConfig } from 'vitest/config';

// The service to use; only for `npm run dev`.
const service = 'http://127.0.0.1:8080';

export default defineConfig({
  // Relative, so that the page works below a path of a reverse proxy.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // Keeps light-dark() as it is written: the compiler's version for older
    // browsers does not follow the switch of the theme.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // Both would inline something, which the policy of the page refuses.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': service } },
  test: { include: ['test/**/*.test.ts'] },
});
