// One project: its DSN, its settings, the archive.
import { useEffect, useRef, useState } from 'preact/hooks';
import { projectPath, projectScopes, shapesOf, type Limit, type Project } from '../../api/projects';
import { checkProject, limitOf, numberOf, platforms, ruleLabel, shapeWords, showValue } from '../../lib/projects';
import { lacking } from '../../session';
import { changeProject } from '../../projects';
import { useOpenTitle } from '../../title';
import { Badge } from '../../ui/badge';
import { Button, PageLink } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { Select, TextField } from '../../ui/field';
import { Secret } from '../../ui/secret';
import { Snippets } from '../../ui/snippets';
import { Note, Panel } from '../../ui/state';
import { Safe } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Group, SettingForm, SettingSwitch } from '../settings/form';
import { setting, type Setting } from '../settings/setting';
import { MadeProject, made } from './made';
import { Rules } from './rules';

// What is filled in survives a look at something else.
const known = new Map<number, Setting<Project>>();

function settingOf(id: number): Setting<Project> {
  const have = known.get(id) ?? setting<Project>({
    name: `project ${id}`, path: projectPath(id), reads: projectScopes.read, writes: projectScopes.manage,
    labels: {
      name: 'Name', slug: 'Slug', platform: 'Platform', archived: 'Archived', retention_days: 'Records', occurrence_days: 'Occurrences',
      'limits.events_per_minute': 'Events a minute', 'limits.new_records_per_hour': 'New records an hour', noise: 'Noise rules',
      'context.source_lines': 'Source lines', 'context.breadcrumbs': 'Breadcrumbs', 'context.extra': 'Contexts and extra', 'context.vars': 'Variables', 'context.users': 'Users',
    },
    labelOf: ruleLabel, show: showValue, check: checkProject, write: changeProject,
  });
  known.set(id, have);
  return have;
}

export function OneProject({ id }: { id: number }) {
  const of = settingOf(id);
  const project = of.base.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useOpenTitle(project?.name ?? 'Project');
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <header class="project-head">
        <PageLink to={{ view: 'projects' }} class="back">‹ All projects</PageLink>
        <h2 ref={heading} tabIndex={-1}><Safe text={project?.name ?? 'Project'} /> {project?.archived ? <Badge tone="warn">archived</Badge> : null}</h2>
      </header>
      {project?.archived ? <Note tone="warn">This project is archived: its events are refused. Its records and keys stay as they are.</Note> : null}
      {!project ? null : made.value?.id === id ? <MadeProject of={made.value} /> : <Address of={project} />}
      <SettingForm of={of} title="Settings" lead={<>Project number <span class="num">{id}</span>. The number stands in its keys and DSNs, and never changes.</>}>
        {(draft) => <Fields of={of} draft={draft} />}
      </SettingForm>
      {project ? <Archive project={project} of={of} /> : null}
    </>
  );
}

/** Where its application sends errors. */
function Address({ of }: { of: Project }) {
  const [shown, setShown] = useState(false);
  if (!of.dsn) return <Note>This project has no ingest key that works, and so no DSN. <PageLink to={{ view: 'settings', tab: 'keys' }}>Create an ingest key</PageLink> with the project number {of.id}.</Note>;
  return (
    <div class="stack project-dsn">
      <Secret label="DSN" text={of.dsn} />
      <div class="row"><Button aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? 'Hide the code' : 'Code that sends a first error'}</Button></div>
      {shown ? <Snippets dsn={of.dsn} platform={of.platform} /> : null}
    </div>
  );
}

function Fields({ of, draft }: { of: Setting<Project>; draft: Project }) {
  const field = (path: string) => ({ name: path, label: of.label(path), error: of.errors.value[path], changed: of.isChanged(path), autocomplete: 'off' });
  const limit = (path: string, value: Limit) => ({
    ...field(path), value: value === null ? '' : String(value), placeholder: 'the limit of the service', inputMode: 'numeric' as const,
    onInput: (text: string) => of.set(path, limitOf(text)),
  });
  const days = (path: string, value: number) => ({ ...field(path), value: String(value), inputMode: 'numeric' as const, onInput: (text: string) => of.set(path, numberOf(text)) });
  return (
    <>
      <Group title="The application">
        <TextField {...field('name')} value={draft.name} onInput={(v) => of.set('name', v)} />
        <div class="two">
          <TextField {...field('slug')} mono value={draft.slug} hint="Its name in addresses: small letters, digits and hyphens. Links with the old slug end when you change it." onInput={(v) => of.set('slug', v)} />
          <TextField {...field('platform')} value={draft.platform} offers={platforms} hint="Such as go or python-django." onInput={(v) => of.set('platform', v)} />
        </div>
      </Group>
      <Group title="Limits" hint="Empty means the limit of the service; 0 means no limit.">
        <div class="two">
          <TextField {...limit('limits.events_per_minute', draft.limits.events_per_minute)} hint="What is above it is refused, and the sender is told." />
          <TextField {...limit('limits.new_records_per_hour', draft.limits.new_records_per_hour)} hint="What is above it is counted in an overflow record of its class." />
        </div>
      </Group>
      <Group title="Days to keep">
        <div class="two">
          <TextField {...days('retention_days', draft.retention_days)} hint="A cleanup once a day deletes records that were not seen for so long; 0 means for ever." />
          <TextField {...days('occurrence_days', draft.occurrence_days)} hint="Single occurrences, with their users and tags, go once a day when they are so old. Counts stay exact." />
        </div>
      </Group>
      <Context of={of} draft={draft} />
      <Rules of={of} rules={draft.noise} />
    </>
  );
}

/** What is kept of each event, beyond what is counted. */
function Context({ of, draft: { context } }: { of: Setting<Project>; draft: Project }) {
  const turn = (name: 'source_lines' | 'breadcrumbs' | 'extra' | 'users', hint: string) => <SettingSwitch of={of} path={`context.${name}`} checked={context[name]} label={of.label(`context.${name}`)} hint={hint} />;
  return (
    <Group title="Context of an event" hint="All of it is scrubbed and bounded. A change holds for events from then on; what is kept already stays.">
      {turn('source_lines', 'Up to five lines before and after the call, where the SDK sends them.')}
      {turn('breadcrumbs', 'The last 30 things that happened before.')}
      {turn('extra', 'What the SDK and the application add, up to 16 KiB together.')}
      {turn('users', 'The id of the user. Switched off, users are still counted, by a keyed hash.')}
      <Select
        name="context.vars" label={of.label('context.vars')} value={context.vars} error={of.errors.value['context.vars']} changed={of.isChanged('context.vars')}
        hint="Of the calls in a stack. A shape says only what kind of thing a variable held, such as string(12)."
        choices={shapesOf.map((value) => ({ value, label: shapeWords[value] }))} onChange={(v) => of.set('context.vars', v)}
      />
    </Group>
  );
}

function Archive({ project, of }: { project: Project; of: Setting<Project> }) {
  const [busy, setBusy] = useState(false);
  const may = lacking(projectScopes.manage);
  const to = !project.archived;
  const move = async () => {
    const sure = await confirm({
      title: to ? `Archive “${project.name}”?` : `Take “${project.name}” out of the archive?`,
      text: to
        ? <p>Its events are refused on every node within a second, and its applications are told so. Its records and keys stay as they are. You can take it out of the archive again.</p>
        : <p>Its events are taken again on every node within a second. What was refused meanwhile does not come back by itself.</p>,
      yes: to ? 'Archive' : 'Take out of the archive', danger: to,
    });
    if (!sure) return;
    setBusy(true);
    try {
      await changeProject(projectPath(project.id), { archived: to });
      toast.good(to ? `“${project.name}” is archived.` : `“${project.name}” takes events again.`);
    } catch (error) {
      toast.failed(error);
    }
    await of.load();
    setBusy(false);
  };
  return (
    <Panel title="Archive" class="narrow">
      <div class="stack">
        <p class="dim">{to ? 'An archived project refuses events. Nothing of it is deleted.' : 'This project refuses events.'}</p>
        <div class="row"><Button kind={to ? 'danger' : 'plain'} busy={busy} disabled={!!may} title={may} onClick={() => void move()}>{to ? 'Archive…' : 'Take out of the archive…'}</Button></div>
      </div>
    </Panel>
  );
}
