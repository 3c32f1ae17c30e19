// The routes of the projects.
import { call, type Answer } from './client';
import { read, type Warnings } from './settings';

export const ruleFields = ['class', 'message', 'file', 'release', 'user_agent', 'ip', 'logger'] as const;
export const ruleActions = ['drop', 'mute', 'noise'] as const;

/** What happens to events whose field matches. */
export interface NoiseRule {
  field: (typeof ruleFields)[number];
  /** An asterisk stands for any characters. */
  match: string;
  action: (typeof ruleActions)[number];
}

/** 0 for no limit; null for the limit of the service. */
export type Limit = number | null;

export interface Project {
  id: number;
  slug: string;
  name: string;
  /** Such as go or python-django; '' when nobody said. */
  platform: string;
  created_at: string | null;
  /** Its events are refused. */
  archived: boolean;
  /** '' while none of its ingest keys works. */
  dsn: string;
  /** 0 for ever. */
  retention_days: number;
  occurrence_days: number;
  limits: { events_per_minute: Limit; new_records_per_hour: Limit };
  noise: NoiseRule[];
  /** The text of the ingest key, only in the answer to its creation. */
  key?: string;
}

const all = '/projects';

export const projectScopes = { read: 'Projects/Read', manage: 'Projects/Manage' } as const;

export function projectPath(id: number): string {
  return `${all}/${id}`;
}

export function listProjects(signal?: AbortSignal): Promise<Project[]> {
  return read<Project[]>(all, signal);
}

export async function createProject(project: { name: string; platform?: string }, once: string): Promise<Project> {
  return (await call<Project>('POST', all, { body: project, once })).data;
}

/** Changes the fields that are sent. */
export function patchProject(path: string, body: unknown): Promise<Answer<Project, Warnings>> {
  return call<Project, Warnings>('PATCH', path, { body });
}
