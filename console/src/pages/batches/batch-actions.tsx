/** What a person can do with a batch: download it, pause it, cancel it. */
import { Ban, Download, Pause } from 'lucide-react'
import { batchFileUrl, RESULT_FORMATS, type BatchDetail } from '../../api/queries/batches.ts'
import { share } from '../../app/format.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import { isOpen } from './progress.ts'
import { useVectorDownload } from './vector-file.ts'

interface BatchActionsProps {
  readonly batch: BatchDetail
  readonly onPause: () => void
  readonly onCancel: () => void
}

export function BatchActions({ batch, onPause, onCancel }: BatchActionsProps) {
  const may = useMay()
  const say = words.batches
  const isStopping = batch.state === 'cancelling'
  const whyNotPause = may('batches.pause', batch.project) ? undefined : say.pause.forbidden
  const whyNotCancel = may('batches.cancel', batch.project)
    ? isStopping
      ? say.cancel.stopping
      : undefined
    : say.cancel.forbidden
  return (
    <>
      <DownloadMenu batch={batch} />
      {batch.state === 'in_progress' && batch.pause?.by == null && (
        <Button
          icon={<Pause size={14} aria-hidden />}
          aria-label={say.pause.action}
          why={whyNotPause}
          writes
          onClick={onPause}
        >
          <span className="phone:hidden">{say.pause.action}</span>
        </Button>
      )}
      {isOpen(batch) && (
        <Button
          look="danger"
          icon={<Ban size={14} aria-hidden />}
          aria-label={say.cancel.action}
          why={whyNotCancel}
          onClick={onCancel}
        >
          <span className="phone:hidden">{say.cancel.action}</span>
        </Button>
      )}
    </>
  )
}

/** The format that was chosen with the batch comes first. */
function DownloadMenu({ batch }: { readonly batch: BatchDetail }) {
  const { output } = batch.metadata
  const vectors = useVectorDownload(batch)
  const say = words.batches
  const icon = <Download size={14} aria-hidden />
  const button = (why?: string, text = say.download) => (
    <Button icon={icon} aria-label={text} why={why}>
      <span className="phone:hidden">{text}</span>
    </Button>
  )
  const hasVectors = batch.endpoint === '/v1/embeddings'
  if (batch.output.bytes === 0) return button(say.noOutput)
  if (vectors.share !== undefined) return button(say.writingWhy, say.writing(share(vectors.share)))
  const formats = RESULT_FORMATS.toSorted((a, b) => Number(b === output) - Number(a === output))
  return (
    <Menu align="end" trigger={button()}>
      {hasVectors &&
        formats.map((format) => (
          <MenuItem key={format} onSelect={() => vectors.start(format)} note={say.endings[format]}>
            {say.vectorsAs[format]}
          </MenuItem>
        ))}
      {hasVectors && <MenuLine />}
      <MenuItem onSelect={load(batchFileUrl(batch.id, 'output'))} note=".jsonl">
        {say.responses}
      </MenuItem>
    </Menu>
  )
}

const load = (href: string) => (): void => {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  link.click()
}
