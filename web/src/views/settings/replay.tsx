import { signal } from '@preact/signals';
import { ApiError, call } from '../../api/client';
import { read, replayPath, type Replayed, type ReplayProgress, type Tally } from '../../api/settings';
import { agreement, lacking, verdict, type Agreement } from '../../lib/replay';
import { fullCount, plural } from '../../lib/text';
import { can, who } from '../../session';
import { Button } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { usePoll } from '../../ui/poll';
import { Denied, Failure, Note } from '../../ui/state';
import { Table } from '../../ui/table';
import { Safe } from '../../ui/text';
import { wordsOf } from '../../ui/toast';

const scope = 'Ops/Replay';

// It goes on while one looks at something else.
const mine = signal(false);
const outcome = signal<Replayed | null>(null);
const differs = signal(false);
const failed = signal('');

who.subscribe((now) => { if (!now) { outcome.value = null; failed.value = ''; } });

async function run(force: boolean): Promise<void> {
  mine.value = true;
  failed.value = '';
  outcome.value = null;
  differs.value = false;
  try {
    outcome.value = (await call<Replayed>('POST', replayPath, { body: { force } })).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'projection_differs' && isReplayed(error.details)) {
      outcome.value = error.details;
      differs.value = true;
    } else failed.value = wordsOf(error);
  }
  mine.value = false;
}

function isReplayed(value: unknown): value is Replayed {
  return typeof value === 'object' && value !== null && 'live' in value && 'replayed' in value;
}

export function ReplayTab() {
  return can(scope) ? <Replay /> : <><h2>Replay</h2><Denied scope={scope} what="Your key may not replay" /></>;
}

const every = 1000;

function Replay() {
  const poll = usePoll((abort) => read<ReplayProgress>(replayPath, abort), every, mine.value);
  const now = poll.data;
  const running = mine.value || now?.running === true;
  const force = async () => {
    const sure = await confirm({
      title: 'Use the records from the log?',
      text: <p>The current records are replaced by those from the log, although the two differ. Data that only the current records have is lost.</p>,
      yes: 'Replace', danger: true, typed: 'replace',
    });
    if (sure) void run(true);
  };
  return (
    <>
      <header class="form-top">
        <h2>Replay</h2>
        <p class="dim">
          Makes the records again from the log, beside the current ones, compares both, and replaces the current ones when both agree.
          Reading and sending continue meanwhile.
        </p>
      </header>
      {poll.error && !now ? <Failure error={poll.error} /> : null}
      <div class="row"><Button kind="main" busy={running} onClick={() => void run(false)}>{running ? 'Replaying…' : 'Replay the log'}</Button></div>
      <div role="status">
        {now?.running ? (
          <div class="progress">
            <label>Making the records again<progress max={Math.max(now.target, 1)} value={now.sequence} /></label>
            <span class="dim num">fact {fullCount(now.sequence)} of {fullCount(now.target)}, {plural(now.events, 'event')}</span>
          </div>
        ) : null}
        {failed.value ? <Note tone="bad">{failed.value}</Note> : null}
      </div>
      {outcome.value ? <Outcome of={outcome.value} /> : null}
      {differs.value ? <div class="row"><Button kind="danger" onClick={() => void force()}>Use the records from the log…</Button></div> : null}
    </>
  );
}

const lines: readonly { name: keyof Tally; label: string }[] = [
  { name: 'checkpoint', label: 'Last fact' }, { name: 'records', label: 'Records' }, { name: 'count', label: 'Sum of counts' },
  { name: 'payloads', label: 'Payloads' }, { name: 'hours', label: 'Events in trends' }, { name: 'deployed', label: 'Events by environment and release' },
  { name: 'occurred', label: 'Occurrences' },
  { name: 'records_checksum', label: 'Checksum of records' }, { name: 'payloads_checksum', label: 'Checksum of payloads' }, { name: 'hours_checksum', label: 'Checksum of trends' },
  { name: 'deployments_checksum', label: 'Checksum of environments and releases' },
  { name: 'occurrences_checksum', label: 'Checksum of occurrences' },
];

function Outcome({ of }: { of: Replayed }) {
  const show = (v: number | string) => (typeof v === 'number' ? <span class="num">{fullCount(v)}</span> : <code class="mono">{v}</code>);
  const said = verdict(of);
  const gaps = lacking(of.gaps);
  return (
    <section class="stack" aria-label="What the replay found">
      <Note tone={said.tone}>
        <b>{said.text}</b>{said.details ? <> <Safe text={said.details} /></> : null}
        {said.tone === 'good' ? <> {plural(of.facts, 'fact')} with {plural(of.events, 'event')} in {(of.took_ms / 1000).toFixed(1)} s; new events waited {plural(of.paused_ms, 'millisecond')}.</> : null}
      </Note>
      {gaps ? <Note tone="warn">{gaps}</Note> : null}
      <Table
        label="Comparison" rows={lines} id={(l) => l.name}
        columns={[
          { name: 'what', head: 'What', cell: (l) => l.label },
          { name: 'live', head: 'Shown before', right: true, cell: (l) => show(of.live[l.name]) },
          { name: 'replayed', head: 'From the log', right: true, cell: (l) => show(of.replayed[l.name]) },
          { name: 'same', head: 'Agrees', cell: (l) => <Agrees is={agreement(of, l.name)} /> },
        ]}
      />
    </section>
  );
}

function Agrees({ is }: { is: Agreement }) {
  if (is === 'yes') return <>yes</>;
  return is === 'no' ? <b class="bad">no</b> : <span class="dim">{is}</span>;
}
