// Before the first error: how to send one.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { call, newOnce } from '../../api/client';
import type { Key } from '../../api/types';
import { snippets } from '../../lib/snippets';
import { live } from '../../live';
import { can } from '../../session';
import { Button, CopyButton } from '../../ui/button';
import { useLoad } from '../../ui/load';
import { Secret } from '../../ui/secret';
import { Failure, Note } from '../../ui/state';
import { toast } from '../../ui/toast';

/** The key that was created here. Its text is shown once, so it is kept when this view goes. */
const made = signal<Key | null>(null);

export function FirstRun() {
  const may = can('Keys/Manage');
  return (
    <div class="page firstrun">
      <header>
        <h2>No errors yet</h2>
        <p class="dim">
          {live.value === 'off' ? 'Reload this page after an application has sent an error.' : 'This page shows the list when the first error arrives.'}
        </p>
      </header>
      {may ? <WithKeys /> : (
        <Note>
          Applications send errors to a DSN. Yours is in the file <code class="mono">data/keys/dsn</code> of the service. To show it here, your key needs the scope <code class="mono">Keys/Manage</code>.
        </Note>
      )}
    </div>
  );
}

function WithKeys() {
  const keys = useLoad(async (signal) => (await call<Key[]>('GET', '/keys', { signal })).data);
  const [busy, setBusy] = useState(false);
  const known = made.value ?? keys.data?.find((k) => k.kind === 'ing' && k.state === 'active' && k.dsn);
  const create = async () => {
    setBusy(true);
    try {
      made.value = (await call<Key>('POST', '/keys', { body: { name: 'first application', kind: 'ing' }, once: newOnce() })).data;
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  if (keys.error) return <Failure error={keys.error} retry={keys.reload} />;
  if (!keys.data) return null;
  return (
    <>
      {known?.dsn ? <TheDSN keyed={known} /> : <p>Applications send errors with an ingest key. Each ingest key has a DSN for Sentry SDKs.</p>}
      {made.value ? null : (
        <div class="row">
          <Button kind={known ? 'plain' : 'main'} busy={busy} onClick={() => void create()}>Create an ingest key</Button>
          <span class="dim">{known ? 'Create one for each application, so that you can revoke one without the others. The key is shown only once.' : 'The key is shown only once.'}</span>
        </div>
      )}
      {known?.dsn ? <Snippets dsn={known.dsn} ingestKey={known.key ?? ''} /> : null}
    </>
  );
}

function TheDSN({ keyed }: { keyed: Key }) {
  return (
    <div class="stack">
      <Secret label={keyed.key ? 'DSN' : `DSN of “${keyed.name}”`} text={keyed.dsn!} />
      {keyed.key ? (
        <>
          <Secret label="Ingest key" text={keyed.key} />
          <Note tone="warn">Copy the key now: its text is not shown again. The DSN can be read later under Settings, Keys.</Note>
        </>
      ) : null}
    </div>
  );
}

function Snippets({ dsn, ingestKey }: { dsn: string; ingestKey: string }) {
  const [at, setAt] = useState(0);
  const list = snippets(dsn, ingestKey);
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

/** The key that was created here, above the list until it is closed. */
export function KeptDSN() {
  const key = made.value;
  if (!key?.dsn || !key.key) return null;
  return (
    <div class="kept">
      <b>The first error has arrived.</b>
      <Secret label="DSN" text={key.dsn} />
      <Secret label="Ingest key" text={key.key} />
      <Button onClick={() => { made.value = null; }}>I have copied the key</Button>
    </div>
  );
}
