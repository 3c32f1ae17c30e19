// The routes of the projects.
import { call, type Answer } from './client';
import { read, type Warnings } from './settings';

export const ruleFields = ['class', 'message', 'file', 'release', 'user_agent', 'ip', 'logger'] as const;
export const ruleActions = ['drop', 'mute', 'noise'] as const;

/** What happens to events whose field matches, or that a ready set matches: it has field and match, or set. */
export interface NoiseRule {
  field?: (typeof ruleFields)[number];
  /** An asterisk stands for any characters. */
  match?: string;
  /** The key of a ready set. */
  set?: string;
  action: (typeof ruleActions)[number];
}

/** Rules that the service knows by one name. */
export interface NoiseSet {
  key: string;
  title: string;
  rules: { field: string; match: string }[];
}

export const shapesOf = ['off', 'shapes', 'values'] as const;

/** What is kept of the context of its events. */
export interface KeptContext {
  source_lines: boolean;
  breadcrumbs: boolean;
  /** The contexts of SDKs too. */
  extra: boolean;
  vars: (typeof shapesOf)[number];
  /** The ids of users, beside their hashes. */
  users: boolean;
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
  context: KeptContext;
  /** null while the records do not answer. */
  totals: { records: number; events_24h: number } | null;
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

export function listNoiseSets(signal?: AbortSignal): Promise<NoiseSet[]> {
  return read<NoiseSet[]>('/noise-sets', signal);
}

export async function createProject(project: { name: string; platform?: string }, once: string): Promise<Project> {
  return (await call<Project>('POST', all, { body: project, once })).data;
}

/** Changes the fields that are sent. */
export function patchProject(path: string, body: unknown): Promise<Answer<Project, Warnings>> {
  return call<Project, Warnings>('PATCH', path, { body });
}
