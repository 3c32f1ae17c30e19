// The title of the page, as it stands in tabs, bookmarks and the history.
import { visible } from './text';

const product = 'Errata';

/** A tab shows far less; a history and a bookmark show about this much. */
const longest = 100;

export function titleOf(what: string): string {
  return `${shorter(visible(what).replace(/\s+/g, ' ').trim())} · ${product}`;
}

/** The title of a record: its class, and the beginning of its message. */
export function recordTitle(of: { exception_class: string; message_preview: string }): string {
  return [of.exception_class, of.message_preview].filter(Boolean).join(': ') || 'Record';
}

function shorter(text: string): string {
  const letters = [...text];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('').trimEnd()}…` : text;
}
