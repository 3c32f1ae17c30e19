// The list while its records change.
import type { Book, Row } from '../api/types';

/** The identity of a record: a signature may be in both books. */
export function keyOf(record: { type: Book; signature: string }): string {
  return `${record.type}:${record.signature}`;
}

/** The rows with their changes, each in its place. The same array when none changed. */
export function updated(rows: readonly Row[], changes: readonly Row[]): readonly Row[] {
  const byKey = new Map(changes.map((r) => [keyOf(r), r]));
  if (!rows.some((r) => byKey.has(keyOf(r)))) return rows;
  return rows.map((r) => byKey.get(keyOf(r)) ?? r);
}

/** Changes as rows take them whose numbers are those of a choice: a change tells the numbers of the whole record. */
export function withNumbersOf(rows: readonly Row[], changes: readonly Row[]): Row[] {
  const byKey = new Map(rows.map((r) => [keyOf(r), r]));
  return changes.map((change) => {
    const shown = byKey.get(keyOf(change));
    return shown ? { ...change, count: shown.count, first_seen: shown.first_seen, last_seen: shown.last_seen } : change;
  });
}

/** The rows without deleted ones. The same array when none was deleted. */
export function without(rows: readonly Row[], gone: readonly { type: Book; signature: string }[]): readonly Row[] {
  const keys = new Set(gone.map(keyOf));
  return rows.some((r) => keys.has(keyOf(r))) ? rows.filter((r) => !keys.has(keyOf(r))) : rows;
}

/** How many of the new rows are not shown yet. */
export function unseen(shown: readonly Row[], fresh: readonly Row[]): number {
  const keys = new Set(shown.map(keyOf));
  return fresh.filter((r) => !keys.has(keyOf(r))).length;
}

/** Counts with the events since then added to the last bucket. */
export function grown(counts: readonly number[], by: number): number[] {
  const out = [...counts];
  if (out.length > 0 && by > 0) out[out.length - 1]! += by;
  return out;
}
