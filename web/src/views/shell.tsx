// The frame of every view: where one can go, who one is, how it looks.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { root } from '../api/client';
import { view, type View } from '../router';
import { byProxy, signOut, who } from '../session';
import { theme, type Theme } from '../theme';
import { PageLink } from '../ui/button';
import { Safe, Time } from '../ui/text';
import { Mark } from './signin';

const places: readonly { view: View; label: string }[] = [
  { view: 'errors', label: 'Errors' },
  { view: 'overview', label: 'Overview' },
  { view: 'settings', label: 'Settings' },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const shown = view.value;
  useEffect(() => { document.title = `${places.find((p) => p.view === shown)!.label} · Errata`; }, [shown]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      <header class="topbar">
        <PageLink to={{}} class="brand"><Mark /> <span class="brand-name">Errata</span></PageLink>
        <nav aria-label="Views">
          {places.map((p) => (
            <PageLink key={p.view} to={{ view: p.view === 'errors' ? undefined : p.view }} current={p.view === shown}>{p.label}</PageLink>
          ))}
        </nav>
        <div class="topbar-end">
          {who.value?.development ? <span class="badge tone-warn" title="Development mode is on">dev</span> : null}
          <Menu />
        </div>
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
    </div>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

const themes: readonly { value: Theme; label: string }[] = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

/** Who is signed in, and what belongs to that. */
function Menu() {
  const box = useRef<HTMLDetailsElement>(null);
  const me = who.value;
  useEffect(() => {
    const close = (event: Event) => {
      const menu = box.current;
      if (!menu?.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        menu.querySelector('summary')?.focus();
      } else if (menu.contains(event.target as Node)) return;
      menu.open = false;
    };
    addEventListener('pointerdown', close);
    addEventListener('keydown', close, true);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('keydown', close, true);
    };
  }, []);
  if (!me) return null;
  return (
    <details class="menu" ref={box}>
      <summary class="btn quiet"><Safe class="me" text={me.name || me.id} /></summary>
      <div class="menu-body">
        <dl class="facts">
          <dt>Key</dt><dd><Safe text={me.name} /> <code class="mono dim">{me.id}</code></dd>
          <dt>Scopes</dt><dd class="scopes">{me.scopes.map((s) => <code key={s} class="mono">{s}</code>)}</dd>
          <dt>Expires</dt><dd><Time iso={me.expires_at} /></dd>
          <dt>Address</dt><dd><code class="mono">{me.address}</code></dd>
          <dt>Version</dt><dd>{me.version}</dd>
        </dl>
        <fieldset class="segments">
          <legend>Theme</legend>
          {themes.map((t) => (
            <label key={t.value}>
              <input type="radio" name="theme" value={t.value} checked={theme.value === t.value} onChange={() => { theme.value = t.value; }} />
              <span>{t.label}</span>
            </label>
          ))}
        </fieldset>
        <div class="menu-end">
          <a href={`${root}api/v1/docs`} target="_blank" rel="noopener">API</a>
          {byProxy.value
            ? <span class="dim">Signed in by the reverse proxy</span>
            : <button type="button" class="btn" onClick={signOut}>Sign out</button>}
        </div>
      </div>
    </details>
  );
}
