// Taking back a move of records to another status.
import type { Row, Status } from '../api/types';
import { keyOf } from './live';

/** A record before the move. */
export type Former = Pick<Row, 'type' | 'signature' | 'status' | 'regressed'>;

/** The records that a move to the status changes. */
export function movedBy(rows: readonly Row[], to: Status): Former[] {
  return rows.filter((r) => r.status !== to).map(({ type, signature, status, regressed }) => ({ type, signature, status, regressed }));
}

/** Whether somebody else, or a new event, has changed the record since it was moved. */
export function changedSince(former: Former, to: Status, now: Former): boolean {
  const ours = now.status === to && !now.regressed;
  // A message that is older than the move.
  const before = now.status === former.status && now.regressed === former.regressed;
  return !ours && !before;
}

export interface Call {
  status: Status;
  signatures: string[];
}

/** The calls that put the records back, one for each former status; without those that have changed meanwhile. */
export function callsBack(formers: readonly Former[], changed: ReadonlySet<string>): Call[] {
  const calls = new Map<Status, Set<string>>();
  for (const f of formers) {
    if (changed.has(keyOf(f))) continue;
    calls.set(f.status, (calls.get(f.status) ?? new Set()).add(f.signature));
  }
  return [...calls].map(([status, signatures]) => ({ status, signatures: [...signatures] }));
}

/** What the undo did, in words. */
export function undoneWords(back: number, changed: number, lostMarks: number): string {
  const records = (n: number) => (n === 1 ? '1 record' : `${n} records`);
  const parts = [back > 0 ? `${records(back)} put back.` : 'Nothing was put back.'];
  if (changed > 0) parts.push(`${records(changed)} ${changed === 1 ? 'was' : 'were'} changed or seen again meanwhile, and ${changed === 1 ? 'stays' : 'stay'} so.`);
  if (lostMarks > 0) parts.push(`${back === 1 ? 'It is' : lostMarks === 1 ? 'One of them is' : `${lostMarks} of them are`} no longer marked as regressed.`);
  return parts.join(' ');
}
