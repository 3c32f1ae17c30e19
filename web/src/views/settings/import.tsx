import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, call } from '../../api/client';
import { importPath, read, type FileNote, type ImportProgress, type Rebuilt } from '../../api/settings';
import { bytes, fullCount, plural } from '../../lib/text';
import { can, who } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { usePoll } from '../../ui/poll';
import { Denied, Failure, Note } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Mono, Safe } from '../../ui/text';
import { toast, wordsOf } from '../../ui/toast';

const scope = 'Tools/RebuildErrorLogs';

// An import continues while other views are shown, and so does its state here.
const mine = signal(false);
const result = signal<Rebuilt | null>(null);
const failed = signal('');
const elsewhere = signal(false);

who.subscribe((now) => { if (!now) { result.value = null; failed.value = ''; } });

async function run(): Promise<void> {
  mine.value = true;
  failed.value = '';
  result.value = null;
  try {
    result.value = (await call<Rebuilt>('POST', importPath, { body: {} })).data;
    toast.good(result.value.count > 0 ? `${plural(result.value.count, 'error')} imported.` : 'The import is done; there was nothing to import.');
  } catch (error) {
    if (error instanceof ApiError && error.code === 'already_running') elsewhere.value = true;
    else failed.value = wordsOf(error);
  }
  mine.value = false;
}

export function ImportTab() {
  return can(scope) ? <Import /> : <><h2>Import</h2><Denied scope={scope} what="Your key may not import" /></>;
}

// Often enough for a moving bar.
const every = 1000;

function Import() {
  const poll = usePoll((abort) => read<ImportProgress>(importPath, abort), every, mine.value);
  const now = poll.data;
  const running = mine.value || now?.running === true;
  useEffect(() => { if (now && !now.running) elsewhere.value = false; }, [now]);
  return (
    <>
      <header class="form-top">
        <h2>Import</h2>
        <p class="dim">
          Reads old error files into the ledger: JSON lines and PHP error logs in <Mono>legacy/system</Mono> and <Mono>legacy/database</Mono> of
          the data folder. Nothing is imported twice, however often the import runs.
        </p>
      </header>
      {poll.error && !now ? <Failure error={poll.error} /> : null}
      <div class="row">
        <Button kind="main" busy={running} onClick={() => void run()}>{running ? 'Importing…' : 'Import the files'}</Button>
        {elsewhere.value || (running && !mine.value) ? <span class="dim">Somebody else has started the import.</span> : null}
      </div>
      <div role="status">
        {now?.running ? <Progress of={now} /> : null}
        {failed.value ? <Note tone="bad">{failed.value}</Note> : null}
        {result.value ? <Result of={result.value} /> : null}
      </div>
    </>
  );
}

function Progress({ of }: { of: ImportProgress }) {
  return (
    <div class="progress">
      <label>
        {of.file ? <>Reading <code class="mono"><Safe text={of.file} /></code></> : 'Looking for files'}
        <progress max={Math.max(of.bytes_total, 1)} value={of.bytes_total > 0 ? of.bytes_done : undefined} />
      </label>
      <span class="dim num">{bytes(of.bytes_done)} of {bytes(of.bytes_total)}, {plural(of.lines, 'line')}, {plural(of.events, 'error')}</span>
    </div>
  );
}

const columns = (why: string): Column<FileNote>[] => [
  { name: 'file', head: 'File', cell: (n) => (n.file ? <code class="mono"><Safe text={n.file} /></code> : <span class="dim">all</span>) },
  { name: 'reason', head: why, cell: (n) => <Safe text={n.reason} /> },
];

function Result({ of }: { of: Rebuilt }) {
  return (
    <section class="stack" aria-label="What the import did">
      {of.files === 0 && of.count === 0 && of.skipped.length === 0
        ? <Note>There was nothing to import: the folders contain no new file.</Note>
        : (
          <dl class="sums">
            <div><dt>Errors imported</dt><dd class="num big">{fullCount(of.count)}</dd></div>
            <div><dt>Files read</dt><dd class="num big">{fullCount(of.files)}</dd></div>
            <div><dt>Unreadable lines</dt><dd class={`num big${of.unreadable > 0 ? ' warn' : ''}`}>{fullCount(of.unreadable)}</dd></div>
            <div><dt>Files skipped</dt><dd class={`num big${of.skipped.length > 0 ? ' warn' : ''}`}>{fullCount(of.skipped.length)}</dd></div>
          </dl>
        )}
      {of.skipped.length > 0 ? <Table label="Files skipped" columns={columns('Reason')} rows={of.skipped} id={(n) => n.file + n.reason} /> : null}
      {of.warnings.length > 0 ? <Table label="Notes on files" columns={columns('Note')} rows={of.warnings} id={(n) => n.file + n.reason} /> : null}
      {of.count > 0 ? <p><PageLink to={{}}>See the errors</PageLink></p> : null}
    </section>
  );
}
