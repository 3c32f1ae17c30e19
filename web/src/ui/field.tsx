// Labelled fields. Hint and error are linked to the control, so that a screen
// reader reads them.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface Common {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with the value; '' when nothing is. */
  error?: string;
  disabled?: boolean;
  name?: string;
  /** It differs from what is stored. */
  changed?: boolean;
}

interface FrameProps extends Common {
  id: string;
  children: ComponentChildren;
}

function Frame({ id, label, hint, error, changed, children }: FrameProps) {
  return (
    <div class={`field${error ? ' wrong' : ''}${changed ? ' changed' : ''}`}>
      <div class="field-head"><label for={id}>{label}</label>{changed ? <Unsaved id={id} /> : null}</div>
      {children}
      {hint ? <div class="hint" id={`${id}-hint`}>{hint}</div> : null}
      {error ? <div class="error" id={`${id}-error`} role="alert">{error}</div> : null}
    </div>
  );
}

export function Unsaved({ id }: { id: string }) {
  return <span class="unsaved" id={`${id}-changed`}>not saved</span>;
}

export function ties(id: string, { hint, error, changed }: Pick<Common, 'hint' | 'error' | 'changed'>) {
  const by = [changed ? `${id}-changed` : '', hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return { id, 'aria-describedby': by || undefined, 'aria-invalid': error ? ('true' as const) : undefined };
}

type TextProps = Common & {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'number' | 'date' | 'search' | 'email';
  placeholder?: string;
  autocomplete?: string;
  required?: boolean;
  min?: string | number;
  max?: string | number;
  mono?: boolean;
  autofocus?: boolean;
  /** The keyboard of a phone. */
  inputMode?: 'numeric';
  /** Values to choose from; others may be typed. */
  offers?: readonly string[];
};

export function TextField(props: TextProps) {
  const id = useId();
  const { value, onInput, type = 'text', placeholder, autocomplete, required, min, max, mono, autofocus, disabled, name, inputMode, offers } = props;
  return (
    <Frame id={id} {...props}>
      <input
        {...ties(id, props)} name={name} type={type as 'text'} value={value} placeholder={placeholder} autocomplete={autocomplete as JSX.IntrinsicElements['input']['autocomplete']}
        required={required} min={min} max={max} disabled={disabled} class={mono ? 'mono' : undefined} spellcheck={false}
        inputMode={inputMode} list={offers ? `${id}-offers` : undefined}
        ref={autofocus ? focusOnce : undefined}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
      {offers ? <datalist id={`${id}-offers`}>{offers.map((o) => <option key={o} value={o} />)}</datalist> : null}
    </Frame>
  );
}

function focusOnce(element: HTMLElement | null): void {
  element?.focus();
}

export function TextArea(props: Common & { value: string; onInput: (value: string) => void; rows?: number; mono?: boolean; placeholder?: string }) {
  const id = useId();
  const { value, onInput, rows = 6, mono, placeholder, disabled, name } = props;
  return (
    <Frame id={id} {...props}>
      <textarea
        {...ties(id, props)} name={name} rows={rows} value={value} placeholder={placeholder} disabled={disabled} spellcheck={false}
        class={mono ? 'mono' : undefined} onInput={(e) => onInput(e.currentTarget.value)}
      />
    </Frame>
  );
}

export interface Choice {
  value: string;
  label: string;
  disabled?: boolean;
}

export function Select(props: Common & { value: string; onChange: (value: string) => void; choices: readonly Choice[] }) {
  const id = useId();
  const { value, onChange, choices, disabled, name } = props;
  return (
    <Frame id={id} {...props}>
      <select {...ties(id, props)} name={name} value={value} disabled={disabled} onChange={(e) => onChange(e.currentTarget.value)}>
        {choices.map((c) => <option key={c.value} value={c.value} disabled={c.disabled}>{c.label}</option>)}
      </select>
    </Frame>
  );
}

/** A switch, on or off, with its label behind it. */
export function Switch(props: Common & { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  const { label, hint, error, checked, onChange, disabled, name, changed } = props;
  return (
    <div class={`field switch${error ? ' wrong' : ''}${changed ? ' changed' : ''}`}>
      <input
        {...ties(id, props)} name={name} type="checkbox" role="switch" checked={checked} disabled={disabled}
        onChange={(e) => onChange(e.currentTarget.checked)}
      />
      <div class="field-head"><label for={id}>{label}</label>{changed ? <Unsaved id={id} /> : null}</div>
      {hint ? <div class="hint" id={`${id}-hint`}>{hint}</div> : null}
      {error ? <div class="error" id={`${id}-error`} role="alert">{error}</div> : null}
    </div>
  );
}

/** A box of its own, with its label behind it. */
export function Tick(props: Common & { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  const { label, hint, checked, onChange, disabled, name } = props;
  return (
    <div class="field tick">
      <input {...ties(id, props)} name={name} type="checkbox" checked={checked} disabled={disabled} onChange={(e) => onChange(e.currentTarget.checked)} />
      <label for={id}>{label}</label>
      {hint ? <div class="hint" id={`${id}-hint`}>{hint}</div> : null}
    </div>
  );
}

/** One of several boxes; more than one may be ticked. */
export function Check({ label, checked, onChange, disabled }: { label: ComponentChildren; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(e) => onChange(e.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
