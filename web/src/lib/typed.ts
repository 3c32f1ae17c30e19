// What has to be typed before something is done that cannot be undone.
import { plural } from './text';

/** "delete 1,204 records": the number makes one look at it. */
export function phrase(count: number): string {
  return `delete ${plural(count, 'record')}`;
}

/** Whether what was typed is the phrase. How blanks, commas and capitals are typed says nothing. */
export function agrees(typed: string, wanted: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[,.' \u00a0\u202f]/g, '');
  return plain(wanted) !== '' && plain(typed) === plain(wanted);
}
