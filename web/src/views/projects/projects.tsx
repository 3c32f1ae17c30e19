// The projects: the list, or one of them with its settings.
import { useEffect, useRef, useState } from 'preact/hooks';
import { listProjects, projectScopes, type Project } from '../../api/projects';
import { query } from '../../router';
import { can, lacking } from '../../session';
import { Badge } from '../../ui/badge';
import { Button, PageLink } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Denied, Empty, Failure, Loading } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Safe, Time } from '../../ui/text';
import { MadeProject, made } from './made';
import { NewProjectDialog } from './newproject';
import { OneProject } from './project';

export function ProjectsView() {
  const id = Number(query.value.get('id'));
  return (
    <div class="page projects">
      <h1 class="offscreen">Projects</h1>
      {can(projectScopes.read)
        ? (Number.isSafeInteger(id) && id > 0 ? <OneProject key={id} id={id} /> : <List />)
        : <Denied scope={projectScopes.read} what="Your key may not see projects" />}
    </div>
  );
}

function List() {
  const load = useLoad(listProjects);
  const [making, setMaking] = useState(false);
  const may = lacking(projectScopes.manage);
  return (
    <>
      <header class="tab-head">
        <div>
          <h2>Projects</h2>
          <p class="dim">A project is one application. Create one for each, so that each has its own DSN, limits and rules.</p>
        </div>
        <Button kind="main" disabled={!!may} title={may} onClick={() => setMaking(true)}>Create a project…</Button>
      </header>
      <New />
      {load.error && !load.data ? <Failure error={load.error} retry={load.reload} /> : null}
      {load.data
        ? <Table label="Projects" columns={columns} rows={load.data} id={(p) => String(p.id)} empty={<Empty title="There is no project">{null}</Empty>} />
        : load.error ? null : <Loading />}
      {making ? <NewProjectDialog onClose={() => setMaking(false)} onMade={() => { setMaking(false); load.reload(); }} /> : null}
    </>
  );
}

/** The project that was made last, in sight: the dialog has given the focus back to its button. */
function New() {
  const box = useRef<HTMLDivElement>(null);
  const project = made.value;
  useEffect(() => { if (project) box.current?.scrollIntoView({ block: 'nearest' }); }, [project]);
  return <div ref={box} role="status" class="new-project">{project ? <MadeProject key={project.id} of={project} /> : null}</div>;
}

const columns: readonly Column<Project>[] = [
  {
    name: 'project', head: 'Name',
    cell: (p) => <><PageLink to={{ view: 'projects', id: p.id }}><Safe text={p.name} /></PageLink> {p.archived ? <Badge tone="warn">archived</Badge> : null}</>,
  },
  { name: 'slug', head: 'Slug', cell: (p) => <code class="mono">{p.slug}</code> },
  { name: 'platform', head: 'Platform', cell: (p) => (p.platform ? <Safe text={p.platform} /> : <span class="dim">–</span>) },
  { name: 'number', head: 'Number', right: true, cell: (p) => <span class="num">{p.id}</span> },
  { name: 'made', head: 'Created', right: true, cell: (p) => <Time iso={p.created_at} never="–" /> },
];
