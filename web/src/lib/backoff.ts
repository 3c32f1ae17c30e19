/** Milliseconds before try n (from 0): doubles from one second to thirty, minus up to half of it at random. */
export function backoff(n: number, random: number): number {
  const full = Math.min(30_000, 1000 * 2 ** Math.min(n, 10));
  return Math.round(full * (1 - random / 2));
}
