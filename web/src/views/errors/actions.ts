// Actions on records, with their texts.
import { h } from 'preact';
import { deleteErrors, setStatus } from '../../api/errors';
import type { Row, Status } from '../../api/types';
import { keyOf } from '../../lib/live';
import { plural } from '../../lib/text';
import { lacking } from '../../session';
import { confirm } from '../../ui/dialog';
import { toast } from '../../ui/toast';
import { movedBy } from '../../lib/undo';
import { offerUndo } from './undo';
import { filters, goneKeys, load, put, selected, settleAfter } from './store';

const verbs: Record<Status, string> = { resolved: 'resolved', muted: 'muted', open: 'reopened' };

export const scopes = { status: 'Tools/UpdateErrorStatus', delete: 'Tools/DeleteErrorLogs' } as const;

/** Changes the status of records and reports how many were changed. */
export async function move(rows: readonly Row[], status: Status): Promise<boolean> {
  const scope = lacking(scopes.status);
  if (scope) {
    toast.bad(`${scope} Ask the person who manages the keys for a key with this scope.`);
    return false;
  }
  if (rows.length === 0) return false;
  try {
    const count = await setStatus(signatures(rows), status);
    // At once, in place; the load after it applies a filter by status.
    put(rows.map((r) => ({ ...r, status, regressed: status === 'open' ? r.regressed : false })));
    selected.value = new Set();
    if (count === 0) toast.good('No record has these signatures any more.');
    else offerUndo(`${plural(count, 'record')} ${verbs[status]}.`, movedBy(rows, status), status);
    void (filters.peek().status || filters.peek().hide_noise ? settleAfter() : load(true));
    return count > 0;
  } catch (error) {
    toast.failed(error);
    return false;
  }
}

/** Asks, deletes, and reports what was deleted. */
export async function remove(rows: readonly Row[]): Promise<boolean> {
  const scope = lacking(scopes.delete);
  if (scope) {
    toast.bad(`${scope} Ask the person who manages the keys for a key with this scope.`);
    return false;
  }
  if (rows.length === 0) return false;
  const list = signatures(rows);
  const seen = rows.reduce((sum, r) => sum + r.count, 0);
  const agreed = await confirm({
    title: `Delete ${plural(rows.length, 'record')}?`,
    text: h('p', null, `${rows.length === 1 ? 'It counts' : 'They count'} ${plural(seen, 'event')}. This cannot be undone. An error that is seen again gets a new record. A signature that is in both books is deleted from both.`),
    yes: `Delete ${plural(rows.length, 'record')}`,
    danger: true,
  });
  if (!agreed) return false;
  try {
    const count = await deleteErrors(list);
    goneKeys.value = new Set([...goneKeys.peek(), ...rows.map(keyOf)]);
    selected.value = new Set();
    toast.good(deleted(count, rows.length));
    void settleAfter();
    return true;
  } catch (error) {
    toast.failed(error);
    return false;
  }
}

/** What a delete did, in words. */
export function deleted(count: number, asked: number): string {
  if (count === 0) return 'Nothing was deleted: the records were gone already.';
  if (count < asked) return `${plural(count, 'record')} of ${asked} deleted; the others were gone already.`;
  return `${plural(count, 'record')} deleted.`;
}

function signatures(rows: readonly Row[]): string[] {
  return [...new Set(rows.map((r) => r.signature))];
}
