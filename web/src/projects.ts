// The projects that the viewer may see, and the one that is chosen in the address.
import { computed, signal } from '@preact/signals';
import { listProjects, patchProject, projectScopes, type Project } from './api/projects';
import { paths, read, type LogSettings } from './api/settings';
import { projectOf } from './lib/projects';
import { query } from './router';
import { can, who } from './session';
import { usePoll } from './ui/poll';

/** null while they are not known, or where the key may not see them. */
export const projects = signal<readonly Project[] | null>(null);

/** Whether the service keeps events at all; true while that is not known. */
export const recording = signal(true);

/** What the address chooses, '' for all projects. */
export const chosen = computed(() => query.value.get('project')?.trim() ?? '');

export const chosenProject = computed(() => projectOf(projects.value ?? [], chosen.value));

/** Whether rows of different projects stand side by side. */
export const mixed = computed(() => (projects.value?.length ?? 0) > 1 && (chosen.value === '' || chosen.value.includes(',')));

/** The name of a project, as far as it is known. */
export function nameOfProject(id: number): string {
  return projects.value?.find((p) => p.id === id)?.name ?? `project ${id}`;
}

const turn = signal(0);

/** Reads them again, after one of them was changed here. */
export function refreshProjects(): void {
  turn.value++;
}

/** Changes the fields that are sent, here and in what the page knows. */
export async function changeProject(path: string, body: unknown): ReturnType<typeof patchProject> {
  const answer = await patchProject(path, body);
  refreshProjects();
  return answer;
}

who.subscribe((now) => {
  if (now) return;
  projects.value = null;
  recording.value = true;
});

const every = 60_000;

/** Keeps the projects up to date while the component is mounted. */
export function useProjects(): void {
  usePoll(load, every, `${who.value?.id} ${turn.value}`);
}

async function load(signal: AbortSignal): Promise<void> {
  const [list, settings] = await Promise.all([
    can(projectScopes.read) ? listProjects(signal) : null,
    // Without them one can still choose a project.
    can('Tools/GetLogSettings') ? read<LogSettings>(paths.logging, signal).catch(() => null) : null,
  ]);
  if (signal.aborted) return;
  projects.value = list;
  recording.value = settings?.error_log ?? true;
}
