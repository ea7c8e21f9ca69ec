/** Sends a request again, or says why it can't be sent. */
import { Repeat2 } from 'lucide-react'
import { useState } from 'react'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

const ReplaySheet = lazyPart(async () => (await import('./replay-sheet.tsx')).ReplaySheet)

/** Why it can't be sent again. Undefined: it can. */
function useReplayProblem({ replay, project }: RequestDetail): string | undefined {
  const may = useMay()
  const say = words.replay
  if (!may('playground.run', project ?? undefined)) return say.notAllowed
  return replay.reason === null ? undefined : say.reasons[replay.reason](project ?? 'Torana')
}

/** The same beside the page, since a grey button says nothing to those who do not point at it. */
export function ReplaySection({
  request,
  className,
}: {
  readonly request: RequestDetail
  readonly className: string
}) {
  const why = useReplayProblem(request)
  const say = words.replay
  if (why === undefined) return null
  return (
    <Section title={say.action} className={className}>
      <p className="pt-1 text-12 leading-[18px] text-ink-2">
        {request.replay.reason === 'capture_off' && why !== say.notAllowed ? (
          <>
            {say.needs} <TextLink to={paths.settings('projects')}>{say.turnOn}</TextLink>
          </>
        ) : (
          why
        )}
      </p>
    </Section>
  )
}

export function ReplayButton({ request }: { readonly request: RequestDetail }) {
  const [isOpen, setOpen] = useState(false)
  const why = useReplayProblem(request)
  const say = words.replay
  return (
    <>
      <Button icon={<Repeat2 size={14} aria-hidden />} why={why} onClick={() => setOpen(true)}>
        {say.action}
      </Button>
      {isOpen && <ReplaySheet request={request} onClose={() => setOpen(false)} />}
    </>
  )
}
