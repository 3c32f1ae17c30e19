// The list of rules.
import { alertScopes, deleteRule, writeRule, type Channel, type Rule } from '../../api/alerts';
import { newOnce } from '../../api/client';
import { limitWords, whenWords } from '../../lib/alerts';
import { nameOfProject } from '../../projects';
import { change } from '../../router';
import { lacking } from '../../session';
import { Button, PageLink } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { Check } from '../../ui/field';
import { Empty, Panel } from '../../ui/state';
import { Table, type Column } from '../../ui/table';
import { Safe } from '../../ui/text';
import { toast } from '../../ui/toast';

interface RulesProps {
  rules: readonly Rule[];
  channels: readonly Channel[];
  reload: () => void;
}

export function Rules({ rules, channels, reload }: RulesProps) {
  const may = lacking(alertScopes.manage);
  const none = channels.length === 0;
  return (
    <Panel
      title="Rules" class="flush"
      aside={<Button kind={none ? 'plain' : 'main'} disabled={!!may || none} title={may || (none ? 'Make a channel first: a rule says where its messages go.' : undefined)} onClick={() => change({ rule: 'new' })}>New rule…</Button>}
    >
      <Table
        label="Rules" columns={columns(channels, may, reload)} rows={rules} id={(r) => r.id}
        empty={<Empty title="There is no rule"><p>{none ? 'Nobody is told of errors yet. Make a channel first.' : 'Nobody is told of errors yet.'}</p></Empty>}
      />
    </Panel>
  );
}

function columns(channels: readonly Channel[], may: string, reload: () => void): Column<Rule>[] {
  const turn = async (rule: Rule, enabled: boolean) => {
    try {
      await writeRule(rule.id, { enabled }, newOnce());
      toast.good(`“${rule.name}” is ${enabled ? 'on' : 'off'}.`);
    } catch (error) {
      toast.failed(error);
    }
    reload();
  };
  const remove = async (rule: Rule) => {
    const sure = await confirm({ title: `Remove the rule “${rule.name}”?`, text: <p>What it has fired before is still sent.</p>, yes: 'Remove', danger: true });
    if (!sure) return;
    try {
      await deleteRule(rule.id);
      toast.good(`“${rule.name}” is removed.`);
    } catch (error) {
      toast.failed(error);
    }
    reload();
  };
  return [
    { name: 'name', head: 'Name', cell: (r) => <PageLink to={{ view: 'settings', tab: 'alerts', rule: r.id }}><Safe text={r.name} /></PageLink> },
    { name: 'when', head: 'Fires for', cell: (r) => <>{whenWords(r.when)}<Limits of={r} /></> },
    { name: 'to', head: 'Tells', cell: (r) => <Safe text={r.to.map((id) => channels.find((c) => c.id === id)?.name ?? 'a removed channel').join(', ')} /> },
    { name: 'on', head: 'On', cell: (r) => <Check label={<span class="offscreen">{`Rule ${r.name}`}</span>} checked={r.enabled} disabled={!!may} onChange={(on) => void turn(r, on)} /> },
    {
      name: 'do', head: <span class="offscreen">Actions</span>, right: true, cell: (r) => (
        <Button kind="quiet" class="bad" disabled={!!may} title={may || undefined} aria-label={`Remove ${r.name}`} onClick={() => void remove(r)}>Remove…</Button>
      ),
    },
  ];
}

function Limits({ of }: { of: Rule }) {
  const words = limitWords(of, nameOfProject);
  return words ? <span class="dim"> · only <Safe text={words} /></span> : null;
}
