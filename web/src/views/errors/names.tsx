// Limits the list to environments or releases: names that the rows have, or any
// other that is typed.
import { useEffect, useState } from 'preact/hooks';
import { asName, labelOf, namesOf, withName } from '../../lib/filters';
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
