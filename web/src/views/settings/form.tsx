// The frame of a form: unsaved changes, refusals, changes of others.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { can } from '../../session';
import { plural, visible } from '../../lib/text';
import { Button } from '../../ui/button';
import { Switch } from '../../ui/field';
import { Denied, Failure, Loading, Note } from '../../ui/state';
import type { AnySetting, Setting } from './setting';

interface FormProps<T extends object> {
  of: Setting<T>;
  title: string;
  /** What the setting is for, in a sentence. */
  lead: ComponentChildren;
  children: (draft: T) => ComponentChildren;
}

/** Reads the setting when it is shown. A key that may not change it sees it read-only. */
export function SettingForm<T extends object>({ of, title, lead, children }: FormProps<T>) {
  const box = useRef<HTMLFormElement>(null);
  const may = can(of.reads);
  useEffect(() => {
    if (!may) return undefined;
    const abort = new AbortController();
    void of.load(abort.signal);
    return () => abort.abort();
  }, [may]);
  const refused = of.refused.value;
  useEffect(() => {
    if (refused > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refused]);
  if (!may) return <><h2>{title}</h2><Denied scope={of.reads} /></>;
  if (!of.draft.value) return <><h2>{title}</h2>{of.failed.value ? <Failure error={of.failed.value} retry={() => void of.load()} /> : <Loading />}</>;
  const writable = can(of.writes);
  return (
    <form class="form" ref={box} noValidate aria-label={title} onSubmit={(e) => { e.preventDefault(); void of.save(); }}>
      <header class="form-top">
        <h2>{title}</h2>
        <p class="dim">{lead}</p>
      </header>
      {writable ? null : <Note>You can read this, but not change it: your key does not hold the scope <code class="mono">{of.writes}</code>.</Note>}
      {of.warnings.value.map((w) => <Note key={w} tone="warn">{w}</Note>)}
      <Conflicts of={of} />
      <fieldset class="form-fields" disabled={!writable || of.saving.value}>
        <legend class="offscreen">{title}</legend>
        {children(of.draft.value)}
      </fieldset>
      {writable ? <SaveBar of={of} /> : null}
    </form>
  );
}

function Conflicts({ of }: { of: AnySetting }) {
  const list = of.conflicts.value;
  const taken = of.taken.value.filter((p) => !list.some((c) => c.path === p));
  if (list.length === 0) {
    return taken.length === 0 ? null : <Note>Somebody else has changed {taken.map((p) => of.label(p)).join(', ')} meanwhile. The new values are shown here; your changes are kept.</Note>;
  }
  return (
    <Note tone="warn">
      <p><b>Somebody else has changed the same fields meanwhile.</b> Your changes are not saved yet.</p>
      <ul class="conflicts">
        {list.map((c) => (
          <li key={c.path}>{of.label(c.path)}: now <code class="mono">{visible(of.show(c.path, c.theirs))}</code>, yours <code class="mono">{visible(of.show(c.path, c.mine))}</code></li>
        ))}
      </ul>
      <div class="row">
        <Button type="submit">Save mine over theirs</Button>
        <Button onClick={of.takeTheirs}>Take theirs</Button>
      </div>
    </Note>
  );
}

function SaveBar({ of }: { of: AnySetting }) {
  const changes = of.changes.value;
  const whole = of.errors.value[''];
  const wrong = Object.keys(of.errors.value).filter((path) => path !== '');
  const names = changes.map((c) => of.label(c.path));
  return (
    <div class={`savebar${changes.length > 0 ? ' dirty' : ''}`}>
      <div class="savebar-text" role="status">
        {whole ? <span class="bad">{whole}</span>
          : wrong.length > 0 ? <span class="bad">Not saved: see {wrong.map((p) => of.label(p)).join(', ')}.</span>
          : changes.length > 0 ? <><b>{plural(changes.length, 'change')} not saved</b><span class="dim">: {names.join(', ')}</span></>
          : <span class="dim">Everything here is saved.</span>}
      </div>
      <div class="row">
        <Button disabled={changes.length === 0} onClick={of.discard}>Discard</Button>
        <Button type="submit" kind="main" disabled={changes.length === 0} busy={of.saving.value}>Save</Button>
      </div>
    </div>
  );
}

/** A switch of a setting; the API has 0 and 1, or false and true. */
export function SettingSwitch({ of, path, checked, label, hint, disabled }: { of: AnySetting; path: string; checked: number | boolean; label: string; hint?: ComponentChildren; disabled?: boolean }) {
  return (
    <Switch
      label={label} name={path} hint={hint} checked={Boolean(checked)} disabled={disabled} error={of.errors.value[path]} changed={of.isChanged(path)}
      onChange={(on) => of.set(path, typeof checked === 'boolean' ? on : Number(on))}
    />
  );
}

/** Fields that belong together, under a heading. */
export function Group({ title, children, hint }: { title: string; children: ComponentChildren; hint?: ComponentChildren }) {
  return (
    <fieldset class="group">
      <legend>{title}</legend>
      {hint ? <p class="dim">{hint}</p> : null}
      {children}
    </fieldset>
  );
}
