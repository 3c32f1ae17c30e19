// What was sent, and what waits.
import type { Delivery } from '../../api/alerts';
import { plural } from '../../lib/text';
import { Badge, type Tone } from '../../ui/badge';
import { Empty, Failure, Loading, Panel } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Safe, Time } from '../../ui/text';
import { Outcome } from './channels';

const tones: Record<Delivery['state'], Tone> = { waiting: 'warn', sent: 'good', failed: 'bad' };

export function Deliveries({ list, error }: { list: readonly Delivery[] | undefined; error: unknown }) {
  return (
    <Panel title="Messages" class="flush" aside={<span class="dim">the newest 50 of the last 7 days</span>}>
      {!list ? (error ? <Failure error={error} /> : <Loading />)
        : <Table label="Sent messages" columns={columns} rows={list} id={(d) => `${d.id} ${d.channel}`} empty={<Empty title="No message was sent yet" />} />}
    </Panel>
  );
}

const columns: Column<Delivery>[] = [
  { name: 'state', head: 'State', cell: (d) => <Badge tone={tones[d.state]}>{d.state}</Badge> },
  { name: 'made', head: 'Made', cell: (d) => <Time iso={d.made} /> },
  { name: 'subject', head: 'About', cell: (d) => <><Safe text={d.subject} />{d.fired > 1 ? <span class="dim"> and {plural(d.fired - 1, 'more', 'more')}</span> : null}<Tries of={d} /></> },
  { name: 'rule', head: 'Rule', cell: (d) => (d.rule_name ? <Safe text={d.rule_name} /> : <span class="dim">removed</span>) },
  { name: 'to', head: 'Channel', cell: (d) => (d.channel_name ? <Safe text={d.channel_name} /> : <span class="dim">removed</span>) },
];

/** The last try of a message that was not taken at once. */
function Tries({ of }: { of: Delivery }) {
  const last = of.last.at(-1);
  if (!last || (of.state === 'sent' && of.tries === 1)) return null;
  return (
    <>
      <Outcome of={last} />
      <div class="dim small">{plural(of.tries, 'try', 'tries')}{of.next ? <>, the next <Time iso={of.next} sentence /></> : null}</div>
    </>
  );
}
