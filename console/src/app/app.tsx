/** Providers: what every part of the console has at hand. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { isForeignProject, isSignedOut } from '../api/faults.ts'
import type { Sent } from '../api/write.ts'
import { failureText, mayPass } from '../ui/failure.ts'
import { toast, Toasts } from '../ui/toast.tsx'
import { noteError, noteSuccess } from './outages.ts'
import { router } from './routes.tsx'
import { sessionQuery } from './session.ts'

/** Age from which a report is asked for again when a person comes back to it. */
const STALE_MS = 60_000
const RETRIES = 2

const queries = new QueryClient({
  queryCache: new QueryCache({
    // Without a session at the start, the console leads to the sign-in page instead of asking to sign in again.
    onError: (error, query) => {
      if (query.queryKey[1] === sessionQuery.queryKey[1]) return
      noteError(error)
      // Who may see which project changed since the session was read.
      if (isForeignProject(error)) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
    },
    onSuccess: noteSuccess,
  }),
  mutationCache: new MutationCache({
    onError: (error, sent) => {
      noteError(error)
      // A 401 has its dialog.
      if ((sent as Sent).failureShownBy === 'toast' && !isSignedOut(error))
        toast(failureText(error), { mark: 'bad' })
    },
    onSuccess: noteSuccess,
  }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (times, error) => times < RETRIES && mayPass(error),
      refetchOnWindowFocus: true,
    },
  },
})

export function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Tooltip.Provider delay={400}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  )
}
