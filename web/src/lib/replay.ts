// What a replay found, in words.
import type { LogGap, Replayed, Tally } from '../api/settings';
import { fullCount, plural } from './text';

/** The result in a sentence; details say what it rests on. */
export function verdict(of: Pick<Replayed, 'swapped' | 'differences' | 'outdated'>): { tone: 'good' | 'warn' | 'bad'; text: string; details: string } {
  if (of.differences.length > 0) {
    const details = of.differences.join('; ');
    return of.swapped
      ? { tone: 'warn', text: 'The two differed, and the records from the log are in place.', details }
      : { tone: 'bad', text: 'The two differ, and nothing was replaced.', details };
  }
  const place = of.swapped ? ', and the new records are in place' : '';
  return of.outdated
    ? { tone: 'good', text: `The two agree in all that was compared${place}.`, details: 'An older version has made some of the records; what it saw otherwise was left out of the comparison.' }
    : { tone: 'good', text: `The two agree byte for byte${place}.`, details: '' };
}

export type Agreement = 'yes' | 'no' | 'moved on' | 'not compared';

/** Whether both sides of a line agree. */
export function agreement(of: Pick<Replayed, 'live' | 'replayed' | 'differences' | 'outdated'>, name: keyof Tally): Agreement {
  if (of.live[name] === of.replayed[name]) return 'yes';
  if (name === 'checkpoint') return 'moved on';
  return of.outdated && of.differences.length === 0 ? 'not compared' : 'no';
}

/** What the log lacks; '' for nothing. */
export function lacking(gaps: readonly LogGap[]): string {
  if (gaps.length === 0) return '';
  const facts = gaps.map((g) => (g.from === g.to ? fullCount(g.from) : `${fullCount(g.from)} to ${fullCount(g.to)}`)).join(', ');
  const least = gaps.reduce((n, g) => n + g.least_events, 0);
  const most = gaps.reduce((n, g) => n + g.most_events, 0);
  const events = least === most ? plural(most, 'event') : `${fullCount(least)} to ${plural(most, 'event')}`;
  return `The log lacks the facts ${facts}, which held ${events}. No replay can bring them back.`;
}
