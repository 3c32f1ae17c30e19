// How much of the log this page has seen. It is sent with each call, so that no node of a
// cluster shows less than another one has shown before; see docs/api.md, "Positions".

const header = 'X-Errata-Position';

/** The highest position of an answer so far, 0 for none. */
let seen = 0;

/** The header of a call; empty before the first answer. */
export function seenHeader(): Record<string, string> {
  return seen > 0 ? { [header]: String(seen) } : {};
}

/** Notes the position of an answer. */
export function noteSeen(headers: Headers): void {
  seen = Math.max(seen, Number(headers.get(header)) || 0);
}

/** The log is another one, as after a backup was put back. */
export function forgetSeen(): void {
  seen = 0;
}
