// Limits the list to environments or releases: names that the rows have, or any
// other that is typed; and to tags.
import { useEffect, useState } from 'preact/hooks';
import { asName, labelOf, namesOf, tagsOf, withName, withTag } from '../../lib/filters';
import { visible } from '../../lib/text';
import { change } from '../../router';
import { Button } from '../../ui/button';
import { Check } from '../../ui/field';
import { closeMenu, Menu } from '../../ui/menu';
import { Safe } from '../../ui/text';
import { filters, seenNames } from './store';

// More are found sooner by typing.
const most = 12;

export function NamePicker({ name }: { name: 'environment' | 'release' }) {
  const list = filters.value[name];
  const on = namesOf(list);
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped(''), [list]);
  const seen = seenNames.value[name].map(asName);
  const shown = [...on, ...seen.filter((n) => !on.includes(n)).slice(-most)];
  const label = labelOf(name);
  const set = (value: string) => change({ [name]: value, page: '' });
  return (
    <Menu label={on.length === 0 ? label : on.length === 1 ? <Safe class="picked" text={on[0]!} /> : `${on.length} ${label.toLowerCase()}s`} name={on.length === 0 ? label : `${label}: ${on.map(visible).join(', ')}`} on={on.length > 0} class="name-picker">
      {shown.length === 0 ? null : (
        <fieldset class="checks">
          <legend class="offscreen">{label}</legend>
          {shown.map((n) => <Check key={n} label={<Safe text={n} />} checked={on.includes(n)} onChange={() => set(withName(filters.peek()[name], n))} />)}
        </fieldset>
      )}
      <form class="row" onSubmit={(e) => {
        e.preventDefault();
        const next = namesOf(typed).filter((n) => !on.includes(n)).reduce((all, n) => withName(all, n), list ?? '');
        if (next) set(next);
        closeMenu(e.currentTarget);
      }}>
        <input aria-label={`Another ${label.toLowerCase()}`} placeholder={name === 'release' ? '1.4.*' : 'prod*'} title="* stands for anything" value={typed} spellcheck={false} autocomplete="off" onInput={(e) => setTyped(e.currentTarget.value)} />
        <Button type="submit" disabled={!typed.trim()}>Add</Button>
      </form>
      <p class="dim small">Counts and times are then those in what you choose. * stands for anything, (unknown) for events that name none.</p>
      <div class="menu-end"><Button kind="quiet" disabled={on.length === 0} onClick={() => set('')}>Any</Button></div>
    </Menu>
  );
}

/** Occurrences that have all of these tags. */
export function TagPicker() {
  const on = tagsOf(filters.value.tag);
  const [typed, setTyped] = useState('');
  const set = (lines: string) => change({ tag: lines, page: '' });
  return (
    <Menu label={on.length === 0 ? 'Tag' : on.length === 1 ? <Safe class="picked" text={on[0]!} /> : `${on.length} tags`} name={on.length === 0 ? 'Tag' : `Tag: ${on.map(visible).join(' and ')}`} on={on.length > 0} class="name-picker">
      {on.length === 0 ? null : (
        <fieldset class="checks">
          <legend class="offscreen">Tag</legend>
          {on.map((t) => <Check key={t} label={<Safe text={t} />} checked onChange={() => set(withTag(filters.peek().tag, t))} />)}
        </fieldset>
      )}
      <form class="row" onSubmit={(e) => {
        e.preventDefault();
        const [tag] = tagsOf(typed);
        if (!tag) return;
        if (!on.includes(tag)) set(withTag(filters.peek().tag, tag));
        setTyped('');
        closeMenu(e.currentTarget);
      }}>
        <input aria-label="Another tag" placeholder="feature:checkout" title="key:value" value={typed} spellcheck={false} autocomplete="off" onInput={(e) => setTyped(e.currentTarget.value)} />
        <Button type="submit" disabled={tagsOf(typed).length === 0}>Add</Button>
      </form>
      <p class="dim small">As key:value. One occurrence must have all of them. Counts and times are then those of the occurrences that are kept and have them.</p>
      <div class="menu-end"><Button kind="quiet" disabled={on.length === 0} onClick={() => set('')}>Any</Button></div>
    </Menu>
  );
}
