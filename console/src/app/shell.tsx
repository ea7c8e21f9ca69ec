/** The frame around all pages: navigation at the left, or at the bottom of a phone; the page; what floats above it. */
import { useIsFetching, useIsMutating, useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import { isSignedOut } from '../api/faults.ts'
import { words } from '../words/words.ts'
import { BlockedWrites } from '../ui/blocked-writes.ts'
import { Problem } from '../ui/problem.tsx'
import { Banners, SignedOutDialog } from './banners.tsx'
import { FirstFrame } from './first-frame.tsx'
import { useGlobalKeys } from './keys.ts'
import { setNodeTime } from '../time/now.ts'
import { useOutages } from './outages.ts'
import { paths } from './paths.ts'
import { PhoneBar } from './phone-bar.tsx'
import { ForeignScope, useForeignScope, useKeptScope } from './scope.tsx'
import { useSessionState } from './session.ts'
import { Sidebar } from './sidebar.tsx'

const loadPalette = () => import('./palette.tsx')
const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }))

export function Shell() {
  const { data: session, error, refetch } = useSessionState()
  const navigate = useNavigate()
  const router = useRouter()
  const isOut = session === undefined && isSignedOut(error)
  const leave = useEffectEvent(() => {
    const { href } = router.state.location
    void navigate({ ...paths.signIn({ return: href }), replace: true })
  })
  useEffect(() => {
    if (isOut) leave()
  }, [isOut])
  useEffect(() => {
    if (session !== undefined) setNodeTime(session.install.now)
  }, [session])
  if (session !== undefined)
    return (
      <Frame>
        <ScopedPage />
      </Frame>
    )
  if (error !== null && !isOut) return <Problem error={error} retry={() => void refetch()} />
  return <FirstFrame />
}

/** The page, unless its address names a project that this person may not see. */
function ScopedPage() {
  const foreign = useForeignScope()
  useKeptScope()
  return foreign === undefined ? <Outlet /> : <ForeignScope key={foreign} project={foreign} />
}

/** How long the palette waits to be loaded: the page comes first. Safari has no `requestIdleCallback`. */
const PALETTE_AFTER_MS = 200

/** Also around the first steps, which begin before anybody is signed in. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const [palette, setPalette] = useState<'never' | 'open' | 'closed'>('never')
  const [isListOpen, setListOpen] = useState(false)
  const openPalette = (): void => setPalette('open')
  const openList = (): void => setListOpen(true)
  useGlobalKeys({ openPalette, openList })
  const { storeAwaySinceMs } = useOutages()
  // Preload the palette, so that letters typed right after `⌘K` are not lost.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette(), PALETTE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const blocked = storeAwaySinceMs === undefined ? undefined : words.shell.storeAwayWrites
  return (
    <BlockedWrites value={blocked}>
      <div className="flex h-full phone:flex-col">
        <a
          href="#page"
          className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:rounded-control focus:bg-raised focus:px-3 focus:py-1.5"
        >
          {words.shell.skip}
        </a>
        <Sidebar openPalette={openPalette} openList={openList} />
        <main id="page" tabIndex={-1} className="relative flex min-h-0 min-w-0 flex-1 flex-col outline-none">
          <FetchingLine />
          <Banners />
          <div className="min-h-0 flex-1">{children}</div>
        </main>
        <PhoneBar openPalette={openPalette} />
        {palette !== 'never' && (
          <Suspense>
            <Palette open={palette === 'open'} onClose={() => setPalette('closed')} openList={openList} />
          </Suspense>
        )}
        <Suspense>{isListOpen && <KeyList open onClose={() => setListOpen(false)} />}</Suspense>
        <SignedOutDialog />
      </div>
    </BlockedWrites>
  )
}

/** Long enough that quick answers show nothing. */
const LINE_AFTER_MS = 400

/** A write is in progress, or data that is on the page is fetched again: a line moves under the title bar, and nothing else. */
function FetchingLine() {
  const client = useQueryClient()
  const fetching = useIsFetching({ predicate: ({ state }) => state.data !== undefined }, client)
  const isFetching = useIsMutating({}, client) + fetching > 0
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (!isFetching) return
    const timer = setTimeout(() => setShown(true), LINE_AFTER_MS)
    return () => {
      clearTimeout(timer)
      setShown(false)
    }
  }, [isFetching])
  if (!isShown) return null
  return (
    <div aria-hidden className="pointer-events-none absolute inset-x-0 top-[47px] h-0.5 overflow-hidden">
      <div className="sliding h-full w-1/4 bg-accent" />
    </div>
  )
}
