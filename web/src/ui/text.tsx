// Texts of strangers, times, counts, links.
import type { ComponentChildren } from 'preact';
import { now } from '../clock';
import { ago, exact, relative } from '../lib/time';
import { fullCount, pieces, safeLink, shortCount, visible } from '../lib/text';

/** Text that somebody else wrote: isolated from its surroundings, with invisible characters made visible. */
export function Safe({ text, class: name }: { text: string; class?: string }) {
  const parts = pieces(text);
  return (
    <bdi class={name}>
      {parts.map((p, i) => (p.name ? <span key={i} class="ctl" title={p.name}>{p.text}</span> : p.text))}
    </bdi>
  );
}

/** A time, relative, with the exact time on hover. null is "never". With sentence it reads "5m ago". */
export function Time({ iso, never = 'never', sentence }: { iso: string | null | undefined; never?: string; sentence?: boolean }) {
  if (!iso) return <span class="dim">{never}</span>;
  return <time dateTime={iso} title={exact(iso)}>{(sentence ? ago : relative)(iso, now.value)}</time>;
}

/** A number, shortened, with all digits on hover. */
export function Count({ n }: { n: number }) {
  const short = shortCount(n);
  const full = fullCount(n);
  return short === full ? <span class="num">{full}</span> : <span class="num" title={full}>{short}</span>;
}

/** A link out of the page when the URL is http or https; otherwise the text alone. */
export function Outside({ url }: { url: string }) {
  const href = safeLink(url);
  if (!href) return <Safe text={url} />;
  return <a href={href} rel="noopener noreferrer nofollow" target="_blank"><Safe text={visible(url)} /></a>;
}

export function Mono({ children }: { children: ComponentChildren }) {
  return <code class="mono">{children}</code>;
}
