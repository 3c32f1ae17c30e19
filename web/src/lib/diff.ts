// Differences between two JSON values, leaf by leaf, and between two texts.
import { diffArrays } from 'diff/lib/diff/array.js';

export interface Change {
  /** Such as admin.status; '' for the whole. */
  path: string;
  /** undefined: it was not there. */
  before: unknown;
  after: unknown;
}

/** The leaves that differ, in the order of the keys. Arrays are leaves, because their order matters. */
export function diff(before: unknown, after: unknown): Change[] {
  const out: Change[] = [];
  walk('', before ?? undefined, after ?? undefined, out);
  return out;
}

function walk(path: string, before: unknown, after: unknown, out: Change[]): void {
  if (same(before, after)) return;
  const a = fieldsOf(before);
  const b = fieldsOf(after);
  if ((a ?? b) === null || (before !== undefined && !a) || (after !== undefined && !b)) {
    out.push({ path, before, after });
    return;
  }
  for (const name of new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])) {
    walk(path === '' ? name : `${path}.${name}`, a?.[name], b?.[name], out);
  }
}

function fieldsOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The value at a path; undefined when there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((v, name) => fieldsOf(v)?.[name], value);
}

/** The value with another value at a path, as a copy. */
export function put<T>(value: T, path: string, leaf: unknown): T {
  const [name, ...rest] = path.split('.') as [string, ...string[]];
  const fields = fieldsOf(value) ?? {};
  return { ...fields, [name]: rest.length === 0 ? leaf : put(fields[name], rest.join('.'), leaf) } as T;
}

/** Only the leaves that differ: the changes to send. */
export function patch(before: unknown, after: unknown): Record<string, unknown> {
  return diff(before, after).reduce<Record<string, unknown>>((sum, c) => put(sum, c.path, c.after), {});
}

/** A line of a text, in both versions or in one. */
export interface TextLine {
  sign: ' ' | '-' | '+';
  text: string;
}

// The comparison takes the square of this in time.
const mostEdits = 3000;

/** Two texts line by line, such as lists of addresses. With too many edits, one text and then the other. */
export function diffLines(before: string, after: string): TextLine[] {
  const [a, b] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [string[], string[]];
  const parts = diffArrays(a, b, { maxEditLength: mostEdits }) ?? [{ value: a, removed: true, added: false }, { value: b, removed: false, added: true }];
  return parts.flatMap(({ value, removed, added }) => value.map((text): TextLine => ({ sign: removed ? '-' : added ? '+' : ' ', text })));
}
