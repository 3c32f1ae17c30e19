// Projects: what is typed for their fields, and how it reads.
import { ruleActions, ruleFields, shapesOf, type NoiseRule, type Project } from '../api/projects';
import { fullCount } from './text';

/** Platforms to choose from; any other word may be typed. */
export const platforms = [
  'go', 'php', 'php-laravel', 'php-symfony', 'javascript', 'javascript-react', 'javascript-vue', 'node', 'python', 'python-django', 'python-flask', 'java', 'dotnet', 'ruby', 'rust',
] as const;

/** A field of a number while it is typed: the number, or the text as long as it is none. */
export type Typed = number | string;

/** What was typed for a number. */
export function numberOf(text: string): Typed {
  const plain = text.trim();
  return /^[0-9]+$/.test(plain) ? Number(plain) : plain;
}

/** What was typed for a limit: nothing stands for the limit of the service. */
export function limitOf(text: string): Typed | null {
  return text.trim() === '' ? null : numberOf(text);
}

const mostDays = 36_500;
const mostEvents = 1_000_000_000;

/** What is wrong with a draft, by the path of the field. */
export function checkProject(draft: Project): Record<string, string> {
  const wrong: Record<string, string> = {};
  const number = (path: string, value: unknown, least: number, most: number, words: string) => {
    if (typeof value !== 'number' || value < least || value > most) wrong[path] = words;
  };
  if (!draft.name.trim()) wrong.name = 'Enter a name for the project.';
  if (!draft.slug.trim()) wrong.slug = 'Enter a slug, such as web-shop.';
  number('retention_days', draft.retention_days, 0, mostDays, `Enter a number of days from 0 (for ever) to ${fullCount(mostDays)}.`);
  number('occurrence_days', draft.occurrence_days, 1, mostDays, `Enter a number of days from 1 to ${fullCount(mostDays)}.`);
  for (const name of ['events_per_minute', 'new_records_per_hour'] as const) {
    const value: unknown = draft.limits[name];
    if (value !== null) number(`limits.${name}`, value, 0, mostEvents, `Enter a whole number up to ${fullCount(mostEvents)}, 0 for no limit, or nothing for the limit of the service.`);
  }
  draft.noise.forEach((rule, i) => {
    if (!rule.set && !(rule.match ?? '').replace(/[* ]/g, '')) wrong[`noise[${i}].match`] = 'Enter a text to match; an asterisk alone would match every event.';
  });
  return wrong;
}

/** A rule to begin with: it hides nothing and loses nothing. */
export const newRule: NoiseRule = { field: 'class', match: '', action: 'noise' };

/** A rule for a ready set, which also hides nothing and loses nothing. */
export function setRule(key: string): NoiseRule {
  return { set: key, action: 'noise' };
}

export const fieldWords: Record<(typeof ruleFields)[number], string> = {
  class: 'Class', message: 'Message', file: 'File', release: 'Release', user_agent: 'User agent', ip: 'Address', logger: 'Logger',
};

export const actionWords: Record<(typeof ruleActions)[number], string> = {
  drop: 'Drop: count the event and forget it', mute: 'Mute its record', noise: 'Mark as noise, for “Hide noise”',
};

export const shapeWords: Record<(typeof shapesOf)[number], string> = {
  off: 'Keep none', shapes: 'Keep their shapes', values: 'Keep their values, scrubbed, up to 256 bytes each',
};

/** The label of a field inside the rules, such as noise[1].match. */
export function ruleLabel(path: string): string | undefined {
  const found = /^noise\[(\d+)\](?:\.(\w+))?$/.exec(path);
  return found ? `Noise rule ${Number(found[1]) + 1}${found[2] ? `, ${found[2]}` : ''}` : undefined;
}

/** The errors of one rule, by the name of its field. */
export function ruleErrors(errors: Readonly<Record<string, string>>, at: number): Record<string, string> {
  const prefix = `noise[${at}].`;
  return Object.fromEntries(Object.entries(errors).filter(([path]) => path.startsWith(prefix)).map(([path, words]) => [path.slice(prefix.length), words]));
}

/** The values of a project in a note. */
export function showValue(path: string, value: unknown): string | undefined {
  if (path === 'noise' && Array.isArray(value)) return value.length === 1 ? '1 rule' : `${value.length} rules`;
  if (path.startsWith('limits.')) return value === null ? 'the limit of the service' : value === 0 ? 'no limit' : String(value);
  if (path === 'context.vars') return shapeWords[value as (typeof shapesOf)[number]];
  if (path.startsWith('context.')) return value === true ? 'kept' : 'not kept';
  if (path.endsWith('_days')) return value === 0 ? 'for ever' : `${String(value)} days`;
  return undefined;
}

/** Something that is switched off or refused, with its explanation. */
export interface Mark {
  text: string;
  title: string;
  tone: 'plain' | 'warn';
}

/** What of a project's events is refused, limited or dropped. */
export function marksOf(project: Project): Mark[] {
  const marks: Mark[] = [];
  if (project.archived) marks.push({ text: 'archived', title: 'Its events are refused', tone: 'warn' });
  const limits = [
    ...limitWords(project.limits.events_per_minute, 'events a minute'),
    ...limitWords(project.limits.new_records_per_hour, 'new records an hour'),
  ];
  if (limits.length > 0) marks.push({ text: 'own limits', title: `It may send ${limits.join(' and ')}`, tone: 'plain' });
  const drops = project.noise.filter((rule) => rule.action === 'drop').length;
  if (drops > 0) marks.push({ text: 'drops noise', title: `${drops === 1 ? '1 noise rule drops' : `${drops} noise rules drop`} events of it`, tone: 'plain' });
  return marks;
}

function limitWords(limit: number | null, what: string): string[] {
  if (limit === null) return [];
  return [limit === 0 ? `any number of ${what}` : `${fullCount(limit)} ${what}`];
}

/** The project of a reference in an address: its slug or its number. */
export function projectOf(projects: readonly Project[], reference: string): Project | undefined {
  const plain = reference.trim().toLowerCase();
  return projects.find((p) => p.slug === plain || String(p.id) === plain);
}

/** The name of the project of a row. */
export function projectName(projects: readonly Project[], of: { project: string; project_id: number }): string {
  return projects.find((p) => p.id === of.project_id)?.name ?? (of.project || 'unknown');
}

/** How an address names the project of a row. */
export function projectParam(of: { project: string; project_id: number }): string {
  return of.project || String(of.project_id);
}

/** The rules with one changed. */
export function withRule(rules: readonly NoiseRule[], at: number, change: Partial<NoiseRule>): NoiseRule[] {
  return rules.map((rule, i) => (i === at ? { ...rule, ...change } : rule));
}
