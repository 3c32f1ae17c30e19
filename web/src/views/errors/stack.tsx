// Exceptions with their frames, and the breadcrumbs before them.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Exception, Frame, Payload } from '../../api/types';
import { place, stackText } from '../../lib/export';
import { context, crumbs, runs, thrown, type Run } from '../../lib/stack';
import { plural } from '../../lib/text';
import { CopyButton } from '../../ui/button';
import { Safe, Time } from '../../ui/text';
import { Long } from '../../ui/tree';

export function Stack({ payload }: { payload: Payload }) {
  const list = thrown(payload.exceptions);
  return (
    <div class="stack-trace">
      <CopyButton class="small stack-copy" label="Copy stack" text={() => stackText(payload.exceptions)} />
      {list.map((e, i) => <Thrown key={i} exception={e} cause={i > 0} only={list.length === 1} />)}
    </div>
  );
}

function Thrown({ exception, cause, only }: { exception: Exception; cause: boolean; only: boolean }) {
  const parts = runs(exception.frames);
  return (
    <div class="thrown">
      {only ? null : (
        <p class="thrown-head">
          {cause ? <span class="dim">caused by </span> : null}<b><Safe text={exception.class ?? 'Error'} /></b>
          {exception.message ? <>: <Long text={exception.message} limit={300} /></> : null}
        </p>
      )}
      {parts.length === 0 ? <p class="dim">This exception has no stack.</p> : null}
      {parts.map((run, i) => <Frames key={i} run={run} />)}
    </div>
  );
}

// Folding two frames saves nothing.
const foldFrom = 2;

function Frames({ run }: { run: Run }) {
  const [open, setOpen] = useState(!run.vendor || run.frames.length < foldFrom);
  if (!open) {
    return <button type="button" class="folded" aria-expanded="false" onClick={() => setOpen(true)}>{plural(run.frames.length, 'frame')} of libraries</button>;
  }
  return <ol class="frames">{run.frames.map((f, i) => <FrameLine key={i} frame={f} vendor={run.vendor} />)}</ol>;
}

function FrameLine({ frame, vendor }: { frame: Frame; vendor: boolean }) {
  const name = [frame.module, frame.function].filter(Boolean).join('.');
  const lines = context(frame);
  const args = Array.isArray(frame.args) ? frame.args.join(', ') : '';
  return (
    <li class={vendor ? 'vendor' : undefined}>
      <span class="frame">
        {name ? <span class="frame-name"><Safe text={name} />{args || frame.args ? <span class="args">(<Safe text={args} />)</span> : null}</span> : null}
        <Safe class="frame-place" text={place(frame.file, frame.line) || (name ? '' : 'unknown')} />
      </span>
      {lines.length > 0 ? (
        <pre class="code">
          {lines.map((l) => <div key={l.number} class={l.at ? 'at' : undefined}><span class="number">{l.number}</span><Safe text={l.text} /></div>)}
        </pre>
      ) : null}
    </li>
  );
}

export function Crumbs({ payload, part }: { payload: Payload; part: (content: ComponentChildren, n: number) => ComponentChildren }) {
  const list = crumbs(payload);
  if (list.length === 0) return null;
  return (
    <>
      {part(
        <ol class="crumbs">
          {list.map((c, i) => (
            <li key={i}><Time iso={c.time} never="" /><span class="dim"><Safe text={c.category} /></span><Long text={c.message} limit={200} /></li>
          ))}
        </ol>,
        list.length,
      )}
    </>
  );
}
