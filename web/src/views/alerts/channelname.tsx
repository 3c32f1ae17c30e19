import type { Channel } from '../../api/alerts';
import { kindWords } from '../../lib/alerts';
import { Safe } from '../../ui/text';

/** A channel with its kind, unless its name says that. */
export function ChannelName({ of }: { of: Channel }) {
  return <><Safe text={of.name} />{of.name === kindWords[of.kind] ? null : <> <span class="dim">{kindWords[of.kind]}</span></>}</>;
}
