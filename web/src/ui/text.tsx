// Text from strangers, times, counts, links.
import type { ComponentChildren } from 'preact';
import { now } from '../clock';
import { exact, relative } from '../lib/time';
import { fullCount, pieces, safeLink, shortCount, visible } from '../lib/text';

/** Text that somebody else wrote: isolated from its surroundings, with what is invisible made visible. */
export function Safe({ text, class: name }: { text: string; class?: string }) {
  const parts = pieces(text);
  return (
    <bdi class={name}>
      {parts.map((p, i) => (p.name ? <span key={i} class="ctl" title={p.name}>{p.text}</span> : p.text))}
    </bdi>
  );
}

/** A time, relative, exact on hover. null is "never". */
export function Time({ iso, never = 'never' }: { iso: string | null | undefined; never?: string }) {
  if (!iso) return <span class="dim">{never}</span>;
  return <time dateTime={iso} title={exact(iso)}>{relative(iso, now.value)}</time>;
}

/** A number, short, whole on hover. */
export function Count({ n }: { n: number }) {
  const short = shortCount(n);
  const full = fullCount(n);
  return short === full ? <span class="num">{full}</span> : <span class="num" title={full}>{short}</span>;
}

/** A link out of the page when the address is http or https; else the text alone. */
export function Outside({ url }: { url: string }) {
  const href = safeLink(url);
  if (!href) return <Safe text={url} />;
  return <a href={href} rel="noopener noreferrer nofollow" target="_blank"><Safe text={visible(url)} /></a>;
}

export function Mono({ children }: { children: ComponentChildren }) {
  return <code class="mono">{children}</code>;
}
