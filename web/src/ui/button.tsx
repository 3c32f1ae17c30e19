import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hrefTo, follow, type Params } from '../router';
import { toast } from './toast';

type Props = Omit<JSX.IntrinsicElements['button'], 'type' | 'kind'> & {
  kind?: 'plain' | 'main' | 'danger' | 'quiet';
  /** Work is in progress: the button is disabled. */
  busy?: boolean;
  type?: 'button' | 'submit';
  /** It opens a dialog. */
  'data-focus'?: string;
  /** Its place in a list, to give the focus to. */
  'data-remove'?: number;
  children?: ComponentChildren;
};

export function Button({ kind = 'plain', busy, type = 'button', class: name, children, ...rest }: Props) {
  return (
    <button {...rest} type={type} class={`btn ${kind}${name ? ` ${String(name)}` : ''}`} aria-busy={busy ? 'true' : undefined} disabled={busy || rest.disabled}>
      {children}
    </button>
  );
}

/** A link to another place in the page. */
export function PageLink({ to, children, class: name, current }: { to: Params; children: ComponentChildren; class?: string; current?: boolean }) {
  return <a href={hrefTo(to)} onClick={follow} class={name} aria-current={current ? 'page' : undefined}>{children}</a>;
}

/** Copies text, and reports that it did. */
export function CopyButton({ text, label = 'Copy', class: name }: { text: () => string; label?: string; class?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    if (await toClipboard(text())) setDone(true);
    else toast.bad('The browser did not let this page copy. Select the text and copy it by hand.');
  };
  return <Button kind="quiet" class={name} onClick={() => void copy()}>{done ? 'Copied' : label}</Button>;
}

/** Returns whether it worked. Plain http has no clipboard API, so the old way is tried there. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    const before = document.activeElement;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const worked = document.execCommand('copy');
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return worked;
  }
}
