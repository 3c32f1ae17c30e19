// Actions on all records that match, also those of other pages: one command over
// the filter.
import { h } from 'preact';
import { deleteErrors, setStatus } from '../../api/errors';
import type { Status } from '../../api/types';
import { active, describe, narrowing, toCommand } from '../../lib/filters';
import { fullCount, plural, visible } from '../../lib/text';
import { phrase } from '../../lib/typed';
import { lacking } from '../../session';
import { confirm, type Question } from '../../ui/dialog';
import { toast } from '../../ui/toast';
import { scopes, verbs } from './actions';
import { filters, loaded, selected, settleAfter } from './store';

const doing: Record<Status, string> = { resolved: 'Resolve', muted: 'Mute', open: 'Reopen' };

/** The filter in words, as lines of the question. */
function words() {
  const set = filters.peek();
  const names = active(set);
  if (names.length === 0) return h('p', null, 'No filter is set: these are all records of both books and of every project that your key may see.');
  return [h('p', { key: 'p' }, 'All records that match:'), h('ul', { key: 'ul', class: 'matching' }, names.map((name) => h('li', { key: name }, visible(describe(name, set[name]!)))))];
}

/** Asks about the number and the filter, does it, and reports the exact number from the answer. */
async function ask(scope: string, question: (count: number) => Omit<Question, 'text'> & { effect: string }, act: (filter: Record<string, string | string[]>) => Promise<string>): Promise<boolean> {
  const denied = lacking(scope);
  if (denied) {
    toast.bad(`${denied} Ask the person who manages the keys for a key with this scope.`);
    return false;
  }
  // What is asked about is what is done, whatever the address says by then.
  const filter = toCommand(filters.peek());
  const { effect, ...rest } = question(loaded.peek()?.meta.total ?? 0);
  const whole = filter.environment || filter.release || filter.tag ? h('p', null, wholeRecords) : null;
  if (!(await confirm({ ...rest, text: h('div', { class: 'stack' }, words(), whole, h('p', null, effect)) }))) return false;
  try {
    const told = await act(filter);
    selected.value = new Set();
    toast.good(told);
    void settleAfter();
    return true;
  } catch (error) {
    toast.failed(error);
    return false;
  }
}

const wholeRecords = 'These are whole records, with what was seen elsewhere too.';

const sinceThen = 'Records that begin to match before the service has the command are among them; the answer tells the exact number.';

export function moveMatching(status: Status): Promise<boolean> {
  return ask(scopes.status, (n) => ({
    title: `${doing[status]} all ${plural(n, 'record')} that match?`, yes: `${doing[status]} ${fullCount(n)}`,
    effect: `${sinceThen} There is no undo for this: it does not remember what each record was.`,
  }), async (filter) => `${plural(await setStatus({ filter }, status), 'record')} ${verbs[status]}.`);
}

export function removeMatching(): Promise<boolean> {
  return ask(scopes.delete, (n) => ({
    title: `Delete all ${plural(n, 'record')} that match?`, yes: `Delete ${fullCount(n)}`, danger: true,
    // A whole project, or everything.
    typed: narrowing(filters.peek()).length === 0 ? phrase(n) : undefined,
    effect: `${sinceThen} This cannot be undone. An error that is seen again gets a new record.`,
  }), async (filter) => {
    const count = await deleteErrors({ filter });
    return count === 0 ? 'Nothing was deleted: no record matched any more.' : `${plural(count, 'record')} deleted.`;
  });
}
