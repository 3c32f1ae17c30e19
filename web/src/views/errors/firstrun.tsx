// Before the first error: where an application sends it.
import { useState } from 'preact/hooks';
import { listProjects, projectScopes, type Project } from '../../api/projects';
import { live } from '../../live';
import { can, lacking } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Secret } from '../../ui/secret';
import { Snippets } from '../../ui/snippets';
import { Failure, Loading, Note } from '../../ui/state';
import { Safe } from '../../ui/text';
import { FirstChannel } from '../alerts/first';
import { MadeProject, made } from '../projects/made';
import { NewProjectDialog } from '../projects/newproject';

export function FirstRun() {
  return (
    <div class="page firstrun">
      <header>
        <h2>No errors yet</h2>
        <p class="dim">
          {live.value === 'off' ? 'Reload this page after an application has sent an error.' : 'This page shows the list when the first error arrives.'}
        </p>
      </header>
      {can(projectScopes.read) ? <WithProjects /> : (
        <Note>
          Applications send errors to the DSN of their project. The DSN of the first project is in the file <code class="mono">data/keys/dsn</code> of the service. To show it here, your key needs the scope <code class="mono">{projectScopes.read}</code>.
        </Note>
      )}
      <FirstChannel />
    </div>
  );
}

function WithProjects() {
  const load = useLoad(listProjects);
  const [making, setMaking] = useState(false);
  const may = lacking(projectScopes.manage);
  if (load.error && !load.data) return <Failure error={load.error} retry={load.reload} />;
  if (!load.data) return <Loading />;
  const ready = load.data.find((p) => !p.archived && p.dsn);
  return (
    <>
      {made.value ? <MadeProject of={made.value} /> : ready ? <Ready of={ready} /> : <p>No project takes events. Create one to get its DSN.</p>}
      {made.value ? null : (
        <div class="row">
          <Button kind={ready ? 'plain' : 'main'} disabled={!!may} title={may} onClick={() => setMaking(true)}>Create a project…</Button>
          <span class="dim">Create one for each application: then each has its own DSN, limits and rules.</span>
        </div>
      )}
      {making ? <NewProjectDialog onClose={() => setMaking(false)} onMade={() => { setMaking(false); load.reload(); }} /> : null}
    </>
  );
}

/** The project that is there already. */
function Ready({ of }: { of: Project }) {
  return (
    <>
      <p>
        The project <PageLink to={{ view: 'projects', id: of.id }}><Safe text={of.name} /></PageLink> is ready. An application sends its errors to the DSN of its project, with any Sentry SDK.
      </p>
      <Secret label="DSN" text={of.dsn} />
      <Snippets key={of.id} dsn={of.dsn} platform={of.platform} />
    </>
  );
}

/** The key that was created here, above the list until it is closed. */
export function KeptDSN() {
  const project = made.value;
  if (!project?.key) return null;
  return (
    <div class="kept">
      <b>The ingest key of “<Safe text={project.name} />” is shown only once.</b>
      <Secret label="DSN" text={project.dsn} />
      <Secret label="Ingest key" text={project.key} />
      <Button onClick={() => { made.value = null; }}>I have copied the key</Button>
    </div>
  );
}
