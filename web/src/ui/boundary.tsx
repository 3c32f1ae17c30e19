import { Component, type ComponentChildren } from 'preact';
import { Button } from './button';
import { Note } from './state';

interface Props {
  /** Names the part in the message. */
  what: string;
  children: ComponentChildren;
}

/** Keeps an error in drawing a part from breaking the page. Give it a key, so that other content is another try. */
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
