import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/components.css';
import './style/views.css';
import './style/errors.css';
import './style/settings.css';
import './style/overview.css';
import './style/projects.css';
import { App } from './app';
import { begin } from './session';
import { followTheme } from './theme';

followTheme();
void begin();
render(<App />, document.getElementById('app')!);
