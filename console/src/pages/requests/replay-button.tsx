/** Sends a request again, or says why it can't be sent. */
import { Repeat2 } from 'lucide-react'
import { useState } from 'react'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { words } from '../../words/words.ts'

const ReplaySheet = lazyPart(async () => (await import('./replay-sheet.tsx')).ReplaySheet)

export function ReplayButton({ request }: { readonly request: RequestDetail }) {
  const [isOpen, setOpen] = useState(false)
  const may = useMay()
  const say = words.replay
  const { replay, project } = request
  const why = !may('playground.run', project ?? undefined)
    ? say.notAllowed
    : replay.reason === null
      ? undefined
      : say.reasons[replay.reason](project ?? 'Torana')
  return (
    <>
      <Button icon={<Repeat2 size={14} aria-hidden />} why={why} onClick={() => setOpen(true)}>
        {say.action}
      </Button>
      {isOpen && <ReplaySheet request={request} onClose={() => setOpen(false)} />}
    </>
  )
}
