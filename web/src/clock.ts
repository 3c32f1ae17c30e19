import { signal } from '@preact/signals';

/** The time in milliseconds, for relative times. Moves every ten seconds. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 10_000);

addEventListener('visibilitychange', () => {
  if (!document.hidden) now.value = Date.now();
});
