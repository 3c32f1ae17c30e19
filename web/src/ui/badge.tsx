import type { Level, Status } from '../api/types';

const short: Record<Level, string> = {
  debug: 'debug', info: 'info', notice: 'notice', warning: 'warn', error: 'error', critical: 'crit', fatal: 'fatal',
};

/** The level in words; the colour only repeats it. */
export function LevelBadge({ level }: { level: Level }) {
  return <span class={`badge level-${level}`} title={level}>{short[level] ?? level}</span>;
}

/** Marks a record that counts problems beyond the hour's budget of new records. */
export function OverflowBadge() {
  return <span class="badge tone-warn" title="It counts the events of new problems of this class that came after the hour’s budget of new records was used up">overflow</span>;
}

/** Open looks like plain text: nobody has decided about the record yet. */
export function StatusBadge({ status, regressed }: { status: Status; regressed: boolean }) {
  if (regressed && status === 'open') return <span class="badge state-regressed" title="It was resolved and has been seen again">regressed</span>;
  return <span class={`badge state-${status}`}>{status}</span>;
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

/** A word in a box, for everything else. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: string }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}
