import { projects } from '../../projects';

/** The name of a project, as far as it is known. */
export function nameOfProject(id: number): string {
  return projects.value?.find((p) => p.id === id)?.name ?? `project ${id}`;
}
