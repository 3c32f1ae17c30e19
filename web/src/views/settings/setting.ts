// A setting that is read, edited and written. Edits survive a change of tabs, and
// are merged with what others have written meanwhile.
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { ApiError, type Answer } from '../../api/client';
import { read, write, type Warnings } from '../../api/settings';
import { at, diff, patch, put, type Change } from '../../lib/diff';
import { merge, type Conflict } from '../../lib/merge';
import { who } from '../../session';
import { toast, wordsOf } from '../../ui/toast';

interface Definition<T> {
  /** The name of its tab. */
  name: string;
  path: string;
  /** The scopes for reading and for changing it. */
  reads: string;
  writes: string;
  /** The labels of fields, by path. */
  labels: Record<string, string>;
  /** The text of a value in a note; by default on and off for switches. */
  show?: (path: string, value: unknown) => string | undefined;
  /** The label of a field that the table of labels does not have. */
  labelOf?: (path: string) => string | undefined;
  /** How it is written; a PUT by default. */
  write?: (path: string, body: unknown) => Promise<Answer<T, Warnings>>;
  /** What is wrong with the draft, by path: it is then not sent. */
  check?: (draft: T) => Record<string, string>;
  /** Converts the changes into the body for the API. */
  body?: (changes: Record<string, unknown>, draft: T) => unknown;
  /** Asks before surprising changes; false keeps them unsaved. */
  ask?: (base: T, draft: T) => Promise<boolean>;
  /** The field of the form that an error is about, when it is not details.field. */
  fieldOf?: (error: ApiError) => string;
}

/** What a form needs of a setting of any shape. */
export interface AnySetting {
  readonly name: string;
  readonly reads: string;
  readonly writes: string;
  readonly failed: ReadonlySignal<unknown>;
  /** What is wrong, by path; '' for errors about no field. */
  readonly errors: ReadonlySignal<Record<string, string>>;
  /** From the latest refusal. */
  readonly details: ReadonlySignal<Record<string, unknown>>;
  /** The warnings of the latest write. */
  readonly warnings: ReadonlySignal<string[]>;
  readonly conflicts: ReadonlySignal<Conflict[]>;
  /** Fields that others have changed, and nobody here. */
  readonly taken: ReadonlySignal<string[]>;
  readonly saving: ReadonlySignal<boolean>;
  /** Counts refused writes: the form then moves the focus to the field. */
  readonly refused: ReadonlySignal<number>;
  readonly changes: ReadonlySignal<Change[]>;
  load(abort?: AbortSignal): Promise<void>;
  set(path: string, value: unknown): void;
  discard(): void;
  save(): Promise<void>;
  takeTheirs(): void;
  forget(): void;
  label(path: string): string;
  show(path: string, value: unknown): string;
  isChanged(path: string): boolean;
}

export interface Setting<T> extends AnySetting {
  /** As it is stored, as far as it was read. */
  readonly base: ReadonlySignal<T | undefined>;
  /** As it is filled in. */
  readonly draft: ReadonlySignal<T | undefined>;
}

const all: AnySetting[] = [];

/** Names of the tabs with something that is not saved. */
export const unsaved = computed(() => all.filter((s) => s.changes.value.length > 0).map((s) => s.name));

// What one has filled in is nobody else's.
who.subscribe((now) => {
  if (!now) all.forEach((s) => s.forget());
});

addEventListener('beforeunload', (event) => {
  if (unsaved.peek().length > 0) event.preventDefault();
});

export function setting<T extends object>(of: Definition<T>): Setting<T> {
  const base = signal<T | undefined>(undefined);
  const draft = signal<T | undefined>(undefined);
  const failed = signal<unknown>(undefined);
  const errors = signal<Record<string, string>>({});
  const details = signal<Record<string, unknown>>({});
  const warnings = signal<string[]>([]);
  const conflicts = signal<Conflict[]>([]);
  const taken = signal<string[]>([]);
  const saving = signal(false);
  const refused = signal(0);
  const changes = computed(() => (base.value && draft.value ? diff(base.value, draft.value) : []));

  /** Takes what stands there now and keeps what is filled in. */
  function takeIn(theirs: T): void {
    if (!base.peek() || changes.peek().length === 0) {
      draft.value = theirs;
    } else {
      const merged = merge(base.peek()!, draft.peek()!, theirs);
      draft.value = merged.value;
      conflicts.value = merged.conflicts;
      if (merged.taken.length > 0) taken.value = merged.taken;
    }
    base.value = theirs;
  }

  async function load(abort?: AbortSignal): Promise<void> {
    try {
      const theirs = await read<T>(of.path, abort);
      failed.value = undefined;
      takeIn(theirs);
    } catch (error) {
      if (!abort?.aborted) failed.value = error;
    }
  }

  function set(path: string, value: unknown): void {
    draft.value = put(draft.peek()!, path, value);
    conflicts.value = conflicts.peek().filter((c) => c.path !== path);
    const settled = (name: string) => name === path || name === '' || name.startsWith(`${path}[`);
    if (Object.keys(errors.peek()).some(settled)) errors.value = Object.fromEntries(Object.entries(errors.peek()).filter(([name]) => !settled(name)));
  }

  function discard(): void {
    draft.value = base.peek();
    errors.value = {};
    details.value = {};
    conflicts.value = [];
    taken.value = [];
  }

  /** Writes what was changed, unless somebody else has changed the same: that is shown first. */
  async function save(): Promise<void> {
    if (saving.peek() || changes.peek().length === 0) return;
    details.value = {};
    errors.value = of.check?.(draft.peek()!) ?? {};
    if (Object.keys(errors.peek()).length > 0) {
      refused.value++;
      return;
    }
    saving.value = true;
    try {
      // Conflicts that were shown are decided by pressing Save again; what has
      // changed since is another one.
      conflicts.value = [];
      takeIn(await read<T>(of.path));
      if (conflicts.peek().length > 0) return;
      if (changes.peek().length === 0) {
        toast.good('Somebody else has saved the same values. There is nothing left to save.');
        discard();
        return;
      }
      if (of.ask && !(await of.ask(base.peek()!, draft.peek()!))) return;
      const changed = patch(base.peek(), draft.peek());
      const { data, meta } = await (of.write ?? write<T>)(of.path, of.body ? of.body(changed, draft.peek()!) : changed);
      base.value = data;
      draft.value = data;
      conflicts.value = [];
      taken.value = [];
      warnings.value = (meta.warnings ?? []).map((w) => w.message);
      toast.good('Saved. Every node uses it now.');
    } catch (error) {
      refuse(error);
    } finally {
      saving.value = false;
    }
  }

  function refuse(error: unknown): void {
    if (error instanceof ApiError && (error.status === 422 || error.status === 400)) {
      const about = (error.details ?? {}) as Record<string, unknown>;
      const field = of.fieldOf?.(error) ?? (typeof about.field === 'string' ? about.field : '');
      details.value = about;
      errors.value = { [field]: error.message };
      refused.value++;
      return;
    }
    if (error instanceof ApiError && error.status === 409) {
      errors.value = { '': `${error.message} Somebody else is changing this setting at this moment. Look at the current values and save again.` };
      void load();
      return;
    }
    const words = wordsOf(error);
    if (words) errors.value = { '': words };
  }

  /** Puts theirs in the place of mine. */
  function takeTheirs(): void {
    draft.value = conflicts.peek().reduce((d, c) => put(d, c.path, c.theirs), draft.peek()!);
    conflicts.value = [];
  }

  function forget(): void {
    base.value = undefined;
    draft.value = undefined;
    warnings.value = [];
    discard();
  }

  const label = (path: string) => of.labels[path] ?? of.labelOf?.(path) ?? path;
  const show = (path: string, value: unknown) => of.show?.(path, value) ?? word(value);
  const isChanged = (path: string) => !!base.value && JSON.stringify(at(base.value, path)) !== JSON.stringify(at(draft.value, path));
  const { name, reads, writes } = of;
  const made: Setting<T> = {
    name, reads, writes, base, draft, failed, errors, details, warnings, conflicts, taken, saving, refused, changes, load, set, discard, save, takeTheirs, forget, label, show, isChanged,
  };
  all.push(made);
  return made;
}

function word(value: unknown): string {
  if (value === 1 || value === true) return 'on';
  if (value === 0 || value === false) return 'off';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return value === '' || value === undefined || value === null ? 'none' : String(value);
}
