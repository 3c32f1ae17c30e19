// The card of an empty ledger: somebody is told of the first error.
import { useRef, useState } from 'preact/hooks';
import { alertScopes, listChannels, testChannel, writeChannel, writeRule, type ChannelKind, type Try } from '../../api/alerts';
import { newOnce } from '../../api/client';
import { channelBody, hasSecret, kindChoices, newChannel, followed, urlHints, kindWords } from '../../lib/alerts';
import { can } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { Select, TextField } from '../../ui/field';
import { useLoad } from '../../ui/load';
import { Panel } from '../../ui/state';
import { wordsOf } from '../../ui/toast';
import { madeChannel, MadeChannel, Outcome } from './channels';

/** Kinds that need no more than a URL. */
const simple = kindChoices.filter(({ value }) => urlHints[value as ChannelKind] && value !== 'ntfy');

export function FirstChannel() {
  return can(alertScopes.read) && can(alertScopes.manage) ? <Card /> : null;
}

function Card() {
  const load = useLoad(listChannels);
  const [kind, setKind] = useState<ChannelKind>('webhook');
  const [url, setURL] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<Try>();
  const once = useRef({ channel: newOnce(), rule: newOnce() });
  if (!load.data) return null;
  if (load.data.length > 0 && !sent) return <p class="dim">Who is told of errors is in <PageLink to={{ view: 'settings', tab: 'alerts' }}>Settings, Alerts</PageLink>.</p>;
  const submit = async () => {
    setBusy(true);
    setError('');
    try {
      const channel = await writeChannel('', channelBody({ ...newChannel, kind, url }), once.current.channel);
      await writeRule('', { name: 'New problems, and those that come back', when: followed, to: [channel.id] }, once.current.rule);
      if (hasSecret(kind)) madeChannel.value = channel;
      setSent(await testChannel(channel.id));
    } catch (refused) {
      once.current = { channel: newOnce(), rule: newOnce() };
      setError(wordsOf(refused));
    }
    setBusy(false);
  };
  return (
    <Panel title="Be told of new errors">
      {sent ? (
        <div class="stack">
          <p>{kindWords[kind]} hears of each problem that is new or comes back. A test message was sent just now.</p>
          <Outcome of={sent} />
          <MadeChannel />
          <p><PageLink to={{ view: 'settings', tab: 'alerts' }}>Change who is told, and of what</PageLink></p>
        </div>
      ) : (
        <form class="stack" noValidate onSubmit={(e) => { e.preventDefault(); void submit(); }}>
          <div class="first-channel">
            <Select label="Tell me by" name="kind" value={kind} choices={simple} onChange={(next) => setKind(next as ChannelKind)} />
            <TextField label="URL" name="url" value={url} error={error} placeholder="https://" autocomplete="off" hint={urlHints[kind]} onInput={setURL} />
          </div>
          <div class="row"><Button type="submit" kind="main" busy={busy}>Tell me</Button><span class="dim">It sends a test message at once. <PageLink to={{ view: 'settings', tab: 'alerts' }}>By mail, or only of some errors</PageLink></span></div>
        </form>
      )}
    </Panel>
  );
}
