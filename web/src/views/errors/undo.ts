// Offers to take back a move for some seconds, and watches the records meanwhile.
import { signal } from '@preact/signals';
import { setStatus } from '../../api/errors';
import type { Row, Status } from '../../api/types';
import { keyOf } from '../../lib/live';
import { callsBack, changedSince, undoneWords, type Former } from '../../lib/undo';
import { toast } from '../../ui/toast';
import { focusRow } from './list';
import { cursor, filters, load, loaded, onStream, openKey, put, settleAfter } from './store';

/** Counts what was taken back: an open record is then read again. */
export const undone = signal(0);

/** Reports a move, with a button that takes it back. */
export function offerUndo(text: string, formers: readonly Former[], to: Status): void {
  if (formers.length === 0) {
    toast.good(text);
    return;
  }
  const byKey = new Map(formers.map((f) => [keyOf(f), f]));
  const changed = new Set<string>();
  const look = (rows: readonly Row[]) => {
    for (const row of rows) {
      const former = byKey.get(keyOf(row));
      if (former && changedSince(former, to, row)) changed.add(keyOf(row));
    }
  };
  const stop = onStream((batch) => {
    look(batch.records);
    for (const gone of batch.gone) if (byKey.has(keyOf(gone))) changed.add(keyOf(gone));
  });
  const run = () => {
    // The list may have been read again before the stream tells.
    look(loaded.peek()?.rows ?? []);
    void putBack(formers, changed);
  };
  toast.good(text, { label: 'Undo', key: 'z', run, gone: stop });
}

async function putBack(formers: readonly Former[], changed: ReadonlySet<string>): Promise<void> {
  try {
    let back = 0;
    for (const call of callsBack(formers, changed)) back += await setStatus(call.signatures, call.status);
    const former = new Map(formers.filter((f) => !changed.has(keyOf(f))).map((f) => [keyOf(f), f]));
    put((loaded.peek()?.rows ?? []).filter((r) => former.has(keyOf(r))).map((r) => ({ ...r, status: former.get(keyOf(r))!.status, regressed: false })));
    undone.value++;
    const marks = [...former.values()].filter((f) => f.regressed).length;
    toast.good(undoneWords(back, changed.size, marks));
    await (filters.peek().status || filters.peek().hide_noise ? settleAfter() : load(true));
    giveBack(formers[0]!);
  } catch (error) {
    toast.failed(error);
  }
}

// The button that had the focus is gone.
function giveBack(to: Former): void {
  if (document.activeElement !== document.body || openKey.peek()) return;
  cursor.value = keyOf(to);
  focusRow(keyOf(to));
}
