// Replacements for missing content: still loading, nothing there, an error, not
// allowed.
import type { ComponentChildren } from 'preact';
import { ApiError } from '../api/client';
import { who } from '../session';
import { Button } from './button';
import { wordsOf } from './toast';

export function Loading({ what = 'Loading' }: { what?: string }) {
  return <div class="state loading" role="status"><span class="spinner" aria-hidden="true" />{what}…</div>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="state empty"><h2>{title}</h2>{children}</div>;
}

/** An error in the place of the content, with a button to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error instanceof ApiError && error.scope) return <Denied scope={error.scope} />;
  const words = wordsOf(error);
  if (!words) return null;
  return (
    <div class="state failure" role="alert">
      <h2>That did not work</h2>
      <p>{words}</p>
      {retry ? <Button onClick={retry}>Try again</Button> : null}
    </div>
  );
}

/** Says what the key may not do. */
export function Denied({ scope, what }: { scope: string; what?: string }) {
  return (
    <div class="state denied" role="note">
      <h2>{what ?? 'Your key may not see this'}</h2>
      <p>
        This needs the scope <code class="mono">{scope}</code>. You are signed in as <b>{who.value?.name ?? 'somebody'}</b>. Ask the person who manages the keys for a key with this scope.
      </p>
    </div>
  );
}

/** A note inside a page. */
export function Note({ tone = 'plain', children }: { tone?: 'plain' | 'warn' | 'bad' | 'good'; children: ComponentChildren }) {
  return <div class={`note ${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'note'}>{children}</div>;
}

/** A titled box. */
export function Panel({ title, aside, children, class: name }: { title: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`panel${name ? ` ${name}` : ''}`}>
      <header class="panel-head"><h2>{title}</h2>{aside ? <div class="panel-aside">{aside}</div> : null}</header>
      <div class="panel-body">{children}</div>
    </section>
  );
}
