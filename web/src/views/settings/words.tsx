import { Fragment } from 'preact';

// More line numbers than that do not help.
const most = 8;

/** The lines that the service would refuse, as a sentence; null for none. */
export function badWords(lines: readonly number[]) {
  if (lines.length === 0) return null;
  const shown = lines.slice(0, most).join(', ');
  const rest = lines.length > most ? ` and ${lines.length - most} more` : '';
  return (
    <Fragment>
      {' '}<span class="bad">{lines.length === 1 ? `Line ${shown} is` : `Lines ${shown}${rest} are`} neither an address nor a prefix.</span>
    </Fragment>
  );
}
