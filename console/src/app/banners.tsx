/** What concerns every page: plain http, a store that is away, a session that ended. */
import { useQueryClient } from '@tanstack/react-query'
import { LockOpen, TriangleAlert } from 'lucide-react'
import { words } from '../words/words.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Link } from '../ui/link.tsx'
import { clock } from './format.ts'
import { paths } from './paths.ts'
import { sessionQuery, useSession } from './session.ts'
import { setSignedOut, useOutages } from './outages.ts'

export function Banners() {
  const { insecure } = useSession()
  const { storeAwaySinceMs } = useOutages()
  return (
    <>
      {insecure && <Line icon={<LockOpen size={14} aria-hidden />}>{words.shell.insecure}</Line>}
      {storeAwaySinceMs !== undefined && (
        <Line icon={<TriangleAlert size={14} aria-hidden />}>
          {words.shell.storeUnreachable(clock(storeAwaySinceMs))}
        </Line>
      )}
    </>
  )
}

function Line({ icon, children }: { readonly icon: React.ReactNode; readonly children: React.ReactNode }) {
  return (
    <p
      role="status"
      className="flex min-h-8 shrink-0 items-center gap-2 border-b border-line bg-warn-tint px-6 py-1 text-12 text-warn phone:px-4"
    >
      {icon}
      {children}
    </p>
  )
}

/** Over the page, so that nothing typed is lost. */
export function SignedOutDialog() {
  const { isSignedOut } = useOutages()
  const client = useQueryClient()
  const again = async (): Promise<void> => {
    await client.refetchQueries({ queryKey: sessionQuery.queryKey })
    if (client.getQueryState(sessionQuery.queryKey)?.status !== 'success') return
    setSignedOut(false)
    await client.invalidateQueries()
  }
  return (
    <Dialog
      open={isSignedOut}
      stays
      onClose={() => setSignedOut(false)}
      title={words.shell.signInAgain}
      description={words.shell.signInAgainText}
      actions={
        <>
          <Link
            to={paths.signIn()}
            target="_blank"
            rel="noreferrer"
            className="inline-flex h-8 items-center rounded-control border border-line px-3 font-medium hover:bg-hover"
          >
            {words.shell.signInAgain}
          </Link>
          <Button look="primary" size="large" onClick={() => void again()}>
            {words.shell.signedIn}
          </Button>
        </>
      }
    />
  )
}
