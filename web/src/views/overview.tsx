import { Loading } from '../ui/state';

export function OverviewView() {
  return (
    <div class="page">
      <h1>Overview</h1>
      <Loading />
    </div>
  );
}
