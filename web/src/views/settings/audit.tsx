import { useState } from 'preact/hooks';
import { call } from '../../api/client';
import { read, type AuditEntry, type AuditMeta, type Verdict } from '../../api/settings';
import { diff, diffLines, type Change } from '../../lib/diff';
import { fullCount, plural, visible } from '../../lib/text';
import { change, query } from '../../router';
import { can } from '../../session';
import { Button, CopyButton } from '../../ui/button';
import { Select, TextField } from '../../ui/field';
import { useLoad } from '../../ui/load';
import { Denied, Empty, Failure, Loading, Note } from '../../ui/state';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Long } from '../../ui/tree';

const scope = 'Audit/Read';

const actions = [
  { value: '', label: 'All' },
  { value: 'settings.*', label: 'Settings' },
  { value: 'key.*', label: 'Keys' },
  { value: 'errors.*', label: 'Errors' },
  { value: 'audit.*', label: 'The trail itself' },
];

export function AuditTab() {
  return can(scope) ? <Audit /> : <><h2>Audit trail</h2><Denied scope={scope} /></>;
}

/** A day of the viewer's as an instant: its first moment, or its last. */
function instant(day: string, end: boolean): string | undefined {
  if (!day) return undefined;
  const at = new Date(`${day}T${end ? '23:59:59.999' : '00:00:00'}`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function Audit() {
  const q = query.value;
  const get = (name: string) => q.get(name) ?? '';
  const asked = { actor: get('actor'), action: get('action'), from: get('from'), to: get('to'), cursor: get('cursor') };
  const load = useLoad(
    (signal) => call<AuditEntry[], AuditMeta>('GET', '/audit', {
      signal,
      query: { actor: asked.actor, action: asked.action, from: instant(asked.from, false), to: instant(asked.to, true), cursor: asked.cursor, limit: 25 },
    }),
    JSON.stringify(asked),
  );
  const set = (name: string, value: string) => change({ [name]: value, cursor: '' }, 'replace');
  const filtered = Object.values({ ...asked, cursor: '' }).some(Boolean);
  const list = load.data?.data ?? [];
  const next = load.data?.meta.next_cursor ?? 0;
  return (
    <>
      <header class="tab-head">
        <div>
          <h2>Audit trail</h2>
          <p class="dim">Who changed what. Each entry contains the hash of the entry before it, so that no entry can be changed unnoticed.</p>
        </div>
        <Verify />
      </header>
      <form class="audit-filters" role="search" aria-label="Filter the trail" onSubmit={(e) => e.preventDefault()}>
        <ActorField value={asked.actor} onSet={(v) => set('actor', v)} />
        <Select label="About" value={asked.action} choices={actions.some((a) => a.value === asked.action) ? actions : [...actions, { value: asked.action, label: asked.action }]} onChange={(v) => set('action', v)} />
        <TextField label="From" type="date" value={asked.from} max={asked.to || undefined} onInput={(v) => set('from', v)} />
        <TextField label="To" type="date" value={asked.to} min={asked.from || undefined} onInput={(v) => set('to', v)} />
        {filtered ? <Button onClick={() => change({ actor: '', action: '', from: '', to: '', cursor: '' })}>Clear</Button> : null}
      </form>
      {load.data?.meta.behind ? <Note tone="warn">The trail is behind: the latest changes may be missing here, but they are in effect.</Note> : null}
      {load.error ? <Failure error={load.error} retry={load.reload} /> : !load.data ? <Loading /> : list.length === 0
        ? <Empty title={filtered ? 'No entry matches' : 'Nothing was changed yet'}>{null}</Empty>
        : (
          <ol class="audit" aria-busy={load.loading}>
            {list.map((e) => <Entry key={e.n} of={e} />)}
          </ol>
        )}
      {asked.cursor || next > 0 ? (
        <nav class="pager" aria-label="Pages">
          <Button kind="quiet" disabled={!asked.cursor} onClick={() => change({ cursor: '' })}>‹ Newest</Button>
          <Button kind="quiet" disabled={next === 0} onClick={() => change({ cursor: next })}>Older ›</Button>
        </nav>
      ) : null}
    </>
  );
}

/** Asks once it is typed whole: the API compares whole names. */
function ActorField({ value, onSet }: { value: string; onSet: (value: string) => void }) {
  const [text, setText] = useState<string | null>(null);
  const done = () => {
    if (text !== null) onSet(text.trim());
    setText(null);
  };
  return (
    <div onFocusOut={done} onKeyDown={(e) => { if (e.key === 'Enter') done(); }}>
      <TextField label="By" value={text ?? value} placeholder="name or id of a key" autocomplete="off" onInput={setText} />
    </div>
  );
}

function Entry({ of }: { of: AuditEntry }) {
  const [open, setOpen] = useState(false);
  const changes = diff(of.before, of.after);
  return (
    <li>
      <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <span class="audit-n num dim">{of.n}</span>
          <code class="mono audit-action">{of.action}</code>
          <span class="audit-what"><What of={of} changes={changes} /></span>
          <span class="audit-who"><Who of={of} /></span>
          <Time iso={of.time} />
        </summary>
        {open ? <Whole of={of} changes={changes} /> : null}
      </details>
    </li>
  );
}

function Who({ of }: { of: AuditEntry }) {
  const { key_id: id, key_name: name } = of.actor;
  if (id === 'service') return <span class="dim">the service</span>;
  if (id === 'host') return <span class="dim">a command on the machine</span>;
  return <Safe text={name || id} />;
}

// Fields that say nothing to a person.
const dull = new Set(['stored', 'sequence']);

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The change on one line. */
function What({ of, changes }: { of: AuditEntry; changes: readonly Change[] }) {
  const name = (of.after as { name?: unknown } | null)?.name ?? (of.before as { name?: unknown } | null)?.name;
  if (of.action.startsWith('key.') && typeof name === 'string') return <Safe text={name} />;
  if (changes.length > 0) return <Safe text={changes.map((c) => `${c.path}: ${short(c.before)} → ${short(c.after)}`).join('; ')} />;
  const told = Object.entries({ ...fieldsOf(of.request), ...fieldsOf(of.result) }).filter(([name]) => !dull.has(name));
  return told.length > 0 ? <Safe text={told.map(([name, v]) => `${name} ${name === 'before' && typeof v === 'number' ? new Date(v).toISOString() : short(v)}`).join(', ')} /> : null;
}

// Fits into a cell.
const fewChars = 40;

function short(value: unknown): string {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value.replaceAll('\n', ', ') || 'empty' : JSON.stringify(value);
  return text.length > fewChars ? `${text.slice(0, fewChars)}…` : text;
}

function Whole({ of, changes }: { of: AuditEntry; changes: readonly Change[] }) {
  return (
    <div class="audit-body">
      {changes.length > 0 ? (
        <table class="diff">
          <caption class="offscreen">What was changed</caption>
          <thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
          <tbody>
            {changes.map((c) => (
              <tr key={c.path}>
                <th scope="row"><Safe text={c.path || 'all'} /></th>
                {isText(c) ? <td colSpan={2}><TextDiff before={c.before} after={c.after} /></td> : <><td class="minus"><Value of={c.before} /></td><td class="plus"><Value of={c.after} /></td></>}
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <dl class="facts">
        <dt>Time</dt><dd>{of.time}</dd>
        <dt>By</dt><dd><Who of={of} /> {of.actor.key_name ? <code class="mono dim">{of.actor.key_id}</code> : null} {of.actor.ip ? <>from <code class="mono">{of.actor.ip}</code></> : null}</dd>
        {of.route ? <><dt>Route</dt><dd><code class="mono">{of.route}</code></dd></> : null}
        {of.scope ? <><dt>Scope</dt><dd><code class="mono">{of.scope}</code></dd></> : null}
        {of.request != null ? <><dt>Asked for</dt><dd><Value of={of.request} /></dd></> : null}
        {of.result != null ? <><dt>Result</dt><dd><Value of={of.result} /></dd></> : null}
        {of.request_id ? <><dt>Request</dt><dd><code class="mono">{of.request_id}</code></dd></> : null}
        <dt>Hash</dt><dd><code class="mono">{of.hash}</code></dd>
      </dl>
    </div>
  );
}

function isText(c: Change): c is Change & { before: string; after: string } {
  return typeof c.before === 'string' && typeof c.after === 'string' && (c.before.includes('\n') || c.after.includes('\n'));
}

function TextDiff({ before, after }: { before: string; after: string }) {
  return (
    <pre class="text-diff">
      {diffLines(before, after).map((l, i) => (
        <div key={i} class={l.sign === '+' ? 'plus' : l.sign === '-' ? 'minus' : undefined}>{l.sign} <Safe text={l.text} /></div>
      ))}
    </pre>
  );
}

function Value({ of }: { of: unknown }) {
  if (of === undefined) return <span class="dim">none</span>;
  if (of === '') return <span class="dim">empty</span>;
  return <code class="mono"><Long text={typeof of === 'string' ? of : JSON.stringify(of)} limit={300} /></code>;
}

function Verify() {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    try {
      setVerdict(await read<Verdict>('/audit/verify'));
    } catch (error) {
      setVerdict(null);
      toast.failed(error);
    }
    setBusy(false);
  };
  return (
    <div class="verify" role="status">
      <Button busy={busy} onClick={() => void verify()}>{busy ? 'Verifying…' : 'Verify'}</Button>
      {verdict?.ok ? (
        <div class="verdict">
          <Note tone="good">All {plural(verdict.entries, 'entry', 'entries')} are as they were written.</Note>
          {verdict.head ? <span class="row small">Head <code class="mono" title="Save it elsewhere: it proves that the trail was not rewritten.">{verdict.head.slice(0, 16)}…</code><CopyButton class="small" text={() => verdict.head} /></span> : null}
        </div>
      ) : verdict ? (
        <Note tone="bad">Entry {fullCount(verdict.problem?.n ?? verdict.entries + 1)} is not as it was written: {visible(verdict.problem?.reason ?? 'no reason given')}. The {plural(verdict.entries, 'entry', 'entries')} before it are good.</Note>
      ) : null}
    </div>
  );
}
