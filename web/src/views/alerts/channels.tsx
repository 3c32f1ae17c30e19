// The list of channels, with the test of each.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { alertScopes, deleteChannel, testChannel, type Channel, type Rule, type Try } from '../../api/alerts';
import { kindWords } from '../../lib/alerts';
import { change } from '../../router';
import { lacking, who } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { Secret } from '../../ui/secret';
import { Empty, Note, Panel } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';

/** The webhook that was made last. Its secret is shown once, so it outlives the tab. */
export const madeChannel = signal<Channel | null>(null);

// It is for whoever made it.
who.subscribe((now) => { if (!now) madeChannel.value = null; });

export function MadeChannel() {
  const of = madeChannel.value;
  if (!of?.secret) return null;
  return (
    <section class="made" aria-label="The new webhook">
      <Note tone="good"><b>The secret of “<Safe text={of.name} />” is shown only here and only once.</b> The receiver needs it to check that a message came from this service.</Note>
      <Secret label="Secret" text={of.secret} />
      <div class="row"><Button onClick={() => { madeChannel.value = null; }}>I have copied it</Button></div>
    </section>
  );
}

interface ChannelsProps {
  rules: readonly Rule[];
  channels: readonly Channel[];
  reload: () => void;
}

export function Channels({ rules, channels, reload }: ChannelsProps) {
  const may = lacking(alertScopes.manage);
  const [tries, setTries] = useState<Record<string, Try | 'busy'>>({});
  const test = async (id: string) => {
    setTries((t) => ({ ...t, [id]: 'busy' }));
    try {
      const answer = await testChannel(id);
      setTries((t) => ({ ...t, [id]: answer }));
    } catch (error) {
      setTries(({ [id]: _, ...others }) => others);
      toast.failed(error);
    }
  };
  const remove = async (channel: Channel) => {
    const sure = await confirm({ title: `Remove the channel “${channel.name}”?`, text: <p>Messages that wait for it are not sent any more.</p>, yes: 'Remove', danger: true });
    if (!sure) return;
    try {
      await deleteChannel(channel.id);
      toast.good(`“${channel.name}” is removed.`);
    } catch (error) {
      toast.failed(error);
    }
    reload();
  };
  return (
    <Panel title="Channels" class="flush" aside={<Button kind={channels.length === 0 ? 'main' : 'plain'} disabled={!!may} title={may || undefined} onClick={() => change({ channel: 'new' })}>New channel…</Button>}>
      <Table
        label="Channels" rows={channels} id={(c) => c.id} columns={columns(rules, may, tries, test, remove)}
        empty={<Empty title="There is no channel"><p>A channel is a webhook, a mail address or a chat.</p></Empty>}
      />
    </Panel>
  );
}

function columns(rules: readonly Rule[], may: string, tries: Record<string, Try | 'busy'>, test: (id: string) => Promise<void>, remove: (channel: Channel) => Promise<void>): Column<Channel>[] {
  const uses = (c: Channel) => rules.filter((r) => r.to.includes(c.id)).map((r) => r.name);
  return [
    { name: 'name', head: 'Name', cell: (c) => <PageLink to={{ view: 'settings', tab: 'alerts', channel: c.id }}><Safe text={c.name} /></PageLink> },
    { name: 'kind', head: 'Kind', cell: (c) => kindWords[c.kind] ?? c.kind },
    { name: 'where', head: 'Where', cell: (c) => <><Safe class="mono" text={c.addresses?.join(', ') || [c.url, c.chat].filter(Boolean).join(' ')} />{c.enabled ? null : <span class="dim"> · off</span>}<Outcome of={tries[c.id]} /></> },
    {
      name: 'do', head: <span class="offscreen">Actions</span>, right: true, cell: (c) => {
        const users = uses(c);
        const used = users.length > 0 ? `It is used by ${users.join(', ')}.` : '';
        return (
          <span class="row end">
            <Button kind="quiet" busy={tries[c.id] === 'busy'} disabled={!!may} title={may || 'Sends a message that says that it is a test'} aria-label={`Test ${c.name}`} onClick={() => void test(c.id)}>Test</Button>
            <Button kind="quiet" class="bad" disabled={!!may || !!used} title={may || used || undefined} aria-label={`Remove ${c.name}`} onClick={() => void remove(c)}>Remove…</Button>
          </span>
        );
      },
    },
  ];
}

/** What the receiver made of a message. */
export function Outcome({ of }: { of: Try | 'busy' | undefined }) {
  if (!of) return null;
  if (of === 'busy') return <div class="outcome dim" role="status">Sending…</div>;
  const status = of.status ? `${of.status} ` : '';
  return (
    <div class={`outcome ${of.ok ? 'good' : 'bad'}`} role="status">
      {of.ok ? 'The receiver has taken it' : <Safe text={of.error || 'It was not sent'} />}{of.answer || status ? <>: <code class="mono">{status}<Safe text={of.answer} /></code></> : null} <span class="dim"><Time iso={of.at} sentence /></span>
    </div>
  );
}
