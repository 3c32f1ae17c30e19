import { phase } from './session';
import { view } from './router';
import { Boundary } from './ui/boundary';
import { Confirms } from './ui/dialog';
import { Loading } from './ui/state';
import { Toasts } from './ui/toast';
import { ErrorsView } from './views/errors/errors';
import { OverviewView } from './views/overview/overview';
import { ProjectsView } from './views/projects/projects';
import { SettingsView } from './views/settings/settings';
import { Shell } from './views/shell';
import { SignIn } from './views/signin';

export function App() {
  return (
    <>
      <Page />
      <Confirms />
      <Toasts />
    </>
  );
}

function Page() {
  switch (phase.value) {
    case 'checking':
      return <Loading what="Signing in" />;
    case 'out':
      return <SignIn />;
    case 'in':
      return <Shell><Boundary key={view.value} what="This view"><Current /></Boundary></Shell>;
  }
}

function Current() {
  switch (view.value) {
    case 'overview':
      return <OverviewView />;
    case 'projects':
      return <ProjectsView />;
    case 'settings':
      return <SettingsView />;
    default:
      return <ErrorsView />;
  }
}
