// The lines of code around a frame, coloured, and the variables there.
import type { Frame } from '../../api/types';
import { highlight, marked } from '../../lib/highlight';
import { context, dedented, variables } from '../../lib/stack';
import { Safe } from '../../ui/text';
import { Long } from '../../ui/tree';

export function Code({ frame }: { frame: Frame }) {
  const { lines, cut } = dedented(context(frame));
  if (lines.length === 0) return null;
  const coloured = highlight(lines.map((l) => l.text), frame.file ?? '');
  return (
    <div class="code" role="group" aria-label="Source lines">
      {lines.map((l, i) => (
        <div key={l.number} class={l.at ? 'at' : undefined}>
          <span class="number">{l.at ? <span aria-label="Here: ">▸</span> : null}{l.number > 0 ? l.number : ''}</span>
          <code>
            {marked(coloured[i]!, l.at && frame.column ? frame.column - cut : undefined).map((t, k) => (
              t.here ? <mark key={k} title={`Column ${frame.column}`}><Safe text={t.text} /></mark> : t.kind === 'plain' ? <Safe key={k} text={t.text} /> : <Safe key={k} class={`is-${t.kind}`} text={t.text} />
            ))}
          </code>
        </div>
      ))}
    </div>
  );
}

export function Variables({ frame }: { frame: Frame }) {
  const list = variables(frame);
  if (list.length === 0) return null;
  return (
    <dl class="variables" aria-label="Variables">
      {list.map(([name, value]) => <div key={name}><dt><Safe text={name} /></dt><dd><Long text={value} limit={256} /></dd></div>)}
    </dl>
  );
}
