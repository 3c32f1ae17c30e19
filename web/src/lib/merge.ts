// A form that is edited while somebody else changes the same setting.
import { at, diff, put, same } from './diff';

/** A field that both have changed, to different values. */
export interface Conflict {
  path: string;
  mine: unknown;
  theirs: unknown;
}

export interface Merged<T> {
  /** Theirs with my changes; mine where both have changed a field. */
  value: T;
  conflicts: Conflict[];
  /** Fields that only the others have changed. */
  taken: string[];
}

/** Applies my changes of base to the current value. */
export function merge<T>(base: T, mine: T, theirs: T): Merged<T> {
  const myPaths = new Set(diff(base, mine).map((c) => c.path));
  const theirPaths = diff(base, theirs).map((c) => c.path);
  let value = theirs;
  const conflicts: Conflict[] = [];
  for (const path of myPaths) {
    const wanted = at(mine, path);
    value = put(value, path, wanted);
    if (theirPaths.includes(path) && !same(wanted, at(theirs, path))) conflicts.push({ path, mine: wanted, theirs: at(theirs, path) });
  }
  return { value, conflicts, taken: theirPaths.filter((p) => !myPaths.has(p)) };
}
