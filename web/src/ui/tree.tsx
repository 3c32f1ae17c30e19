// JSON as a tree that unfolds. The page contains only open branches, so that a
// large payload costs nothing while it is closed.
import { useState } from 'preact/hooks';
import { safeLink } from '../lib/text';
import { Outside, Safe } from './text';

// What can be read at a glance.
const openUpTo = 12;
// A branch shows this many children at once, and more on request.
const chunk = 200;
// A longer value is cut until it is asked for.
const longText = 600;

export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const entries = entriesOf(value);
  const [open, setOpen] = useState(depth === 0 || (depth === 1 && entries !== null && entries.length <= openUpTo));
  const [upTo, setUpTo] = useState(chunk);
  if (!entries) {
    return <div class="leaf">{name === undefined ? null : <Key name={name} />}<Leaf value={value} /></div>;
  }
  const words = Array.isArray(value) ? `${entries.length} ${entries.length === 1 ? 'item' : 'items'}` : `${entries.length} ${entries.length === 1 ? 'field' : 'fields'}`;
  if (depth === 0 && name === undefined) return <div class="tree"><Branch entries={entries} upTo={upTo} depth={depth} more={() => setUpTo(upTo + chunk)} /></div>;
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{name === undefined ? null : <Key name={name} />}<span class="dim">{words}</span></summary>
      {open ? <Branch entries={entries} upTo={upTo} depth={depth} more={() => setUpTo(upTo + chunk)} /> : null}
    </details>
  );
}

function Branch({ entries, upTo, depth, more }: { entries: [string, unknown][]; upTo: number; depth: number; more: () => void }) {
  return (
    <div class={depth > 0 ? 'branch' : undefined}>
      {entries.slice(0, upTo).map(([k, v]) => <Tree key={k} name={k} value={v} depth={depth + 1} />)}
      {entries.length > upTo ? <button type="button" class="btn quiet" onClick={more}>{entries.length - upTo} more</button> : null}
    </div>
  );
}

function entriesOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.length > 0 ? value.map((v, i) => [String(i), v]) : null;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return entries.length > 0 ? entries : null;
  }
  return null;
}

function Key({ name }: { name: string }) {
  return <span class="key"><Safe text={name} />:</span>;
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return safeLink(value) && value.length < 300 ? <Outside url={value} /> : <Long text={value} />;
  if (Array.isArray(value)) return <span class="dim">[]</span>;
  if (typeof value === 'object' && value !== null) return <span class="dim">{'{}'}</span>;
  return <span class={`is-${typeof value}`}>{String(value)}</span>;
}

/** Text that is shown in full only on request. */
export function Long({ text, limit = longText }: { text: string; limit?: number }) {
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= limit) return <Safe class="string" text={text} />;
  return (
    <>
      <Safe class="string" text={text.slice(0, limit)} />…{' '}
      <button type="button" class="btn quiet small" onClick={() => setWhole(true)}>all {text.length.toLocaleString('en')} characters</button>
    </>
  );
}
