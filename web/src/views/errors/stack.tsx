// Exceptions with their causes and frames.
import { useState } from 'preact/hooks';
import type { Frame, Payload } from '../../api/types';
import { place, stackText } from '../../lib/export';
import { causes, context, firstFrame, runs, thrown, variables, type Cause, type Run } from '../../lib/stack';
import { plural, visible } from '../../lib/text';
import { Button, CopyButton } from '../../ui/button';
import { Safe } from '../../ui/text';
import { Long } from '../../ui/tree';
import { Code, Variables } from './code';

/** Which frames are unfolded: the first one to read, or all, or none. */
type Unfolded = 'first' | 'all' | 'none';

export function Stack({ payload }: { payload: Payload }) {
  const [unfolded, setUnfolded] = useState<Unfolded>('first');
  const list = thrown(payload.exceptions);
  const top = causes(payload.exceptions);
  if (!top) return null;
  const more = list.some((e) => runs(e.frames).some((run) => run.frames.some(unfolds)));
  return (
    <div class="stack-trace">
      <div class="stack-tools">
        {more ? <Button kind="quiet" class="small" onClick={() => setUnfolded(unfolded === 'all' ? 'none' : 'all')}>{unfolded === 'all' ? 'Fold all' : 'Unfold all'}</Button> : null}
        <CopyButton class="small" label="Copy stack" text={() => stackText(payload.exceptions)} />
      </div>
      <Thrown key={unfolded} of={top} only={list.length === 1} said={payload.message} unfolded={unfolded} top />
    </div>
  );
}

function unfolds(frame: Frame): boolean {
  return context(frame).length > 0 || variables(frame).length > 0;
}

interface ThrownProps {
  of: Cause;
  only?: boolean;
  top?: boolean;
  /** The message above the stack, which need not stand here again. */
  said?: string;
  unfolded: Unfolded;
}

function Thrown({ of: { exception, how, causes: below }, only, top, said, unfolded }: ThrownProps) {
  const parts = runs(exception.frames);
  const first = top ? firstFrame(exception) : undefined;
  return (
    <div class="thrown">
      {only ? null : (
        <p class="thrown-head">
          {how ? <span class="dim">{how} </span> : null}<b><Safe text={exception.class ?? 'Error'} /></b>
          {exception.message && exception.message !== said ? <>: <Long text={exception.message} limit={300} /></> : null}
          {exception.group ? <span class="dim"> ({plural(below.length, 'exception')} in it)</span> : null}
        </p>
      )}
      {parts.length === 0 ? <p class="dim">This exception has no stack.</p> : null}
      {parts.map((run, i) => <Frames key={i} run={run} first={first} unfolded={unfolded} />)}
      {below.length === 0 ? null : (
        <ul class={exception.group || below.length > 1 ? 'causes members' : 'causes'}>
          {below.map((c, i) => <li key={i}><Thrown of={c} unfolded={unfolded} /></li>)}
        </ul>
      )}
    </div>
  );
}

// Folding two frames saves nothing.
const foldFrom = 2;

function Frames({ run, first, unfolded }: { run: Run; first: Frame | undefined; unfolded: Unfolded }) {
  const [open, setOpen] = useState(!run.vendor || run.frames.length < foldFrom || unfolded === 'all');
  if (!open) {
    return <button type="button" class="folded" aria-expanded="false" onClick={() => setOpen(true)}>{plural(run.frames.length, 'frame')} of libraries</button>;
  }
  return (
    <ol class="frames">
      {run.frames.map((f, i) => <li key={i} class={run.vendor ? 'vendor' : undefined}><OneFrame frame={f} open={unfolded === 'all' || (unfolded === 'first' && f === first)} /></li>)}
    </ol>
  );
}

function OneFrame({ frame, open }: { frame: Frame; open: boolean }) {
  if (!unfolds(frame)) return <Line frame={frame} />;
  return (
    <details class="unfolds" open={open}>
      <summary><Line frame={frame} /></summary>
      <Code frame={frame} />
      <Variables frame={frame} />
    </details>
  );
}

function Line({ frame }: { frame: Frame }) {
  const whole = [frame.module, frame.function].filter(Boolean).join('.');
  // A package of Go has the path of its repository in front, which the place tells too.
  const name = [frame.module?.split('/').pop(), frame.function].filter(Boolean).join('.');
  const args = Array.isArray(frame.args) ? frame.args.join(', ') : '';
  return (
    <span class="frame">
      {name ? <span class="frame-name" title={name === whole ? undefined : visible(whole)}><Safe text={name} />{args || frame.args ? <span class="args">(<Safe text={args} />)</span> : null}</span> : null}
      <Safe class="frame-place" text={place(frame.file, frame.line, frame.column) || (name ? '' : 'unknown')} />
    </span>
  );
}
