// How many events each project sent, while all are shown.
import type { Overview } from '../../api/types';
import { projectName, projectParam } from '../../lib/projects';
import { mixed, projects } from '../../projects';
import { PageLink } from '../../ui/button';
import { Panel } from '../../ui/state';
import { Count, Safe } from '../../ui/text';

/** As many as the boxes beside it have. */
const atMost = 10;

export function ByProject({ of }: { of: Overview }) {
  if (!mixed.value && of.by_project.length < 2) return null;
  const shown = of.by_project.slice(0, atMost);
  const more = of.by_project.length - shown.length;
  const most = Math.max(1, ...of.by_project.map((p) => p.events));
  return (
    <Panel title="Projects" aside={<span class="dim">events {of.range === '24h' ? 'in 24 hours' : 'in 14 days'}</span>} class="top by-project">
      {of.by_project.length === 0 ? <p class="dim nothing">No project sent an event.</p> : (
        <ol>
          {shown.map((p) => (
            <li key={p.project_id}>
              <PageLink to={{ view: 'overview', range: of.range === '24h' ? '' : of.range, project: projectParam(p) }} class="top-name"><Safe text={projectName(projects.value ?? [], p)} /></PageLink>
              <span class="top-end">
                <svg class="share" viewBox="0 0 60 8" preserveAspectRatio="none" aria-hidden="true"><rect width={(60 * p.events) / most} height={8} /></svg>
                <PageLink to={{ project: projectParam(p), date_range: of.range }} class="top-much"><Count n={p.events} /><span class="offscreen"> events, list their records</span></PageLink>
              </span>
            </li>
          ))}
          {more > 0 ? <li><PageLink to={{ view: 'projects' }}>{more} more</PageLink></li> : null}
        </ol>
      )}
    </Panel>
  );
}
