// What happened recently, and the state of the service.
import { getOverview } from '../../api/settings';
import type { SparkRange } from '../../api/types';
import { change, query } from '../../router';
import { can } from '../../session';
import { chosen } from '../../projects';
import { usePoll } from '../../ui/poll';
import { Denied, Failure, Loading } from '../../ui/state';
import { ProjectMarks } from '../marks';
import { ByProject } from './byproject';
import { OverTime } from './overtime';
import { State } from './state';
import { Growing, Noisy } from './tops';

const ranges: readonly SparkRange[] = ['24h', '14d'];

// The chart has hours or days, so a refresh every half minute is enough.
const every = 30_000;

export function OverviewView() {
  const range = ranges.find((r) => r === query.value.get('range')) ?? '24h';
  return (
    <div class="page overview">
      <header class="overview-head">
        <div class="row"><h1>Overview</h1><ProjectMarks /></div>
        <fieldset class="segments">
          <legend>Range</legend>
          {ranges.map((r) => (
            <label key={r}>
              <input type="radio" name="range" value={r} checked={r === range} onChange={() => change({ range: r === '24h' ? '' : r })} />
              <span>{r === '24h' ? '24 hours' : '14 days'}</span>
            </label>
          ))}
        </fieldset>
      </header>
      {can('Ops/Read') ? <State /> : <Denied scope="Ops/Read" what="Your key may not see the state of the service" />}
      {can('Tools/GetErrorLogs') ? <Errors key={`${range} ${chosen.value}`} range={range} project={chosen.value} /> : <Denied scope="Tools/GetErrorLogs" what="Your key may not see errors" />}
    </div>
  );
}

function Errors({ range, project }: { range: SparkRange; project: string }) {
  const { data, error } = usePoll((signal) => getOverview(range, project, signal), every);
  if (!data) return error ? <Failure error={error} /> : <Loading />;
  return (
    <>
      <OverTime of={data} stale={error} />
      <div class="tops">
        <ByProject of={data} />
        <Growing of={data} />
        <Noisy of={data} />
      </div>
    </>
  );
}
