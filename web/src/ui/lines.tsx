// A text with numbered lines, some of which are marked.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { ties, Unsaved } from './field';

interface LinesProps {
  label: string;
  name?: string;
  value: string;
  onInput: (value: string) => void;
  /** Numbers of the lines that are wrong. */
  bad?: readonly number[];
  /** The line that the service has named: the box scrolls to it. */
  named?: number;
  hint?: ComponentChildren;
  error?: string;
  changed?: boolean;
  disabled?: boolean;
  rows?: number;
}

export function Lines(props: LinesProps) {
  const { label, name, value, onInput, bad = [], named, hint, error, changed, disabled, rows = 7 } = props;
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLDivElement>(null);
  const marks = useRef<HTMLDivElement>(null);
  const count = value.split('\n').length;
  const follow = () => {
    const by = `translateY(${-area.current!.scrollTop}px)`;
    numbers.current!.style.transform = by;
    marks.current!.style.transform = by;
  };
  useEffect(() => {
    const element = area.current!;
    if (!named) return;
    const from = value.split('\n').slice(0, named - 1).join('\n').length + (named > 1 ? 1 : 0);
    element.setSelectionRange(from, from + (value.split('\n')[named - 1] ?? '').length);
    element.scrollTop = Math.max(0, (named - 3) * parseFloat(getComputedStyle(element).lineHeight));
    follow();
  }, [named, error]);
  return (
    <div class={`field${error ? ' wrong' : ''}${changed ? ' changed' : ''}`}>
      <div class="field-head"><label for={id}>{label}</label>{changed ? <Unsaved id={id} /> : null}</div>
      <div class="lines">
        <div class="lines-marks" aria-hidden="true"><div ref={marks}>{bad.map((n) => <i key={n} style={{ '--line': n - 1 }} />)}</div></div>
        <div class="lines-numbers" aria-hidden="true"><div ref={numbers}>{Array.from({ length: count }, (_, i) => i + 1).join('\n')}</div></div>
        <textarea
          {...ties(id, props)} ref={area} name={name} class="mono" rows={rows} wrap="off" value={value} disabled={disabled}
          spellcheck={false} autocomplete="off" autocapitalize="off"
          onInput={(e) => onInput(e.currentTarget.value)} onScroll={follow}
        />
      </div>
      {hint ? <div class="hint" id={`${id}-hint`}>{hint}</div> : null}
      {error ? <div class="error" id={`${id}-error`} role="alert">{error}</div> : null}
    </div>
  );
}
