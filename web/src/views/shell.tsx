// The frame of every view: navigation, the account, the theme.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { root } from '../api/client';
import { go, view, type View } from '../router';
import { byProxy, refresh, remembered, signOut, who } from '../session';
import { theme, type Theme } from '../theme';
import { openTitle } from '../title';
import { setShortcuts, shortcuts, useKeys } from '../keyboard';
import { sheet } from '../lib/keys';
import { titleOf } from '../lib/title';
import { Button, PageLink } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Switch } from '../ui/field';
import { Menu } from '../ui/menu';
import { usePoll } from '../ui/poll';
import { Safe, Time } from '../ui/text';
import { Mark } from './signin';

const places: readonly { view: View; label: string }[] = [
  { view: 'errors', label: 'Errors' },
  { view: 'overview', label: 'Overview' },
  { view: 'projects', label: 'Projects' },
  { view: 'settings', label: 'Settings' },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const shown = view.value;
  const title = titleOf(openTitle.value || places.find((p) => p.view === shown)!.label);
  useEffect(() => { document.title = title; }, [title]);
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
          <Help />
          <Me />
        </div>
      </header>
      <Alarms />
      <main id="main" tabIndex={-1}>{children}</main>
    </div>
  );
}

const alarmsEvery = 15_000;

/** What is wrong with the data or the service, above every view. */
function Alarms() {
  const { data } = usePoll((signal) => refresh(signal), alarmsEvery, who.value?.id);
  const alarms = (data ?? who.value)?.alarms ?? [];
  if (alarms.length === 0) return null;
  return (
    <div class="alarms" role="alert">
      {alarms.map((a) => (
        <p key={a.name}><b class="mono">{a.name}</b> <Safe text={a.detail} /> {a.hint ? <Safe class="alarm-hint" text={a.hint} /> : null} <span class="dim">since <Time iso={a.since} /></span></p>
      ))}
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

/** Who is signed in, with the settings of the viewer. */
function Me() {
  const me = who.value;
  if (!me) return null;
  return (
    <Menu kind="quiet" align="end" label={<Safe class="me" text={me.name || me.id} />}>
        <dl class="facts">
          <dt>Key</dt><dd><Safe text={me.name} /> <code class="mono dim">{me.id}</code></dd>
          <dt>Scopes</dt><dd class="scopes">{me.scopes.map((s) => <code key={s} class="mono">{s}</code>)}</dd>
          <dt>Expires</dt><dd><Time iso={me.expires_at} /></dd>
          {byProxy.value ? null : <><dt>Kept</dt><dd>{remembered.value ? 'on this device, until you sign out' : 'in this tab, until you close it'}</dd></>}
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
    </Menu>
  );
}

/** The list of shortcuts, and the shortcuts that work in every view. */
function Help() {
  const [open, setOpen] = useState(false);
  useKeys((action) => {
    switch (action) {
      case 'help':
        setOpen(true);
        return true;
      case 'go-errors':
      case 'go-overview':
      case 'go-projects':
      case 'go-settings': {
        const to = action.slice('go-'.length);
        go(new URLSearchParams(to === 'errors' ? '' : { view: to }));
        return true;
      }
      default:
        return false;
    }
  });
  return (
    <>
      <Button kind="quiet" class="icon help-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => setOpen(true)}>?</Button>
      {open ? (
        <Dialog title="Keyboard" onClose={() => setOpen(false)} wide>
          <div class="sheet">
            {sheet.map((part) => (
              <section key={part.title}>
                <h3>{part.title}</h3>
                <dl>
                  {part.keys.map(([keys, what]) => (
                    <div key={keys}>
                      <dt>{keys.split(' ').filter(Boolean).map((k) => <kbd key={k}>{k}</kbd>)}</dt>
                      <dd>{what}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <Switch label="Use these shortcuts" checked={shortcuts.value} onChange={setShortcuts} />
        </Dialog>
      ) : null}
    </>
  );
}
