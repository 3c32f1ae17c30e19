// What happened before an event, the latest last.
import { useState } from 'preact/hooks';
import { crumbs, type Crumb } from '../../lib/stack';
import { before } from '../../lib/occurrence';
import type { Payload } from '../../api/types';
import { exact } from '../../lib/time';
import { plural } from '../../lib/text';
import { Safe } from '../../ui/text';
import { Long, Tree } from '../../ui/tree';

// The last steps say most, and leave room for the stack.
const atFirst = 3;

/** at is the time of the event. */
export function Crumbs({ payload, at }: { payload: Payload; at: string }) {
  const [all, setAll] = useState(false);
  const list = crumbs(payload);
  if (list.length === 0) return null;
  const earlier = all ? 0 : Math.max(0, list.length - atFirst);
  return (
    <section class="before" aria-label="Breadcrumbs">
      <div class="before-head">
        <h3>What happened before</h3>
        {earlier > 0 || all ? <button type="button" class="btn quiet small" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Only the last' : `${plural(earlier, 'earlier one')}`}</button> : null}
      </div>
      <ol class="crumbs">
        {list.slice(earlier).map((c, i) => <OneCrumb key={earlier + i} crumb={c} at={at} />)}
      </ol>
    </section>
  );
}

const serious = new Set(['warning', 'error', 'critical', 'fatal']);

function OneCrumb({ crumb, at }: { crumb: Crumb; at: string }) {
  return (
    <li class={serious.has(crumb.level) ? `crumb-${crumb.level}` : undefined}>
      <span class="crumb-time num" title={crumb.time ? exact(crumb.time) : undefined}>{before(crumb.time, at)}</span>
      <div class="crumb-body">
        <span class="crumb-kind">
          <Safe text={crumb.category || 'step'} />
          {serious.has(crumb.level) ? <> <span class={`level-${crumb.level}`}>{crumb.level}</span></> : null}
        </span>
        <div class="crumb-text">{crumb.message ? <Long text={crumb.message} limit={200} /> : null}{crumb.data ? <Data of={crumb.data} /> : null}</div>
      </div>
    </li>
  );
}

function Data({ of }: { of: Record<string, unknown> }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="crumb-data" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary class="dim">data</summary>
      {open ? <Tree value={of} /> : null}
    </details>
  );
}
