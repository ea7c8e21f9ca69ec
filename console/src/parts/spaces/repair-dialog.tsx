/** What a repair does and what it cannot do, before anyone starts it. */
import { Download } from 'lucide-react'
import type { SuspectWindow } from '../../api/queries/spaces.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../deployments/short-names.ts'
import { useDownload } from './suspect-list.ts'

interface RepairDialogProps {
  readonly window: SuspectWindow
  readonly onClose: () => void
}

export function RepairDialog({ window, onClose }: RepairDialogProps) {
  const { send } = useWrite('post', '/api/v1/spaces/suspects/{id}/repair', { touches: ['/api/v1/batches'] })
  const { download, busy } = useDownload()
  const { vectors, repairable_vectors: repairable, repaired_vectors: repaired } = window
  const { dialog: say, download: downloadList } = words.suspects
  const deployment = upstreamOf(window.deployment, window.model)
  const [again, missing] = [repairable - repaired, vectors - repairable]
  return (
    <ConfirmDialog
      title={again === 0 ? say.handledTitle(deployment) : say.title(again, deployment)}
      description={again === 0 ? say.handledText : say.text}
      facts={[
        ...(again === 0
          ? []
          : ([
              [say.lines, say.linesText(again)],
              [say.cost, say.costText],
            ] as const)),
        [say.missing, missing === 0 ? say.missingNone : say.missingText(missing)],
      ]}
      go={again === 0 ? say.handled : say.go}
      onGo={async () => {
        const { data } = await send({ params: { path: { id: window.id } } })
        toast(data.length === 0 ? say.handledDone : say.done(data.length))
      }}
      onClose={onClose}
    >
      <div>
        <Button icon={<Download size={14} aria-hidden />} busy={busy} onClick={() => download(window)}>
          {downloadList}
        </Button>
      </div>
    </ConfirmDialog>
  )
}
