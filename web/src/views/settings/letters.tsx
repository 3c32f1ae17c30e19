// Dead letters: messages that applications published to NATS and that were
// refused.
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api/client';
import { lettersPath, type Letter, type LetterMeta } from '../../api/settings';
import { plural } from '../../lib/text';
import { change, query } from '../../router';
import { can } from '../../session';
import { Button } from '../../ui/button';
import { confirm } from '../../ui/dialog';
import { useLoad } from '../../ui/load';
import { Denied, Empty, Failure, Loading, Note } from '../../ui/state';
import { Safe, Time } from '../../ui/text';
import { toast } from '../../ui/toast';
import { Long } from '../../ui/tree';

const scope = 'Ops/Replay';

export function LettersTab() {
  return can(scope) ? <Letters /> : <><h2>Dead letters</h2><Denied scope={scope} /></>;
}

type Deed = 'replay' | 'drop';

function Letters() {
  const after = query.value.get('cursor') ?? '';
  const load = useLoad((signal) => call<Letter[], LetterMeta>('GET', lettersPath, { signal, query: { cursor: after, limit: 25 } }), after);
  const [left, setLeft] = useState<{ id: number; reason: string }[]>([]);
  const [busy, setBusy] = useState(false);
  const list = load.data?.data ?? [];
  const meta = load.data?.meta;
  const act = async (deed: Deed, ids: number[] | 'all', count: number) => {
    if (deed === 'drop') {
      const sure = await confirm({ title: 'Drop messages?', text: <p>This deletes {plural(count, 'message')}. It cannot be undone.</p>, yes: `Drop ${plural(count, 'message')}`, danger: true });
      if (!sure) return;
    }
    setBusy(true);
    try {
      const { data } = await call<{ replayed?: number; dropped?: number; left: { id: number; reason: string }[] }>('POST', `${lettersPath}/${deed}`, { body: ids === 'all' ? { all: true } : { ids } });
      setLeft(data.left);
      toast.good(deed === 'replay' ? `${plural(data.replayed ?? 0, 'message')} published again.` : `${plural(data.dropped ?? 0, 'message')} dropped.`);
      change({ cursor: '' }, 'replace');
      load.reload();
    } catch (error) {
      toast.failed(error);
    }
    setBusy(false);
  };
  const absent = load.error instanceof ApiError && load.error.status === 404;
  return (
    <>
      <header class="tab-head">
        <div>
          <h2>Dead letters</h2>
          <p class="dim">Messages that applications published to NATS and that the service refused. Their secrets are removed. Publish them again when the cause is fixed.</p>
        </div>
        {meta && meta.total > 0 ? (
          <div class="row">
            <Button busy={busy} onClick={() => void act('replay', 'all', meta.total)}>Publish all again</Button>
            <Button kind="danger" busy={busy} onClick={() => void act('drop', 'all', meta.total)}>Drop all…</Button>
          </div>
        ) : null}
      </header>
      {left.length > 0 ? <Note tone="warn">{plural(left.length, 'message')} could not be processed: <Safe text={left.slice(0, 5).map((l) => `${l.id}: ${l.reason}`).join('; ')} /></Note> : null}
      {absent ? <Empty title="No events over NATS"><p>This service takes no events over NATS, so there are no dead letters.</p></Empty>
        : load.error ? <Failure error={load.error} retry={load.reload} />
        : !load.data ? <Loading />
        : list.length === 0 ? <Empty title="No message was refused" />
        : (
          <ol class="audit letters">
            {list.map((l) => (
              <li key={l.id}>
                <details>
                  <summary>
                    <span class="audit-n num dim">{l.id}</span>
                    <code class="mono audit-action">{l.reason}</code>
                    <span class="audit-what"><Safe text={l.message} /></span>
                    <code class="mono audit-who"><Safe text={l.subject} /></code>
                    <Time iso={l.at} />
                  </summary>
                  <div class="audit-body">
                    <pre><Long text={l.body} /></pre>
                    {l.cut ? <p class="dim">Only a part of this message was kept, so it cannot be published again.</p> : null}
                    <div class="row">
                      <Button busy={busy} disabled={l.cut} onClick={() => void act('replay', [l.id], 1)}>Publish again</Button>
                      <Button kind="danger" busy={busy} onClick={() => void act('drop', [l.id], 1)}>Drop…</Button>
                    </div>
                  </div>
                </details>
              </li>
            ))}
          </ol>
        )}
      {after || (meta && meta.next_cursor > 0) ? (
        <nav class="pager" aria-label="Pages">
          <Button kind="quiet" disabled={!after} onClick={() => change({ cursor: '' })}>‹ Oldest</Button>
          <Button kind="quiet" disabled={!meta?.next_cursor} onClick={() => change({ cursor: meta?.next_cursor })}>Newer ›</Button>
        </nav>
      ) : null}
    </>
  );
}
