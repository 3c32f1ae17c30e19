// The phrase that must be typed before an action that cannot be undone.
import { plural } from './text';

/** "delete 1,204 records": typing the number makes a person look at it. */
export function phrase(count: number): string {
  return `delete ${plural(count, 'record')}`;
}

/** Whether the typed text is the phrase. Blanks, commas and capitals do not matter. */
export function agrees(typed: string, wanted: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[,.' \u00a0\u202f]/g, '');
  return plain(wanted) !== '' && plain(typed) === plain(wanted);
}
