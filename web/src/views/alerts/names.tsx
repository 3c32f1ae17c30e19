// Names of projects and channels.
import type { Channel } from '../../api/alerts';
import { kindWords } from '../../lib/alerts';
import { projects } from '../../projects';
import { Safe } from '../../ui/text';

/** The name of a project, as far as it is known. */
export function nameOfProject(id: number): string {
  return projects.value?.find((p) => p.id === id)?.name ?? `project ${id}`;
}

/** A channel with its kind, unless its name says that. */
export function ChannelName({ of }: { of: Channel }) {
  return <><Safe text={of.name} />{of.name === kindWords[of.kind] ? null : <> <span class="dim">{kindWords[of.kind]}</span></>}</>;
}
