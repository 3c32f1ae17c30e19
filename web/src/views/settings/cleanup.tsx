import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, newOnce } from '../../api/client';
import { cleanUp, previewCleanup, type CleanedUp, type Preview } from '../../api/settings';
import { fullCount, plural } from '../../lib/text';
import { dayUTC } from '../../lib/time';
import { phrase } from '../../lib/typed';
import { can } from '../../session';
import { Button } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { TextField } from '../../ui/field';
import { Denied, Note } from '../../ui/state';
import { wordsOf } from '../../ui/toast';

const scope = 'Tools/ClearErrorLogs';

const spans = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 180, label: 'half a year' },
  { days: 365, label: 'a year' },
];

export function CleanupTab() {
  return can(scope) ? <Cleanup /> : <><h2>Cleanup</h2><Denied scope={scope} what="Your key may not clean up" /></>;
}

function Cleanup() {
  const [before, setBefore] = useState('');
  const [preview, setPreview] = useState<Preview | null>(null);
  const [done, setDone] = useState<{ asked: Preview; did: CleanedUp } | null>(null);
  const [error, setError] = useState('');
  const [busy, setBusy] = useState<'' | 'preview' | 'delete'>('');
  const form = useRef<HTMLFormElement>(null);
  const today = dayUTC(Date.now());
  useEffect(() => { if (error) form.current?.querySelector('input')?.focus(); }, [error]);
  const pick = (day: string) => {
    setBefore(day);
    setPreview(null);
    setError('');
  };
  const fail = (cause: unknown) => {
    setError(cause instanceof ApiError && cause.code === 'invalid_date' ? 'This is not a date. Pick one, or type it as year, month and day.' : wordsOf(cause));
    setPreview(null);
  };
  const look = async (day: string) => {
    setDone(null);
    setError('');
    if (!day) {
      setError('Pick the last day to delete.');
      return;
    }
    setBusy('preview');
    try {
      setPreview(await previewCleanup(day));
    } catch (cause) {
      fail(cause);
    }
    setBusy('');
  };
  const remove = async (asked: Preview) => {
    const sure = await confirm({
      title: 'Delete these records?',
      text: <p>This deletes {plural(asked.count, 'record')} last seen on {asked.before} or earlier, with {asked.count === 1 ? 'its' : 'their'} payload and trend. It cannot be undone.</p>,
      yes: `Delete ${plural(asked.count, 'record')}`, danger: true, typed: phrase(asked.count),
    });
    if (!sure) return;
    setBusy('delete');
    try {
      setDone({ asked, did: await cleanUp(asked.before, newOnce()) });
      setPreview(null);
    } catch (cause) {
      fail(cause);
    }
    setBusy('');
  };
  return (
    <>
      <header class="form-top">
        <h2>Cleanup</h2>
        <p class="dim">Deletes records that were last seen on a day or before it, in both books. Days are UTC days, and the day itself is included.</p>
      </header>
      <form class="form" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void look(before); }}>
        <div class="inline-form">
          <TextField label="Last day to delete" name="before" type="date" value={before} error={error} onInput={pick} />
          <Button type="submit" kind={preview ? 'plain' : 'main'} busy={busy === 'preview'}>Preview</Button>
        </div>
        <div class="row">
          <span class="dim">Not seen for</span>
          {spans.map((s) => <Button key={s.days} class="small" onClick={() => { const day = dayUTC(Date.now(), s.days); pick(day); void look(day); }}>{s.label}</Button>)}
        </div>
        {before >= today ? <Note tone="warn">That is {before === today ? 'today' : 'in the future'}: {before === today ? 'records that were seen today are deleted too' : 'both books will be empty'}.</Note> : null}
      </form>
      <div role="status">
        {preview ? (
          <section class="preview" aria-label="Preview">
            {preview.count === 0 ? <p>No record was last seen on {preview.before} or earlier. There is nothing to delete.</p> : (
              <>
                <dl class="sums">
                  <div><dt>Records to delete</dt><dd class="num big">{fullCount(preview.count)}</dd></div>
                  <div><dt>System</dt><dd class="num big">{fullCount(preview.books.system)}</dd></div>
                  <div><dt>Database</dt><dd class="num big">{fullCount(preview.books.database)}</dd></div>
                  <div><dt>Last seen until</dt><dd class="big">{preview.before}</dd></div>
                </dl>
                <div class="row"><Button kind="danger" busy={busy === 'delete'} onClick={() => void remove(preview)}>Delete {plural(preview.count, 'record')}…</Button></div>
              </>
            )}
          </section>
        ) : null}
        {busy === 'delete' ? <p class="dim">Deleting… It continues when you leave this page.</p> : null}
        {done ? <Result {...done} /> : null}
      </div>
    </>
  );
}

function Result({ asked, did }: { asked: Preview; did: CleanedUp }) {
  const count = did.deleted.system + did.deleted.database;
  return (
    <Note tone="good">
      <b>{plural(count, 'record')} deleted</b>, last seen on {did.before} or earlier: {fullCount(did.deleted.system)} of the system book, {fullCount(did.deleted.database)} of the database book.
      {count !== asked.count ? ` The preview said ${fullCount(asked.count)}: some records were seen again or deleted in between.` : ''}
    </Note>
  );
}
