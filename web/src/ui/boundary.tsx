import { Component, type ComponentChildren } from 'preact';
import { Button } from './button';
import { Note } from './state';

interface Props {
  /** What could not be shown, for the words. */
  what: string;
  children: ComponentChildren;
}

/** Keeps a part that fails to draw from taking the page with it. Give it a key, so that another content is another try. */
export class Boundary extends Component<Props, { failed: Error | null }> {
  override state = { failed: null as Error | null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failed: error instanceof Error ? error : new Error(String(error)) });
  }

  override render({ what, children }: Props) {
    const { failed } = this.state;
    if (!failed) return children;
    return (
      <div class="page">
        <Note tone="bad">{what} cannot be shown: {failed.message}. That is a fault of this page; the API has the data.</Note>
        <div class="row"><Button onClick={() => this.setState({ failed: null })}>Try again</Button></div>
      </div>
    );
  }
}
