// The bell of a record: who is told when it comes back.
import { useState } from 'preact/hooks';
import { alertScopes, deleteRule, listChannels, listRules, writeRule, type Channel, type Rule } from '../../api/alerts';
import { newOnce } from '../../api/client';
import type { RecordRef } from '../../api/errors';
import { following, follows } from '../../lib/alerts';
import { can } from '../../session';
import { PageLink } from '../../ui/button';
import { Check } from '../../ui/field';
import { useLoad } from '../../ui/load';
import { Menu } from '../../ui/menu';
import { Failure, Loading } from '../../ui/state';
import { toast } from '../../ui/toast';
import { ChannelName } from './channelname';

/** Nothing where the key may not see rules, or may not change them. */
export function Follow({ of }: { of: RecordRef }) {
  const [opened, setOpened] = useState(false);
  if (!can(alertScopes.read) || !can(alertScopes.manage)) return null;
  return (
    <Menu label={<><Bell /><span class="offscreen">Tell me when it comes back</span></>} align="end" class="follow" onOpen={() => setOpened(true)}>
      <b>Tell when it comes back</b>
      {opened ? <Channels of={of} /> : null}
    </Menu>
  );
}

function Bell() {
  return <svg class="bell" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 2a3.5 3.5 0 0 0-3.5 3.5c0 4-1.5 5-1.5 6h10c0-1-1.5-2-1.5-6A3.5 3.5 0 0 0 8 2zM6.5 13a1.5 1.5 0 0 0 3 0" /></svg>;
}

function Channels({ of }: { of: RecordRef }) {
  const load = useLoad(async (signal) => {
    const [rules, channels] = await Promise.all([listRules(signal), listChannels(signal)]);
    return { rules, channels };
  });
  // Shown at once, before it is written.
  const [wanted, setWanted] = useState<Record<string, boolean>>({});
  if (!load.data) return load.error ? <Failure error={load.error} retry={load.reload} /> : <Loading />;
  const { rules, channels } = load.data;
  const turn = async (channel: Channel, on: boolean) => {
    setWanted({ ...wanted, [channel.id]: on });
    try {
      await follow(await listRules(), channel, of.signature, on);
      toast.good(on ? `“${channel.name}” is told when this problem comes back after it was resolved or deleted.` : `“${channel.name}” is not told of this problem any more.`);
    } catch (error) {
      setWanted(({ [channel.id]: _, ...others }) => others);
      toast.failed(error);
    }
  };
  if (channels.length === 0) return <p>There is no channel yet. <PageLink to={{ view: 'settings', tab: 'alerts', channel: 'new' }}>Make one</PageLink>, then choose it here.</p>;
  return (
    <>
      <div class="stack">
        {channels.map((c) => (
          <Check
            key={c.id} label={<ChannelName of={c} />}
            checked={wanted[c.id] ?? rules.some((r) => follows(r, c.id) && r.enabled && r.signatures.includes(of.signature))} onChange={(on) => void turn(c, on)}
          />
        ))}
      </div>
      <p class="dim small">A message goes out when it is seen again after it was resolved or deleted. <PageLink to={{ view: 'settings', tab: 'alerts' }}>All alerts</PageLink></p>
    </>
  );
}

/** Changes the one rule of the problems that are followed over the channel. */
async function follow(rules: readonly Rule[], channel: Channel, signature: string, on: boolean): Promise<void> {
  const rule = rules.find((r) => follows(r, channel.id) && r.enabled);
  const next = following(rule, channel, signature, on);
  if (next) await writeRule(rule?.id ?? '', next, newOnce());
  else if (rule) await deleteRule(rule.id);
}
