import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { createKey, type NewKey } from '../../api/settings';
import type { Key } from '../../api/types';
import { kinds, offered, scopeGroups } from '../../lib/scopelist';
import { holds } from '../../lib/scopes';
import { plural, visible } from '../../lib/text';
import { dayUTC } from '../../lib/time';
import { projects } from '../../projects';
import { who } from '../../session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Check, Select, TextField } from '../../ui/field';
import { Note } from '../../ui/state';
import { Safe } from '../../ui/text';
import { useSubmit } from '../../ui/submit';

const lives = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '730', label: 'two years' },
  { value: '0', label: 'never' },
];

/** How long a key of the kind works unless asked: an application whose key ended would fall silent. */
const lifeOf = (kind: Key['kind']) => (kind === 'ing' ? '0' : '365');

/** Which field a refusal is about. */
const fieldOf: Record<string, string> = { invalid_name: 'name', invalid_project: 'project', invalid_expiry: 'expires', invalid_scope: 'scopes', insufficient_scope: 'scopes' };

function fieldIn(error: unknown, kind: Key['kind']): string {
  const field = error instanceof ApiError ? fieldOf[error.code] ?? '' : '';
  return field === 'project' && kind === 'adm' ? 'projects' : field;
}

export function NewKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (key: Key) => void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Key['kind']>('ing');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [project, setProject] = useState('');
  const [only, setOnly] = useState<readonly number[]>([]);
  const [days, setDays] = useState(lifeOf('ing'));
  const { form, errors, busy, refuse, send, clear } = useSubmit();
  const submit = async () => {
    if (!name.trim()) return refuse('name', 'Enter a name for the key.');
    if (kind !== 'ing' && scopes.length === 0) return refuse('scopes', 'Tick at least one scope.');
    if (project && !/^[0-9]{1,10}$/.test(project.trim())) return refuse('project', 'A project is a number, 1 or more. Leave it empty for the next free number.');
    const key: NewKey = { name: name.trim(), kind, expires_in_days: Number(days) };
    if (kind === 'ing') key.project = Number(project || 0);
    else key.scopes = [...scopes];
    if (kind === 'adm' && only.length > 0) key.projects = [...only];
    await send(async (once) => onMade(await createKey(key, once)), (error) => fieldIn(error, kind));
  };
  const pick = (next: Key['kind']) => {
    setKind(next);
    setScopes(next === 'ops' ? ['Ops/Read'] : []);
    if (days === lifeOf(kind)) setDays(lifeOf(next));
    clear();
  };
  return (
    <Dialog title="Create a key" onClose={onClose} wide>
      <form class="stack" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        {errors[''] ? <Note tone="bad">{errors['']}</Note> : null}
        <fieldset class="kinds">
          <legend>Kind</legend>
          {kinds.map((k) => (
            <label key={k.value} class={k.value === kind ? 'on' : undefined}>
              <input type="radio" name="kind" value={k.value} checked={k.value === kind} onChange={() => pick(k.value)} />
              <span><b>{k.label}</b> <span class="dim">{k.means}</span></span>
            </label>
          ))}
        </fieldset>
        <div class="two">
          <TextField label="Name" name="name" value={name} error={errors.name} autofocus autocomplete="off" hint="The application, the person or the script that gets it." onInput={setName} />
          <Select
            label="Expires after" name="expires" value={days} choices={lives} error={errors.expires}
            hint={days === '0' ? 'It works until it is revoked.' : `On ${dayUTC(Date.now(), -Number(days))}.`} onChange={setDays}
          />
        </div>
        {kind === 'ing'
          ? <div class="two"><ProjectField value={project} error={errors.project} onChange={setProject} /></div>
          : <ScopeList kind={kind} chosen={scopes} error={errors.scopes} onChange={setScopes} />}
        {kind === 'adm' ? <Only chosen={only} error={errors.projects} onChange={setOnly} /> : null}
        <footer class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="main" busy={busy}>Create</Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The project by its name, where the names are known. */
function ProjectField({ value, error, onChange }: { value: string; error?: string; onChange: (value: string) => void }) {
  const list = projects.value;
  if (!list) return <TextField label="Project" name="project" value={value} error={error} autocomplete="off" hint="The number at the end of the DSN. Leave it empty for the next free number." onInput={onChange} />;
  const choices = [{ value: '', label: 'a new project, with the next free number' }, ...list.map((p) => ({ value: String(p.id), label: `${visible(p.name)}${p.archived ? ' (archived)' : ''}` }))];
  return <Select label="Project" name="project" value={value} error={error} choices={choices} hint="Its number stands at the end of the DSN." onChange={onChange} />;
}

/** Limits an admin key to some projects. */
function Only({ chosen, error, onChange }: { chosen: readonly number[]; error?: string; onChange: (chosen: number[]) => void }) {
  const list = projects.value;
  if (!list || list.length < 2) return null;
  return (
    <fieldset class="scope-list only-projects">
      <legend>{chosen.length === 0 ? 'In all projects, also later ones' : `In ${plural(chosen.length, 'project')} only`}</legend>
      {error ? <div class="bad group-error" role="alert" tabIndex={-1}>{error}</div> : null}
      <p class="dim small">Tick some, and the key sees and changes nothing of the others, nor what concerns the whole service.</p>
      <div class="scope-groups">
        {list.map((p) => <Check key={p.id} label={<Safe text={p.name} />} checked={chosen.includes(p.id)} onChange={(on) => onChange(on ? [...chosen, p.id] : chosen.filter((n) => n !== p.id))} />)}
      </div>
    </fieldset>
  );
}

function ScopeList({ kind, chosen, error, onChange }: { kind: Key['kind']; chosen: readonly string[]; error?: string; onChange: (scopes: string[]) => void }) {
  const mine = who.value?.scopes ?? [];
  const toggle = (scope: string, on: boolean) => {
    const group = scope.endsWith('/*') ? scope.slice(0, -1) : '';
    // A pattern holds what it is ticked instead of.
    const rest = chosen.filter((s) => s !== scope && !(on && (scope === '*' || (group && s.startsWith(group)))));
    onChange(on ? [...rest, scope] : rest);
  };
  const all = chosen.includes('*');
  const box = (scope: string, label: ComponentChildren, within: boolean) => {
    const lacking = !holds(mine, scope);
    return (
      <Check
        key={scope} checked={within || chosen.includes(scope)} disabled={within || lacking}
        label={<>{label}{lacking ? <span class="dim"> (your key does not hold it)</span> : null}</>} onChange={(on) => toggle(scope, on)}
      />
    );
  };
  const groups = scopeGroups.map((g) => ({ ...g, scopes: g.scopes.filter((s) => offered(kind, s.name)) })).filter((g) => g.scopes.length > 0);
  return (
    <fieldset class="scope-list" aria-describedby={error ? 'scopes-error' : undefined}>
      <legend>The key may</legend>
      {error ? <div class="bad group-error" id="scopes-error" role="alert" tabIndex={-1}>{error}</div> : null}
      {kind === 'adm' ? box('*', <b>everything, also the scopes of later versions</b>, false) : null}
      <div class="scope-groups">
        {groups.map((g) => {
          const whole = all || chosen.includes(`${g.group}/*`);
          const pattern = kind === 'adm' && g.scopes.every((s) => s.name.startsWith(`${g.group}/`));
          return (
            <fieldset key={g.group}>
              <legend>{g.label}{pattern ? <> <code class="mono">{g.group}/</code></> : null}</legend>
              {pattern ? box(`${g.group}/*`, <>all of these <code class="mono dim">*</code></>, all) : null}
              {g.scopes.map((s) => box(s.name, <>{s.means} <code class="mono dim">{pattern ? s.name.slice(g.group.length + 1) : s.name}</code></>, all || (pattern && whole)))}
            </fieldset>
          );
        })}
      </div>
    </fieldset>
  );
}
