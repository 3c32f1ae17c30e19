// What is switched off or refused for the chosen project.
import { marksOf } from '../lib/projects';
import { chosenProject, recording } from '../projects';
import { PageLink } from '../ui/button';

export function ProjectMarks() {
  const project = chosenProject.value;
  const marks = project ? marksOf(project) : [];
  return (
    <>
      {recording.value ? null : <PageLink to={{ view: 'settings', tab: 'logging' }} class="mark-link"><span class="badge tone-bad" title="Errors are accepted and not kept">recording off</span></PageLink>}
      {marks.map((m) => (
        <PageLink key={m.text} to={{ view: 'projects', id: project!.id }} class="mark-link"><span class={`badge tone-${m.tone}`} title={m.title}>{m.text}</span></PageLink>
      ))}
    </>
  );
}
