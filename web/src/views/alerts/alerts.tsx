// Who is told of which errors: rules, channels, and what was sent.
import { alertScopes, listChannels, listDeliveries, listRules } from '../../api/alerts';
import { can } from '../../session';
import { change, query } from '../../router';
import { useLoad } from '../../ui/load';
import { usePoll } from '../../ui/poll';
import { Denied, Failure, Loading } from '../../ui/state';
import { ChannelDialog } from './channel';
import { Channels, MadeChannel } from './channels';
import { Deliveries } from './deliveries';
import { RuleDialog } from './rule';
import { Rules } from './rules';

export function AlertsTab() {
  return can(alertScopes.read) ? <Alerts /> : <><h2>Alerts</h2><Denied scope={alertScopes.read} /></>;
}

const every = 3_000;

function Alerts() {
  const load = useLoad(async (signal) => {
    const [rules, channels] = await Promise.all([listRules(signal), listChannels(signal)]);
    return { rules, channels };
  });
  const sent = usePoll(listDeliveries, every, load.data);
  // What the address opens: an id, or "new".
  const [rule, channel] = [query.value.get('rule') ?? '', query.value.get('channel') ?? ''];
  const close = () => change({ rule: '', channel: '' });
  const done = () => { close(); load.reload(); };
  if (!load.data) return <><h2>Alerts</h2>{load.error ? <Failure error={load.error} retry={load.reload} /> : <Loading />}</>;
  const { rules, channels } = load.data;
  return (
    <>
      <header class="tab-head">
        <div>
          <h2>Alerts</h2>
          <p class="dim">A rule says which errors somebody is told of, and a channel where the message goes. Each rule sends at most one message a minute.</p>
        </div>
      </header>
      <MadeChannel />
      <Rules rules={rules} channels={channels} reload={load.reload} />
      <Channels rules={rules} channels={channels} reload={load.reload} />
      <Deliveries list={sent.data} error={sent.error} />
      {rule ? <RuleDialog key={rule} id={rule} rules={rules} channels={channels} onClose={close} onDone={done} /> : null}
      {channel ? <ChannelDialog key={channel} id={channel} channels={channels} onClose={close} onDone={done} /> : null}
    </>
  );
}
