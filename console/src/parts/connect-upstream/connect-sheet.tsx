/** The sheet that connects an upstream. */
import type { AddedDeployment } from './fallbacks.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

const ConnectUpstream = lazyPart(async () => (await import('./connect-upstream.tsx')).ConnectUpstream)

interface ConnectSheetProps {
  readonly open: boolean
  readonly onClose: () => void
  /** Adds deployments of models that are served already to the pending changes. */
  readonly onFallbacks: (added: readonly AddedDeployment[]) => Promise<void>
}

export function ConnectSheet({ open, onClose, onFallbacks }: ConnectSheetProps) {
  return (
    <Sheet open={open} onClose={onClose} title={words.upstreams.connect} stays>
      <ConnectUpstream
        addsFallbacks
        onAdded={async (added, fallbacks) => {
          if (fallbacks.length > 0) await onFallbacks(fallbacks)
          else onClose()
          if (added.length > 0) toast(words.upstreams.added(added.length))
        }}
      />
    </Sheet>
  )
}
