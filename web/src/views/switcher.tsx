// Chooses the project that the list and the overview show.
import { noRecord } from '../lib/filters';
import { visible } from '../lib/text';
import { chosen, chosenProject, projects, useProjects } from '../projects';
import { change, view } from '../router';

/** Hidden while there is nothing to choose, and in views that are the same for all projects. */
export function Switcher() {
  useProjects();
  const list = projects.value;
  const at = chosen.value;
  if (!list || (list.length < 2 && !at) || view.value === 'projects' || view.value === 'settings') return null;
  const value = chosenProject.value?.slug ?? at;
  return (
    <select
      class={`project-switch${at ? ' on' : ''}`} aria-label="Project" title="Project (p)" value={value}
      onChange={(e) => change({ project: e.currentTarget.value, page: '', ...noRecord })}
    >
      <option value="">All projects</option>
      {list.map((p) => <option key={p.id} value={p.slug}>{visible(p.name)}{p.archived ? ' (archived)' : ''}</option>)}
      {at && !chosenProject.value ? <option value={at}>{visible(at)}</option> : null}
    </select>
  );
}

export function focusSwitcher(): boolean {
  const select = document.querySelector<HTMLElement>('.project-switch');
  select?.focus();
  return select !== null;
}
