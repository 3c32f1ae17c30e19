import { useState } from 'preact/hooks';
import { snippets, suits } from '../lib/snippets';
import { CopyButton } from './button';

/** Code that sends a first error to a DSN; the one for the platform is shown first. */
export function Snippets({ dsn, ingestKey = '', platform = '' }: { dsn: string; ingestKey?: string; platform?: string }) {
  const list = snippets(dsn, ingestKey);
  const [at, setAt] = useState(() => suits(list, platform));
  const shown = list[at]!;
  const move = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = (at + by + list.length) % list.length;
    setAt(next);
    document.getElementById(`snippet-tab-${next}`)?.focus();
  };
  return (
    <section class="snippets" aria-label="Send a first error">
      <div role="tablist" aria-label="Language" onKeyDown={move}>
        {list.map((s, i) => (
          <button key={s.name} type="button" role="tab" id={`snippet-tab-${i}`} aria-selected={i === at} aria-controls="snippet" tabIndex={i === at ? 0 : -1} onClick={() => setAt(i)}>{s.name}</button>
        ))}
      </div>
      <div role="tabpanel" id="snippet" aria-labelledby={`snippet-tab-${at}`} tabIndex={0}>
        <div class="snippet-head"><code class="mono dim">{shown.language}</code><CopyButton text={() => shown.text} /></div>
        <pre>{shown.text}</pre>
      </div>
    </section>
  );
}
