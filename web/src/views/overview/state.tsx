import { getStatus } from '../../api/settings';
import { tiles, type Tile } from '../../lib/tiles';
import { plural } from '../../lib/text';
import { usePoll } from '../../ui/poll';
import { Failure, Note } from '../../ui/state';
import { Safe } from '../../ui/text';
import { wordsOf } from '../../ui/toast';

const every = 4_000;

/** The state of the service: first what is wrong, then the figures, then every check. */
export function State() {
  const { data, error } = usePoll(getStatus, every);
  if (!data) return error ? <Failure error={error} /> : <div class="tiles waiting" />;
  const wrong = data.checks.filter((c) => !c.ok || c.hint);
  return (
    <section aria-label="The service" class="service">
      {error ? <Note tone="bad">The figures below are old. {wordsOf(error)}</Note> : null}
      {wrong.map((c) => (
        <Note key={c.name} tone={c.ok ? 'warn' : 'bad'}>
          <p><b>{c.name}</b>: <Safe text={c.detail} /></p>
          {c.hint ? <p><Safe text={c.hint.charAt(0).toUpperCase() + c.hint.slice(1)} /></p> : null}
        </Note>
      ))}
      <ul class="tiles">
        {tiles(data, data.samples).map((t) => <TileBox key={t.name} of={t} />)}
      </ul>
      <details class="checks-all">
        <summary>{data.ok ? `All ${plural(data.checks.length, 'check')} pass` : `${data.checks.filter((c) => !c.ok).length} of ${plural(data.checks.length, 'check')} do not pass`}</summary>
        <dl class="facts">
          {data.checks.map((c) => (
            <div key={c.name}>
              <dt><span class={`mark-${c.ok ? 'ok' : 'bad'}`}>{c.ok ? '✓' : '✗'}</span><span class="offscreen">{c.ok ? 'passes: ' : 'does not pass: '}</span> {c.name}</dt>
              <dd><Safe text={c.detail} /></dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

function TileBox({ of }: { of: Tile }) {
  return (
    <li class={`tile tone-${of.tone}`}>
      <span class="tile-label">{of.label}</span>
      <span class="tile-value num">{of.value}</span>
      {of.part === undefined ? null : <progress max={1} value={of.part} aria-label={`${Math.round(of.part * 100)} % used`} />}
      <span class="tile-words">{of.words}</span>
    </li>
  );
}
