// What the address says of the list: its filters, its order, and the open record.
// The names are those of the API. A new filter is one line of the table; the bar
// shows it as a chip until it has a control of its own.
import type { RecordRef } from '../api/errors';

interface About {
  label: string;
  /** The bar shows its value in a control, so that it needs no chip. */
  control?: boolean;
}

const table = {
  project: { label: 'Project', control: true },
  environment: { label: 'Environment', control: true },
  release: { label: 'Release', control: true },
  tag: { label: 'Tag', control: true },
  search: { label: 'Search', control: true },
  types: { label: 'Book', control: true },
  levels: { label: 'Level', control: true },
  status: { label: 'Status', control: true },
  signature: { label: 'Signature' },
  event_id: { label: 'Event' },
  file: { label: 'File' },
  exception_class: { label: 'Class' },
  request_uri: { label: 'Request' },
  message: { label: 'Message' },
  http_method: { label: 'Method' },
  user_id: { label: 'User' },
  ip: { label: 'Address' },
  min_occurrence: { label: 'Seen at least' },
  date_range: { label: 'Last seen' },
  hide_noise: { label: 'Noise hidden', control: true },
} satisfies Record<string, About>;

export type FilterName = keyof typeof table;

const abouts: Record<FilterName, About> = table;

/** The parameters that filter the list. */
export const filterNames = Object.keys(table) as readonly FilterName[];

/** Those that choose what is shown at all: emptying the filters leaves them. */
const kept: readonly FilterName[] = ['project'];

/** The parameters of order and page. */
export const orderNames = ['order', 'direction', 'page', 'limit'] as const;

export type ListName = FilterName | (typeof orderNames)[number];

/** Only the values that are set; blanks are left out. Several tags stand on a line each, because a tag may hold any other character. */
export type Filters = Partial<Record<ListName, string>>;

export function labelOf(name: FilterName): string {
  return abouts[name].label;
}

/** Rows on a page, unless the address has a number. */
export const defaultLimit = 50;

/** The numbers of rows to choose from; an address may name another one. */
export function pageSizes(now: number): number[] {
  const sizes = [25, defaultLimit, 100];
  return sizes.includes(now) ? sizes : [...sizes, now].sort((a, b) => a - b);
}

/** The filters in an address. */
export function fromQuery(query: URLSearchParams): Filters {
  const out: Filters = {};
  for (const name of [...filterNames, ...orderNames]) {
    const value = name === 'tag' ? tagsOf(query.getAll(name).join('\n')).join('\n') : query.get(name)?.trim();
    if (value) out[name] = value;
  }
  return out;
}

/** The same filters for the API. */
export function toRequest(filters: Filters): URLSearchParams {
  const out = new URLSearchParams();
  for (const name of [...filterNames, ...orderNames]) {
    const value = filters[name];
    if (name === 'tag') tagsOf(value).forEach((tag) => out.append(name, tag));
    else if (value) out.set(name, value);
  }
  if (!filters.limit) out.set('limit', String(defaultLimit));
  return out;
}

/** The filters that are set, in the order of filterNames. */
export function active(filters: Filters): FilterName[] {
  return filterNames.filter((name) => filters[name]);
}

/** Those of them that the viewer has set in the bar. */
export function narrowing(filters: Filters): FilterName[] {
  return active(filters).filter((name) => !kept.includes(name));
}

/** The changes that empty them. */
export function emptied(filters: Filters): Partial<Record<ListName, string>> {
  return Object.fromEntries([...narrowing(filters), 'page'].map((name) => [name, '']));
}

/** Those of them that the bar shows as chips. */
export function chips(filters: Filters): FilterName[] {
  return active(filters).filter((name) => !abouts[name].control);
}

/** The parameters that open a record, at the occurrence at a position, or else at the latest. */
export function recordParams(of: RecordRef, at: string | number = ''): Record<'record' | 'book' | 'occurrence', string> {
  return { record: of.signature, book: of.type === 'database' ? 'database' : '', occurrence: String(at) };
}

/** The parameters that close it. */
export const noRecord = { record: '', book: '', occurrence: '', ask: '' } as const;

/** The open record of an address. */
export function recordOf(query: URLSearchParams): RecordRef | null {
  const signature = query.get('record') ?? '';
  if (!/^[0-9a-f]{32}$/i.test(signature)) return null;
  return { signature: signature.toLowerCase(), type: query.get('book') === 'database' ? 'database' : 'system' };
}

/** A list with commas with one member added or removed; members keep the order of all. */
export function toggled(list: string | undefined, member: string, all: readonly string[]): string {
  const set = new Set(members(list));
  if (!set.delete(member)) set.add(member);
  // All members mean the same as none, which is shorter.
  if (all.every((m) => set.has(m))) return '';
  return [...all.filter((m) => set.has(m)), ...[...set].filter((m) => !all.includes(m))].join(',');
}

export function members(list: string | undefined): string[] {
  return (list ?? '').split(',').map((m) => m.trim().toLowerCase()).filter(Boolean);
}

/** How a filter writes occurrences that named no environment or release. */
export const unnamed = '(unknown)';

/** A name of an environment or release as a filter takes it: a comma would begin another one. */
export function asName(name: string): string {
  return name === '' ? unnamed : name.replaceAll(',', '*');
}

/** The names of a list with commas, in their case. */
export function namesOf(list: string | undefined): string[] {
  return [...new Set((list ?? '').split(',').map((n) => n.trim()).filter(Boolean))];
}

/** The list with one name added or removed. */
export function withName(list: string | undefined, name: string): string {
  const names = namesOf(list);
  return (names.includes(name) ? names.filter((n) => n !== name) : [...names, name]).join(',');
}

/** The tags of the filter, each as key:value; blanks and lines without a key are left out. */
export function tagsOf(lines: string | undefined): string[] {
  return [...new Set((lines ?? '').split('\n').map((t) => t.trim()).filter((t) => t.indexOf(':') > 0))];
}

/** The lines with one tag added or removed. */
export function withTag(lines: string | undefined, tag: string): string {
  const tags = tagsOf(lines);
  return (tags.includes(tag) ? tags.filter((t) => t !== tag) : [...tags, tag]).join('\n');
}

/** The tag that a text of the search asks for, as tag:key:value; '' for any other text. */
export function searchedTag(text: string): string {
  const found = /^\s*tag:([^:\s]+:.*\S)\s*$/.exec(text);
  return found?.[1] ?? '';
}

/** The filters as the body of a command over all that match. Without any, it says on purpose that all are meant. */
export function toCommand(filters: Filters): Record<string, string | string[]> {
  const names = active(filters);
  return names.length === 0 ? { types: 'system,database' } : Object.fromEntries(names.map((name) => [name, name === 'tag' ? tagsOf(filters.tag) : filters[name]!]));
}

/** The choice of environments, releases and tags in words; '' for none. */
export function scopeWords(filters: Filters): string {
  const of = (word: string, list: string | undefined) => {
    const names = namesOf(list);
    return names.length === 0 ? [] : [`${word}${names.length > 1 ? 's' : ''} ${names.join(' or ')}`];
  };
  const tags = tagsOf(filters.tag);
  const tagged = tags.length === 0 ? [] : [`occurrences with ${tags.join(' and ')}`];
  return [...of('environment', filters.environment), ...of('release', filters.release), ...tagged].join(' and ');
}

/** A saved view: a name and its query, without page and record. */
export interface SavedView {
  name: string;
  query: string;
}

/** The part of an address that belongs into a saved view. */
export function viewQuery(query: URLSearchParams): string {
  const filters = fromQuery(query);
  delete filters.page;
  const out = new URLSearchParams();
  for (const name of [...filterNames, ...orderNames]) {
    const value = filters[name];
    if (value) out.set(name, value);
  }
  return out.toString();
}

/** Reads stored views; an empty list when the text is not one. */
export function parseViews(text: string | null): SavedView[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(list)) return [];
    return list.filter((v): v is SavedView => typeof v?.name === 'string' && typeof v?.query === 'string');
  } catch {
    return [];
  }
}

/** The list with the view added; it replaces one of the same name. */
export function withView(list: readonly SavedView[], view: SavedView): SavedView[] {
  const at = list.findIndex((v) => v.name === view.name);
  return at < 0 ? [...list, view] : list.map((v, i) => (i === at ? view : v));
}

/** The label of a filter's value. */
export function describe(name: FilterName, value: string): string {
  if (name === 'hide_noise') return labelOf(name);
  if (name === 'date_range') return `${labelOf(name)}: ${value.replace('..', ' to ')}`;
  if (name === 'tag') return `${labelOf(name)}: ${tagsOf(value).join(' and ')}`;
  if (name === 'min_occurrence') return `${labelOf(name)} ${value}×`;
  return `${labelOf(name)}: ${value}`;
}

/** The value of a datetime-local field, in the viewer's zone, as a time of the API; '' for none. */
export function instantOf(local: string): string {
  const time = new Date(local);
  return local && !Number.isNaN(time.getTime()) ? time.toISOString().replace(/\.\d+Z$/, 'Z') : '';
}

/** The reverse, for filling the field. */
export function localOf(instant: string): string {
  const time = new Date(instant);
  if (!instant || Number.isNaN(time.getTime())) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}`;
}
