// A link of an alert asks whether to mute its record.
import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Row } from '../../api/types';
import { change, query } from '../../router';
import { lacking } from '../../session';
import { confirm } from '../../ui/dialog';
import { toast } from '../../ui/toast';
import { scopes } from './actions';

/** Asks once, when the address says so. */
export function useAsked(record: Row, mute: () => Promise<void>): void {
  const asks = query.value.get('ask') === 'mute';
  useEffect(() => {
    if (!asks) return;
    change({ ask: '' }, 'replace');
    if (record.status === 'muted') return toast.good('This problem is muted already.');
    const scope = lacking(scopes.status);
    if (scope) return toast.bad(`${scope} Ask the person who manages the keys for a key with this scope.`);
    const text = h('p', null, 'Its events are still counted, but no rule tells anybody of them until it is reopened.');
    void confirm({ title: 'Mute this problem?', text, yes: 'Mute' }).then((sure) => (sure ? mute() : undefined));
  }, [asks]);
}
