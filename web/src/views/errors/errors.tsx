import { Loading } from '../../ui/state';

export function ErrorsView() {
  return (
    <div class="page">
      <h1 class="offscreen">Errors</h1>
      <Loading />
    </div>
  );
}
