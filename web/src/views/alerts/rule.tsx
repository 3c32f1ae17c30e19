// The form of a rule, with what it would have fired.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { alertScopes, writeRule, type Channel, type Rule } from '../../api/alerts';
import { books, levels } from '../../api/types';
import { bodyOf, draftOf, newRule, type RuleDraft } from '../../lib/alerts';
import { plural } from '../../lib/text';
import { projects } from '../../projects';
import { can } from '../../session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Check, TextField } from '../../ui/field';
import { Note } from '../../ui/state';
import { useSubmit } from '../../ui/submit';
import { Safe } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Causes } from './causes';
import { ChannelName } from './channelname';
import { Preview } from './preview';
import { refusedField } from './refused';

interface RuleDialogProps {
  /** "new" for a new one. */
  id: string;
  rules: readonly Rule[];
  channels: readonly Channel[];
  onClose: () => void;
  onDone: () => void;
}

export function RuleDialog({ id, rules, channels, onClose, onDone }: RuleDialogProps) {
  const of = rules.find((r) => r.id === id);
  const [draft, setDraft] = useState<RuleDraft>(of ? draftOf(of) : { ...newRule, to: channels.length === 1 ? [channels[0]!.id] : [] });
  const { form, errors, busy, send } = useSubmit();
  const set = (next: Partial<RuleDraft>) => setDraft((d) => ({ ...d, ...next }));
  const submit = () => send(async (once) => {
    const rule = await writeRule(of?.id ?? '', bodyOf(draft), once);
    toast.good(`“${rule.name}” is ${of ? 'saved' : 'made'}. It is about events from now on.`);
    onDone();
  }, refusedField);
  if (id !== 'new' && !of) return <Dialog title="Rule" onClose={onClose}><p>There is no such rule any more.</p></Dialog>;
  const may = can(alertScopes.manage);
  return (
    <Dialog title={of ? `Rule “${of.name}”` : 'New rule'} onClose={onClose} wide>
      <form class="stack" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        {errors[''] ? <Note tone="bad">{errors['']}</Note> : null}
        <fieldset class="form-fields" disabled={!may}>
          <TextField label="Name" name="name" value={draft.name} error={errors.name} autofocus autocomplete="off" hint="It is in each message, such as New in production." onInput={(name) => set({ name })} />
          <Causes draft={draft} errors={errors} set={set} />
          <Limits draft={draft} errors={errors} set={set} />
          <Boxes title="Tell" error={errors.to}>
            {channels.map((c) => (
              <Check key={c.id} label={<ChannelName of={c} />} checked={draft.to.includes(c.id)} onChange={() => set({ to: toggled(draft.to, c.id) })} />
            ))}
          </Boxes>
        </fieldset>
        {may ? <Preview draft={draft} /> : null}
        <footer class="dialog-actions">
          <Button onClick={onClose}>{may ? 'Cancel' : 'Close'}</Button>
          {may ? <Button type="submit" kind="main" busy={busy}>{of ? 'Save' : 'Make the rule'}</Button> : null}
        </footer>
      </form>
    </Dialog>
  );
}

function toggled<T>(list: readonly T[], one: T): T[] {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

/** Boxes that belong together, with what is wrong with them. */
export function Boxes({ title, error, children }: { title: string; error?: string; children: ComponentChildren }) {
  return (
    <fieldset class="boxes">
      <legend>{title}</legend>
      <div class="boxes-list">{children}</div>
      {error ? <div class="error bad group-error" role="alert" tabIndex={-1}>{error}</div> : null}
    </fieldset>
  );
}

/** What the events must be of; closed while nothing is chosen. */
function Limits({ draft, errors, set }: { draft: RuleDraft; errors: Record<string, string>; set: (next: Partial<RuleDraft>) => void }) {
  const wrong = ['projects', 'environments', 'levels', 'books', 'search', 'signatures', 'throttle'].some((field) => errors[field]);
  const chosen = draft.projects.length + draft.levels.length + draft.books.length + draft.signatures.length > 0 || !!draft.environments || !!draft.search || !!draft.numbers.throttle;
  const [first] = useState(chosen);
  return (
    <details class="limits" open={first || wrong}>
      <summary>Only some errors{chosen ? '' : <span class="dim"> · all projects, environments and levels</span>}</summary>
      <div class="form-fields">
        {(projects.value?.length ?? 0) > 0 ? (
          <Boxes title="Projects" error={errors.projects}>
            {projects.value!.map((p) => <Check key={p.id} label={<Safe text={p.name} />} checked={draft.projects.includes(p.id)} onChange={() => set({ projects: toggled(draft.projects, p.id) })} />)}
          </Boxes>
        ) : null}
        <Boxes title="Levels" error={errors.levels}>
          {levels.map((l) => <Check key={l} label={l} checked={draft.levels.includes(l)} onChange={() => set({ levels: toggled(draft.levels, l) })} />)}
        </Boxes>
        <Boxes title="Books" error={errors.books}>
          {books.map((b) => <Check key={b} label={b} checked={draft.books.includes(b)} onChange={() => set({ books: toggled(draft.books, b) })} />)}
        </Boxes>
        <div class="two">
          <TextField label="Environments" name="environments" value={draft.environments} error={errors.environments} autocomplete="off" placeholder="any" hint="A list with commas, such as production, staging." onInput={(environments) => set({ environments })} />
          <TextField label="Text" name="search" value={draft.search} error={errors.search} autocomplete="off" placeholder="any" hint="That message, class or file contains." onInput={(search) => set({ search })} />
        </div>
        {draft.signatures.length > 0 ? (
          <p>About {plural(draft.signatures.length, 'chosen problem')}. <Button kind="quiet" onClick={() => set({ signatures: [] })}>All problems instead</Button></p>
        ) : null}
        <TextField
          label="Pause" name="throttle" type="number" min={0} value={draft.numbers.throttle} error={errors.throttle} placeholder="0" inputMode="numeric"
          hint="Minutes in which the rule says nothing more about a problem that it has told of." onInput={(throttle) => set({ numbers: { ...draft.numbers, throttle } })}
        />
      </div>
    </details>
  );
}
