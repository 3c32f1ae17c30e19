import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { read, revokeKey } from '../../api/settings';
import type { Key } from '../../api/types';
import { kinds, meaning } from '../../lib/scopelist';
import { plural } from '../../lib/text';
import { nameOfProject, refreshProjects } from '../../projects';
import { can, who } from '../../session';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { Check } from '../../ui/field';
import { useLoad } from '../../ui/load';
import { Secret } from '../../ui/secret';
import { Denied, Empty, Failure, Loading, Note } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';
import { NewKeyDialog } from './newkey';

/** The key that was made last. Its text is shown once, so it outlives the tab. */
const made = signal<Key | null>(null);

// It is for whoever made it.
who.subscribe((now) => { if (!now) made.value = null; });

const scope = 'Keys/Manage';

export function KeysTab() {
  return can(scope) ? <Keys /> : <><h2>Keys</h2><Denied scope={scope} /></>;
}

function Keys() {
  const load = useLoad((signal) => read<Key[]>('/keys', signal));
  const [making, setMaking] = useState(false);
  const [dead, setDead] = useState(false);
  const keys = load.data ?? [];
  const shown = keys.filter((k) => dead || k.state === 'active' || k.id === made.value?.id);
  const hidden = keys.length - keys.filter((k) => k.state === 'active').length;
  const revoke = async (key: Key) => {
    const own = key.id === who.value?.id;
    const sure = await confirm({
      title: `Revoke “${key.name}”?`,
      text: (
        <div class="stack">
          <p>It stops working on every node within a second. A revoked key never works again.</p>
          {own ? <Note tone="warn">This is the key that you are signed in with: revoking it signs you out.</Note> : null}
          {key.last_used_at ? <p class="dim">Last used <Time iso={key.last_used_at} sentence />.</p> : <p class="dim">It was never used.</p>}
        </div>
      ),
      yes: 'Revoke', danger: true,
    });
    if (!sure) return;
    try {
      await revokeKey(key.id);
      if (made.value?.id === key.id) made.value = null;
      toast.good(`“${key.name}” is revoked.`);
    } catch (error) {
      toast.failed(error);
    }
    load.reload();
  };
  return (
    <>
      <header class="tab-head">
        <div>
          <h2>Keys</h2>
          <p class="dim">Every caller of the API needs a key. Give each application and each person a separate key, so that you can revoke one without the others.</p>
        </div>
        <Button kind="main" onClick={() => setMaking(true)}>Create a key…</Button>
      </header>
      {made.value ? <Made of={made.value} /> : null}
      {load.error && !load.data ? <Failure error={load.error} retry={load.reload} /> : null}
      {load.data ? (
        <>
          <Table label="Keys" columns={columns(revoke)} rows={shown} id={(k) => k.id} empty={<Empty title="There is no valid key">{null}</Empty>} />
          {hidden > 0 ? <div class="row"><Check label={`Show ${plural(hidden, 'key')} that no longer ${hidden === 1 ? 'works' : 'work'}`} checked={dead} onChange={setDead} /></div> : null}
        </>
      ) : load.error ? null : <Loading />}
      {making ? (
        <NewKeyDialog
          onClose={() => setMaking(false)}
          onMade={(key) => {
            made.value = key;
            // It may have begun a project.
            refreshProjects();
            setMaking(false);
            load.reload();
          }}
        />
      ) : null}
    </>
  );
}

function Made({ of }: { of: Key }) {
  return (
    <section class="made" aria-label="The new key">
      <Note tone="good">
        <b>“<Safe text={of.name} />” is created.</b> Copy it now: its text is shown only here and only once.
      </Note>
      <Secret label="Key" text={of.key ?? ''} />
      {of.dsn ? <Secret label="DSN" text={of.dsn} /> : null}
      <div class="row">
        <Button onClick={() => { made.value = null; }}>I have copied it</Button>
        {of.dsn ? <span class="dim">A Sentry SDK needs the DSN. You can read the DSN here later.</span> : null}
      </div>
    </section>
  );
}

function columns(revoke: (key: Key) => Promise<void>): Column<Key>[] {
  return [
    { name: 'name', head: 'Name', cell: (k) => <><Safe text={k.name} /> {k.id === who.value?.id ? <Badge tone="good">you</Badge> : null}<br /><code class="mono dim small">{k.id}</code></> },
    { name: 'kind', head: 'Kind', cell: (k) => <>{kinds.find((x) => x.value === k.kind)?.label ?? k.kind}{k.project ? <span class="dim"> · <Safe text={nameOfProject(k.project)} /></span> : null}{k.projects?.length ? <span class="dim"> · only <Safe text={k.projects.map(nameOfProject).join(', ')} /></span> : null}</> },
    { name: 'scopes', head: 'Scopes', cell: (k) => <Scopes list={k.scopes} /> },
    { name: 'used', head: 'Used', cell: (k) => <Time iso={k.last_used_at} /> },
    { name: 'made', head: 'Created', cell: (k) => <Time iso={k.created_at} /> },
    { name: 'expires', head: 'Expires', cell: (k) => (k.state === 'active' ? (k.ends_soon ? <><Badge tone="warn">soon</Badge> <Time iso={k.expires_at} /></> : <Time iso={k.expires_at} />) : <Badge tone="bad">{k.state}</Badge>) },
    { name: 'dsn', head: <span class="offscreen">Actions</span>, right: true, cell: (k) => <Actions of={k} revoke={revoke} /> },
  ];
}

function Actions({ of, revoke }: { of: Key; revoke: (key: Key) => Promise<void> }) {
  const [shown, setShown] = useState(false);
  if (of.state !== 'active') return null;
  return (
    <span class="key-actions">
      {of.dsn ? <Button kind="quiet" aria-expanded={shown} onClick={() => setShown(!shown)}>DSN</Button> : null}
      <Button kind="quiet" class="bad" aria-label={`Revoke ${of.name}`} onClick={() => void revoke(of)}>Revoke…</Button>
      {shown ? <Secret label="DSN" text={of.dsn ?? ''} /> : null}
    </span>
  );
}

// A list of more is read in the tooltip of its count.
const fewScopes = 3;

function Scopes({ list }: { list: readonly string[] }) {
  const [all, setAll] = useState(false);
  if (list.includes('*')) return <b>everything</b>;
  const shown = all ? list : list.slice(0, fewScopes);
  return (
    <span class="scopes small">
      {shown.map((s) => <code key={s} class="mono" title={meaning(s)}>{s}</code>)}
      {list.length > shown.length ? <button type="button" class="btn quiet small" onClick={() => setAll(true)}>{list.length - shown.length} more</button> : null}
    </span>
  );
}
