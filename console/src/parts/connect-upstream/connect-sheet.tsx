/** The sheet that connects an upstream, from any page. */
import { lazyPart } from '../../app/lazy-part.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

const ConnectUpstream = lazyPart(async () => (await import('./connect-upstream.tsx')).ConnectUpstream)

export function ConnectSheet({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Sheet open={open} onClose={onClose} title={words.upstreams.connect} stays>
      <ConnectUpstream
        onAdded={(added) => {
          onClose()
          toast(words.upstreams.added(added.length))
        }}
      />
    </Sheet>
  )
}
